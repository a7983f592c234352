//! Lists as sets.

use super::Function;
use crate::error::Evaluated;
use crate::{Budget, EvaluationError, List, Value};

pub(super) fn call<'a>(
    function: Function,
    arguments: &[Value<'a>],
    budget: &Budget,
) -> Evaluated<Value<'a>> {
    let [Value::List(one), Value::List(other)] = arguments else {
        let types: Vec<&str> = arguments.iter().map(Value::type_name).collect();
        return Err(EvaluationError::no_overload(function.name(), &types));
    };
    let result = match function {
        Function::SetsContains => contains(one, other, budget)?,
        Function::SetsEquivalent => contains(one, other, budget)? && contains(other, one, budget)?,
        _ => intersects(one, other, budget)?,
    };
    Ok(Value::Bool(result))
}

/// Returns whether an item is in the list.
pub(crate) fn has(items: &[Value<'_>], item: &Value<'_>, budget: &Budget) -> Evaluated<bool> {
    for known in items {
        budget.step()?;
        if known.is_same(item, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether every item of `parts` is in `list`.
fn contains(list: &List<'_>, parts: &List<'_>, budget: &Budget) -> Evaluated<bool> {
    let items = list.items();
    for part in parts.items() {
        if !has(&items, &part, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects(one: &List<'_>, other: &List<'_>, budget: &Budget) -> Evaluated<bool> {
    let items = one.items();
    for item in other.items() {
        if has(&items, &item, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}
