//! The base functions.

use super::{Arguments, library};
use crate::error::Failure;
use crate::machine::{is_true, type_name};
use crate::number;
use crate::value::{Builtin, Value};

/// Calls a base function. Returns whether it is one.
pub(super) fn call(arguments: &mut Arguments<'_, '_>, builtin: Builtin) -> Result<bool, Failure> {
    match builtin {
        Builtin::Assert => assert(arguments)?,
        Builtin::Error => return error(arguments),
        Builtin::GetMetatable => get_metatable(arguments)?,
        Builtin::SetMetatable => set_metatable(arguments)?,
        Builtin::Ipairs => iterate(arguments, Builtin::IpairsNext, Value::Number(0.0))?,
        Builtin::Pairs => iterate(arguments, Builtin::Next, Value::Nil)?,
        Builtin::IpairsNext => ipairs_next(arguments)?,
        Builtin::Next => next(arguments)?,
        Builtin::Pcall => pcall(arguments)?,
        Builtin::Xpcall => xpcall(arguments)?,
        Builtin::Print => {}
        Builtin::RawEqual => {
            let (left, right) = (arguments.any(1)?, arguments.any(2)?);
            let value = arguments.machine.heap.same(left, right);
            arguments.give(Value::Bool(value));
        }
        Builtin::RawGet => {
            let (table, key) = (arguments.table(1)?, arguments.any(2)?);
            let value = arguments.machine.heap.get(table, key)?;
            arguments.give(value);
        }
        Builtin::RawSet => {
            arguments.table(1)?;
            let [table, key, value] = [1, 2, 3].map(|position| arguments.get(position));
            arguments.machine.raw_set(table, key, value)?;
        }
        Builtin::Require => require(arguments)?,
        Builtin::Select => select(arguments)?,
        Builtin::ToNumber => to_number(arguments)?,
        Builtin::ToString => {
            let value = arguments.any(1)?;
            to_string(arguments, value)?;
        }
        Builtin::Type => {
            let value = arguments.any(1)?;
            let name = type_name(value);
            let name = arguments.machine.heap.borrowed(name.as_bytes());
            arguments.give(name);
        }
        Builtin::Unpack => unpack(arguments)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn assert(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    if is_true(arguments.get(1)) {
        let all = arguments.rest(1);
        arguments.machine.stack.extend(all);
        return Ok(());
    }
    if arguments.get(2) == Value::Nil {
        Failure::text("assertion failed!")
    } else {
        let message = arguments.text(2)?;
        Failure::text(String::from_utf8_lossy(&message))
    }
}

/// Raises an error. Its level says whose line it names: of the caller (1), or none (0).
fn error<T>(arguments: &Arguments<'_, '_>) -> Result<T, Failure> {
    let value = arguments.any(1)?;
    match value {
        Value::String(text) if arguments.whole_or(2, 1)? > 0 => {
            let text = arguments.machine.heap.text(text);
            Failure::text(String::from_utf8_lossy(text))
        }
        _ => Err(Failure::Raised(value)),
    }
}

fn get_metatable(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let value = arguments.any(1)?;
    let protected = arguments.machine.metamethod(value, "__metatable")?;
    let metatable = match value {
        Value::Table(table) => arguments.machine.heap.metatable(table),
        _ => None,
    };
    let found = match (protected, metatable) {
        (Value::Nil, Some(metatable)) => Value::Table(metatable),
        (protected, _) => protected,
    };
    arguments.give(found);
    Ok(())
}

fn set_metatable(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let table = arguments.table(1)?;
    let metatable = match arguments.get(2) {
        Value::Nil => None,
        Value::Table(metatable) => Some(metatable),
        _ => return arguments.bad(2, "nil or table"),
    };
    let value = arguments.get(1);
    if arguments.machine.metamethod(value, "__metatable")? != Value::Nil {
        return Failure::text("cannot change a protected metatable");
    }
    arguments.machine.heap.set_metatable(table, metatable);
    arguments.give(value);
    Ok(())
}

fn iterate(arguments: &mut Arguments<'_, '_>, next: Builtin, start: Value) -> Result<(), Failure> {
    let table = arguments.table(1)?;
    for value in [Value::Builtin(next), Value::Table(table), start] {
        arguments.give(value);
    }
    Ok(())
}

fn ipairs_next(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let (table, at) = (arguments.table(1)?, arguments.number(2)? + 1.0);
    let value = arguments.machine.heap.get(table, Value::Number(at))?;
    if value != Value::Nil {
        arguments.give_number(at);
        arguments.give(value);
    }
    Ok(())
}

fn next(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let (table, key) = (arguments.table(1)?, arguments.get(2));
    match arguments.machine.heap.next(table, key)? {
        Some((Value::Nil, _)) => arguments.give(Value::Nil),
        Some((key, value)) => {
            arguments.give(key);
            arguments.give(value);
        }
        None => return Failure::text("invalid key to 'next'"),
    }
    Ok(())
}

fn pcall(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let callee = arguments.any(1)?;
    let rest = arguments.rest(2);
    arguments.give(Value::Bool(true));
    let flag = arguments.machine.stack.len() - 1;
    if let Err(value) = arguments.machine.protected(callee, &rest)? {
        set(arguments, flag, Value::Bool(false));
        arguments.give(value);
    }
    Ok(())
}

fn xpcall(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let (callee, handler) = (arguments.any(1)?, arguments.any(2)?);
    arguments.give(Value::Bool(true));
    let flag = arguments.machine.stack.len() - 1;
    if let Err(value) = arguments.machine.protected(callee, &[])? {
        set(arguments, flag, Value::Bool(false));
        let value = arguments.machine.call_for_one(handler, &[value])?;
        arguments.give(value);
    }
    Ok(())
}

fn set(arguments: &mut Arguments<'_, '_>, place: usize, value: Value) {
    if let Some(place) = arguments.machine.stack.get_mut(place) {
        *place = value;
    }
}

/// Only libraries that are open can be required.
fn require(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let name = arguments.text(1)?;
    let name = String::from_utf8_lossy(&name).into_owned();
    match library(arguments.machine, &name)? {
        Value::Nil => Failure::text(format!("module {name} not found")),
        library => {
            arguments.give(library);
            Ok(())
        }
    }
}

fn select(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let others = arguments.count().saturating_sub(1);
    if let Value::String(text) = arguments.get(1)
        && arguments.machine.heap.text(text) == b"#"
    {
        arguments.give_number(number::of(others));
        return Ok(());
    }
    let position = arguments.whole(1)?;
    let others = i64::try_from(others).unwrap_or(i64::MAX);
    let from = if position < 0 {
        others + position
    } else {
        position - 1
    };
    if from < 0 {
        return Failure::text("bad argument #1 (index out of range)");
    }
    let selected = arguments.rest(2);
    let selected = selected.get(number::count(from)..).unwrap_or_default();
    arguments.machine.stack.extend_from_slice(selected);
    Ok(())
}

fn to_number(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let base = match arguments.get(2) {
        Value::Nil => None,
        _ => Some(arguments.whole(2)?),
    };
    let number = match arguments.any(1)? {
        Value::Number(value) => Some(value),
        Value::String(text) => number::converted(arguments.machine.heap.text(text), base),
        _ => None,
    };
    arguments.give(number.map_or(Value::Nil, Value::Number));
    Ok(())
}

/// Gives the text of a value.
fn to_string(arguments: &mut Arguments<'_, '_>, value: Value) -> Result<(), Failure> {
    let method = arguments.machine.metamethod(value, "__tostring")?;
    if method != Value::Nil {
        let text = arguments.machine.call_for_one(method, &[value])?;
        arguments.give(text);
        return Ok(());
    }
    if let Value::String(_) = value {
        arguments.give(value);
        return Ok(());
    }
    let text = shown(arguments, value);
    arguments.give_text(text)
}

/// The text of a value without metatables.
pub(super) fn shown(arguments: &Arguments<'_, '_>, value: Value) -> Vec<u8> {
    let machine = &arguments.machine;
    if let Some(text) = machine.as_text(value) {
        return text;
    }
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Table(table) => format!("table: 0x{:08x}", table.index()),
        Value::Function(function) => format!("function: 0x{:08x}", function.index()),
        other => type_name(other).to_owned(),
    }
    .into_bytes()
}

fn unpack(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let table = arguments.table(1)?;
    let length = arguments.machine.heap.opened(table)?.length();
    let from = arguments.whole_or(2, 1)?;
    let to = arguments.whole_or(3, i64::try_from(length).unwrap_or(i64::MAX))?;
    let count = number::count(to.saturating_sub(from).saturating_add(1));
    arguments.machine.check_stack(count)?;
    arguments.machine.work(count)?;
    for position in from..=to {
        let key = Value::Number(f64::from(i32::try_from(position).unwrap_or(i32::MAX)));
        let value = arguments.machine.heap.get(table, key)?;
        arguments.give(value);
    }
    Ok(())
}
