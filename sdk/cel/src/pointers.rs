//! The parts of its variables that an expression reads.

use kindsight_contract::escaped;

use crate::expression::{Expression, Literal};

/// Adds the JSON pointers that an expression reads.
pub(crate) fn collect(expression: &Expression, pointers: &mut Vec<String>) {
    if let Some(pointer) = pointer_of(expression) {
        pointers.push(pointer);
        return;
    }
    match expression {
        Expression::Literal(_) | Expression::Variable(_) | Expression::Local(_) => {}
        Expression::Has { operand, field } => match pointer_of(operand) {
            // The operand may be `null` or a scalar, which has no field. A reduced object has such an
            // operand only if it is requested. The fields at the top are maps in every object.
            Some(pointer) if pointer.matches('/').count() > 1 => pointers.push(pointer),
            Some(pointer) => pointers.push(below(&pointer, field)),
            None => collect(operand, pointers),
        },
        Expression::Select { operand, .. }
        | Expression::Not(operand)
        | Expression::Negative(operand) => collect(operand, pointers),
        Expression::Index { operand, index, .. } => {
            collect(operand, pointers);
            collect(index, pointers);
        }
        Expression::Call {
            arguments: parts, ..
        }
        | Expression::All(parts)
        | Expression::Any(parts) => {
            for part in parts {
                collect(part, pointers);
            }
        }
        Expression::List(items) => {
            for item in items {
                collect(&item.value, pointers);
            }
        }
        Expression::Map(entries) => {
            for entry in entries {
                collect(&entry.key, pointers);
                collect(&entry.value, pointers);
            }
        }
        Expression::Conditional(parts) => {
            for part in parts.iter() {
                collect(part, pointers);
            }
        }
        Expression::Binary { operands, .. } => {
            for operand in operands.iter() {
                collect(operand, pointers);
            }
        }
        Expression::Comprehension {
            range,
            filter,
            body,
            ..
        } => {
            collect(range, pointers);
            if let Some(filter) = filter {
                collect(filter, pointers);
            }
            collect(body, pointers);
        }
        Expression::OptionalMap { operand, body, .. } => {
            collect(operand, pointers);
            collect(body, pointers);
        }
    }
}

/// The pointer that an expression needs, if literal names lead from a variable to its value.
///
/// The pointer ends at the operand of the first optional step (`.?`, `[?]`), unless this operand is a
/// variable. The step has no value if its operand is `null` or a scalar, and a reduced object has such
/// an operand only if it is requested. Later optional steps need nothing more, because an optional
/// without a value has no members. The fields at the top are maps in every object.
fn pointer_of(expression: &Expression) -> Option<String> {
    let (variable, steps) = path_of(expression)?;
    let first_optional = steps.iter().position(|step| step.is_optional);
    let needed = first_optional.filter(|position| *position > 0);
    let needed = steps.iter().take(needed.unwrap_or(steps.len()));
    Some(needed.fold(below("", variable), |pointer, step| {
        below(&pointer, step.name)
    }))
}

/// A step from a value to its member.
struct Step<'e> {
    name: &'e str,
    is_optional: bool,
}

/// A variable, and the steps by literal names that lead from it to the value of an expression.
fn path_of(expression: &Expression) -> Option<(&str, Vec<Step<'_>>)> {
    let (operand, name, is_optional) = match expression {
        Expression::Variable(name) => return Some((name.as_str(), Vec::new())),
        Expression::Select {
            operand,
            field,
            is_optional,
        } => (operand, field, *is_optional),
        Expression::Index {
            operand,
            index,
            is_optional,
        } => match &**index {
            Expression::Literal(Literal::String(key)) => (operand, key, *is_optional),
            _ => return None,
        },
        _ => return None,
    };
    let (variable, mut steps) = path_of(operand)?;
    steps.push(Step { name, is_optional });
    Some((variable, steps))
}

fn below(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", escaped(token))
}

/// Sorts pointers, and removes those below another pointer.
pub(crate) fn reduce(pointers: &mut Vec<String>) {
    pointers.sort();
    pointers.dedup();
    let all = pointers.clone();
    let is_below = |pointer: &str, other: &str| {
        let rest = pointer.strip_prefix(other);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    pointers.retain(|pointer| !all.iter().any(|other| is_below(pointer, other)));
}
