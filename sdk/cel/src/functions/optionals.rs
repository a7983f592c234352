//! Functions of optional values.

use super::{Called, Function};
use crate::error::Evaluated;
use crate::{Budget, EvaluationError, Value};

pub(super) fn call<'a>(function: Function, arguments: &[Value<'a>], budget: &Budget) -> Called<'a> {
    Some(match (function, arguments) {
        (Function::OptionalNone, []) => Ok(Value::Optional(None)),
        (Function::OptionalOf, [value]) => Ok(Value::optional(Some(value.clone()))),
        (Function::OptionalOfNonZero, [value]) => {
            let value = (!value.is_zero()).then(|| value.clone());
            Ok(Value::optional(value))
        }
        (Function::HasValue, [Value::Optional(value)]) => Ok(Value::Bool(value.is_some())),
        (Function::ValueOf, [Value::Optional(value)]) => match value {
            Some(value) => Ok(Value::clone(value)),
            None => Err(EvaluationError::NoValue),
        },
        (Function::First, [Value::List(list)]) => Ok(Value::optional(list.get(0))),
        (Function::Last, [Value::List(list)]) => {
            let last = crate::value::count(list.len()) - 1;
            Ok(Value::optional(list.get(last)))
        }
        (Function::Unwrap, [Value::List(list)]) => unwrap(&list.items(), budget),
        _ => return None,
    })
}

/// The values of the optionals that have one.
fn unwrap<'a>(items: &[Value<'a>], budget: &Budget) -> Evaluated<Value<'a>> {
    budget.steps(items.len())?;
    let mut values = Vec::new();
    for item in items {
        match item {
            Value::Optional(value) => values.extend(value.as_deref().cloned()),
            other => {
                return Err(EvaluationError::no_overload(
                    "unwrapOpt",
                    &[other.type_name()],
                ));
            }
        }
    }
    Ok(Value::from(values))
}
