//! The library `string`.

mod format;

use super::Arguments;
use super::table::within_memory;
use crate::error::Failure;
use crate::machine::is_true;
use crate::number;
use crate::pattern::{Capture, Match, Search};
use crate::value::{Builtin, Value};

pub(super) fn call(arguments: &mut Arguments<'_, '_>, builtin: Builtin) -> Result<(), Failure> {
    if builtin == Builtin::StringChar {
        return char(arguments);
    }
    if builtin == Builtin::StringGmatchNext {
        return gmatch_next(arguments);
    }
    let text = arguments.text(1)?;
    arguments.machine.work(text.len())?;
    match builtin {
        Builtin::StringByte => byte(arguments, &text),
        Builtin::StringFind => find(arguments, &text),
        Builtin::StringMatch => first_match(arguments, &text),
        Builtin::StringGmatch => gmatch(arguments, &text),
        Builtin::StringGsub => gsub(arguments, &text),
        Builtin::StringFormat => format::format(arguments, &text),
        Builtin::StringRep => rep(arguments, &text),
        Builtin::StringSub => {
            let (from, to) = (arguments.whole(2)?, arguments.whole_or(3, -1)?);
            arguments.give_text(part(&text, from, to).to_vec())
        }
        Builtin::StringLen => {
            arguments.give_number(number::of(text.len()));
            Ok(())
        }
        Builtin::StringReverse => arguments.give_text(text.iter().rev().copied().collect()),
        Builtin::StringLower => arguments.give_text(cased(text, str::to_lowercase)),
        Builtin::StringUpper => arguments.give_text(cased(text, str::to_uppercase)),
        other => Failure::text(format!("{other:?} is not a function of a library")),
    }
}

fn cased(text: Vec<u8>, change: fn(&str) -> String) -> Vec<u8> {
    match std::str::from_utf8(&text) {
        Ok(valid) => change(valid).into_bytes(),
        Err(_) => text,
    }
}

/// The part of a text between two positions from 1; negative positions count from the end.
fn part(text: &[u8], from: i64, to: i64) -> &[u8] {
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let from = if from < 0 {
        (length + from).max(0)
    } else {
        (from - 1).max(0)
    };
    let to = if to < 0 {
        length + to + 1
    } else {
        to.min(length)
    };
    let [from, to] = [from, to].map(number::count);
    text.get(from..to).unwrap_or_default()
}

fn byte(arguments: &mut Arguments<'_, '_>, text: &[u8]) -> Result<(), Failure> {
    let from = arguments.whole_or(2, 1)?;
    // As in gopher-lua, all bytes without positions, and one byte with one position.
    let to = if arguments.count() == 2 {
        from
    } else {
        arguments.whole_or(3, -1)?
    };
    let bytes = part(text, from, to);
    arguments.machine.check_stack(bytes.len())?;
    for byte in bytes {
        arguments.give_number(f64::from(*byte));
    }
    Ok(())
}

fn char(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let mut text = Vec::with_capacity(arguments.count());
    for position in 1..=arguments.count() {
        match u8::try_from(arguments.whole(position)?) {
            Ok(byte) => text.push(byte),
            Err(_) => return Failure::text(format!("bad argument #{position} (invalid value)")),
        }
    }
    arguments.give_text(text)
}

fn rep(arguments: &mut Arguments<'_, '_>, text: &[u8]) -> Result<(), Failure> {
    let count = number::count(arguments.whole(2)?);
    if text.len().saturating_mul(count) > crate::MEMORY_BYTES_MAX {
        return Err(Failure::Limit(crate::error::OUT_OF_MEMORY));
    }
    arguments.give_text(text.repeat(count))
}

/// The start of a search, from 0, by an optional argument.
fn start(arguments: &Arguments<'_, '_>, text: &[u8]) -> Result<usize, Failure> {
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let from = arguments.whole_or(3, 1)?;
    let from = if from < 0 { length + from } else { from - 1 };
    Ok(number::count(from))
}

fn find(arguments: &mut Arguments<'_, '_>, text: &[u8]) -> Result<(), Failure> {
    let pattern = arguments.text(2)?;
    if pattern.is_empty() {
        // As in gopher-lua, wherever the search starts.
        arguments.give_number(1.0);
        arguments.give_number(0.0);
        return Ok(());
    }
    let from = start(arguments, text)?;
    if is_true(arguments.get(4)) {
        let rest = text.get(from..).unwrap_or_default();
        match position(arguments, rest, &pattern)? {
            Some(at) => {
                arguments.give_number(number::of(from + at + 1));
                arguments.give_number(number::of(from + at + pattern.len()));
            }
            None => arguments.give(Value::Nil),
        }
        return Ok(());
    }
    if let Some(found) = search(arguments, text, &pattern, |search| search.find(from))? {
        arguments.give_number(number::of(found.from + 1));
        arguments.give_number(number::of(found.to));
        give_captures(arguments, text, &found, false)
    } else {
        arguments.give(Value::Nil);
        Ok(())
    }
}

/// The position of a plain text. Each comparison that does not end at the first byte counts as work.
fn position(
    arguments: &mut Arguments<'_, '_>,
    text: &[u8],
    plain: &[u8],
) -> Result<Option<usize>, Failure> {
    arguments.machine.work(text.len())?;
    for (at, part) in text.windows(plain.len()).enumerate() {
        if part.first() == plain.first() {
            arguments.machine.work(plain.len())?;
            if part == plain {
                return Ok(Some(at));
            }
        }
    }
    Ok(None)
}

/// Runs a search with the steps that the run has left.
fn search<T>(
    arguments: &mut Arguments<'_, '_>,
    text: &[u8],
    pattern: &[u8],
    run: impl FnOnce(&mut Search<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let steps = arguments.machine.steps_left();
    let mut search = Search::new(text, pattern, steps);
    let result = run(&mut search);
    arguments.machine.spend(steps - search.steps)?;
    result
}

/// Gives the captures of a match, or the whole match if it has none and `or_whole` is set.
fn give_captures(
    arguments: &mut Arguments<'_, '_>,
    text: &[u8],
    found: &Match,
    or_whole: bool,
) -> Result<(), Failure> {
    for value in captures(arguments, text, found, or_whole)? {
        arguments.give(value);
    }
    Ok(())
}

fn captures(
    arguments: &mut Arguments<'_, '_>,
    text: &[u8],
    found: &Match,
    or_whole: bool,
) -> Result<Vec<Value>, Failure> {
    let whole = [Capture::Text(found.from, found.to)];
    let captures = match found.captures.as_slice() {
        [] if or_whole => &whole,
        captures => captures,
    };
    let mut values = Vec::with_capacity(captures.len());
    for capture in captures {
        values.push(match *capture {
            Capture::Position(at) => Value::Number(number::of(at + 1)),
            Capture::Text(from, to) => {
                let part = text.get(from..to).unwrap_or_default();
                arguments.machine.heap.string(part.to_vec())?
            }
            Capture::Open(_) => return Failure::text("unfinished capture"),
        });
    }
    Ok(values)
}

/// Gives the captures of the first match. As in gopher-lua, and unlike Lua 5.1, a search without a match
/// gives no value and not `nil`, so `tonumber(text:match('x'))` is an error then.
fn first_match(arguments: &mut Arguments<'_, '_>, text: &[u8]) -> Result<(), Failure> {
    let pattern = arguments.text(2)?;
    let from = start(arguments, text)?;
    match search(arguments, text, &pattern, |search| search.find(from))? {
        Some(found) => give_captures(arguments, text, &found, true),
        None => Ok(()),
    }
}

/// Gives an iterator over all matches, which are found at once. Its state is a table: a list of lists
/// of captures, and under 0 the number of matches that were given.
fn gmatch(arguments: &mut Arguments<'_, '_>, text: &[u8]) -> Result<(), Failure> {
    let pattern = arguments.text(2)?;
    let matches = search(arguments, text, &pattern, |search| search.all(usize::MAX))?;
    let state = arguments.machine.heap.table()?;
    for found in &matches {
        let captures = captures(arguments, text, found, true)?;
        let list = arguments.machine.heap.table()?;
        arguments
            .machine
            .heap
            .charge(captures.len() * size_of::<Value>())?;
        if let Some(list) = arguments.machine.heap.opened_mut(list)? {
            list.list = captures;
        }
        if let Some(state) = arguments.machine.heap.opened_mut(state)? {
            state.list.push(Value::Table(list));
        }
    }
    arguments.give(Value::Builtin(Builtin::StringGmatchNext));
    arguments.give(Value::Table(state));
    Ok(())
}

fn gmatch_next(arguments: &mut Arguments<'_, '_>) -> Result<(), Failure> {
    let (state, zero) = (arguments.table(1)?, Value::Number(0.0));
    let given = match arguments.machine.heap.get(state, zero)? {
        Value::Number(given) => given + 1.0,
        _ => 1.0,
    };
    let given = Value::Number(given);
    arguments.machine.heap.set(state, zero, given)?;
    if let Value::Table(captures) = arguments.machine.heap.get(state, given)? {
        let captures = arguments.machine.heap.opened(captures)?.list.clone();
        for capture in captures {
            arguments.give(capture);
        }
    }
    Ok(())
}

fn gsub(arguments: &mut Arguments<'_, '_>, text: &[u8]) -> Result<(), Failure> {
    let (pattern, replacement) = (arguments.text(2)?, arguments.get(3));
    let is_usable = matches!(
        replacement,
        Value::String(_) | Value::Table(_) | Value::Function(_) | Value::Builtin(_)
    );
    if !is_usable {
        return arguments.bad(3, "string or table or function");
    }
    // As in gopher-lua, a negative limit is none.
    let limit = match arguments.whole_or(4, -1)? {
        ..0 => usize::MAX,
        limit => number::count(limit),
    };
    let matches = search(arguments, text, &pattern, |search| search.all(limit))?;
    let (mut result, mut at) = (Vec::new(), 0);
    for found in &matches {
        result.extend_from_slice(text.get(at..found.from).unwrap_or_default());
        match replaced(arguments, text, found, replacement)? {
            Some(part) => result.extend_from_slice(&part),
            None => result.extend_from_slice(text.get(found.from..found.to).unwrap_or_default()),
        }
        at = found.to;
        within_memory(&result)?;
    }
    result.extend_from_slice(text.get(at..).unwrap_or_default());
    arguments.give_text(result)?;
    arguments.give_number(number::of(matches.len()));
    Ok(())
}

/// The replacement of a match. `None` keeps the match.
fn replaced(
    arguments: &mut Arguments<'_, '_>,
    text: &[u8],
    found: &Match,
    replacement: Value,
) -> Result<Option<Vec<u8>>, Failure> {
    let captures = captures(arguments, text, found, true)?;
    let first = captures.first().copied().unwrap_or(Value::Nil);
    let value = match replacement {
        Value::Table(_) => arguments.machine.index(replacement, first)?,
        Value::Function(_) | Value::Builtin(_) => {
            arguments.machine.call_for_one(replacement, &captures)?
        }
        other => {
            let template = arguments.machine.as_text(other).unwrap_or_default();
            return expanded(arguments, text, found, &template, &captures).map(Some);
        }
    };
    // As in gopher-lua, a value that is no text replaces the match by nothing.
    let part = arguments.machine.as_text(value).unwrap_or_default();
    Ok(is_true(value).then_some(part))
}

/// The replacement text with its captures (`%0` to `%9`).
fn expanded(
    arguments: &mut Arguments<'_, '_>,
    text: &[u8],
    found: &Match,
    template: &[u8],
    captures: &[Value],
) -> Result<Vec<u8>, Failure> {
    let mut result = Vec::with_capacity(template.len());
    let mut bytes = template.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            result.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'0') => {
                result.extend_from_slice(text.get(found.from..found.to).unwrap_or_default());
            }
            Some(digit @ b'1'..=b'9') => {
                let capture = captures.get(usize::from(digit - b'1')).copied();
                let capture = capture.and_then(|capture| arguments.machine.as_text(capture));
                match capture {
                    Some(capture) => result.extend_from_slice(&capture),
                    None => return Failure::text("invalid capture index"),
                }
            }
            Some(b'%') | None => result.push(b'%'),
            Some(other) => result.extend_from_slice(&[b'%', other]),
        }
        arguments.machine.work(0)?;
    }
    Ok(result)
}
