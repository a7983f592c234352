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
            // The operand may be a scalar, which has no field. A reduced object has such an operand
            // only if it is requested. The fields at the top are maps in every object.
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

/// The pointer of a variable, or of a field that is reached from one by literal names.
fn pointer_of(expression: &Expression) -> Option<String> {
    match expression {
        Expression::Variable(name) => Some(below("", name)),
        Expression::Select { operand, field, .. } => Some(below(&pointer_of(operand)?, field)),
        Expression::Index { operand, index, .. } => match &**index {
            Expression::Literal(Literal::String(key)) => Some(below(&pointer_of(operand)?, key)),
            _ => None,
        },
        _ => None,
    }
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
