//! The library `table`.

use super::Arguments;
use crate::error::Failure;
use crate::machine::{is_true, type_name};
use crate::number;
use crate::value::{Builtin, TableId, Value};

pub(super) fn call(arguments: &mut Arguments<'_, '_>, builtin: Builtin) -> Result<(), Failure> {
    let table = arguments.table(1)?;
    match builtin {
        Builtin::TableConcat => concat(arguments, table),
        Builtin::TableInsert => insert(arguments, table),
        Builtin::TableRemove => remove(arguments, table),
        Builtin::TableSort => sort(arguments, table),
        _ => {
            let length = arguments.machine.heap.opened(table)?.length();
            arguments.give_number(number::of(length));
            Ok(())
        }
    }
}

fn concat(arguments: &mut Arguments<'_, '_>, table: TableId) -> Result<(), Failure> {
    let separator = match arguments.get(2) {
        Value::Nil => Vec::new(),
        _ => arguments.text(2)?,
    };
    let length = arguments.machine.heap.opened(table)?.length();
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let from = arguments.whole_or(3, 1)?.max(1);
    let to = arguments.whole_or(4, length)?.min(length);
    let mut joined = Vec::new();
    for position in from..=to {
        let key = Value::Number(number::of(number::count(position)));
        let item = arguments.machine.heap.get(table, key)?;
        let Some(text) = arguments.machine.as_text(item) else {
            let what = type_name(item);
            return Failure::text(format!(
                "invalid value ({what}) at index {position} in table for concat"
            ));
        };
        if position > from {
            joined.extend_from_slice(&separator);
        }
        arguments.machine.work(text.len() + separator.len())?;
        joined.extend_from_slice(&text);
        within_memory(&joined)?;
    }
    arguments.give_text(joined)
}

/// Refuses a text that no run can hold before it is complete.
pub(super) fn within_memory(text: &[u8]) -> Result<(), Failure> {
    if text.len() > crate::MEMORY_BYTES_MAX {
        return Err(Failure::Limit(crate::error::OUT_OF_MEMORY));
    }
    Ok(())
}

fn insert(arguments: &mut Arguments<'_, '_>, table: TableId) -> Result<(), Failure> {
    let count = arguments.count();
    let length = arguments.machine.heap.opened(table)?.length();
    if count <= 2 {
        if count < 2 {
            return Failure::text("wrong number of arguments");
        }
        let key = Value::Number(number::of(length + 1));
        let value = arguments.get(2);
        return Ok(arguments.machine.heap.set(table, key, value)?);
    }
    let (position, value) = (arguments.whole(2)?, arguments.get(3));
    let place = usize::try_from(position)
        .ok()
        .and_then(|at| at.checked_sub(1));
    match place {
        Some(place) if place < length => {
            arguments
                .machine
                .work((length - place) * size_of::<Value>())?;
            arguments.machine.heap.charge(size_of::<Value>())?;
            if let Some(table) = arguments.machine.heap.opened_mut(table)? {
                table.list.insert(place, value);
            }
            Ok(())
        }
        _ => {
            let key = Value::Number(arguments.number(2)?.trunc());
            Ok(arguments.machine.heap.set(table, key, value)?)
        }
    }
}

fn remove(arguments: &mut Arguments<'_, '_>, table: TableId) -> Result<(), Failure> {
    let length = arguments.machine.heap.opened(table)?.length();
    let position = arguments.whole_or(2, -1)?;
    let mut removed = Value::Nil;
    arguments.machine.work(length * size_of::<Value>())?;
    if let Some(table) = arguments.machine.heap.opened_mut(table)? {
        table.list.truncate(length);
        let place = match number::count(position) {
            0 => length.wrapping_sub(1),
            position => position - 1,
        };
        if place < length {
            removed = table.list.remove(place);
        }
    }
    arguments.give(removed);
    Ok(())
}

/// Sorts the list in place by merging, because the comparison may be a function of the script that is
/// not an order.
fn sort(arguments: &mut Arguments<'_, '_>, table: TableId) -> Result<(), Failure> {
    let less = arguments.get(2);
    if !matches!(less, Value::Nil | Value::Function(_) | Value::Builtin(_)) {
        return arguments.bad(2, "function");
    }
    let length = arguments.machine.heap.opened(table)?.length();
    let mut items = arguments.machine.heap.opened(table)?.list.clone();
    items.truncate(length);
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            merge(arguments, less, left, right, &mut merged)?;
        }
        items = merged;
        width *= 2;
    }
    if let Some(table) = arguments.machine.heap.opened_mut(table)? {
        table.list = items;
    }
    Ok(())
}

fn merge(
    arguments: &mut Arguments<'_, '_>,
    less: Value,
    mut left: &[Value],
    mut right: &[Value],
    merged: &mut Vec<Value>,
) -> Result<(), Failure> {
    while let ([first, others_left @ ..], [second, others_right @ ..]) = (left, right) {
        arguments.machine.spend(1)?;
        let is_less = match less {
            Value::Nil => arguments.machine.less(*second, *first)?,
            less => is_true(arguments.machine.call_for_one(less, &[*second, *first])?),
        };
        if is_less {
            merged.push(*second);
            right = others_right;
        } else {
            merged.push(*first);
            left = others_left;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    Ok(())
}
