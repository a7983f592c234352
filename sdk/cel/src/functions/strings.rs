//! Functions of strings, and their encodings.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Called, Function};
use crate::error::Evaluated;
use crate::expression::Pattern;
use crate::value::count;
use crate::{Budget, EvaluationError, List, Value};

/// Maximum size of a compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 64 * 1024;

/// Base64 as cel-go reads it, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

pub(super) fn call<'a>(
    function: Function,
    arguments: &[Value<'a>],
    pattern: &Pattern,
    budget: &Budget,
) -> Called<'a> {
    if let (Function::Base64Encode, [Value::Bytes(bytes)]) = (function, arguments) {
        let spent = budget.bytes(bytes.len());
        return Some(spent.map(|()| Value::from(BASE64.encode(bytes))));
    }
    if let (Function::Join, [Value::List(list), rest @ ..]) = (function, arguments) {
        let separator = match rest {
            [] => "",
            [separator, ..] => separator.as_str()?,
        };
        return Some(join(list, separator, budget));
    }
    let (text, rest) = arguments.split_first()?;
    let text = text.as_str()?;
    Some(match (function, rest) {
        (Function::Base64Decode, []) => decode(text),
        (Function::LowerAscii, []) => Ok(text.to_ascii_lowercase().into()),
        (Function::UpperAscii, []) => Ok(text.to_ascii_uppercase().into()),
        (Function::Trim, []) => Ok(text.trim().to_owned().into()),
        (Function::Quote, []) => Ok(quote(text).into()),
        (Function::Reverse, []) => Ok(text.chars().rev().collect::<String>().into()),
        (Function::CharAt, [Value::Int(at)]) => char_at(text, *at),
        (Function::Substring, [Value::Int(start)]) => substring(text, *start, length(text)),
        (Function::Substring, [Value::Int(start), Value::Int(end)]) => {
            substring(text, *start, *end)
        }
        (_, [Value::String(part), rest @ ..]) => {
            return with_text(function, text, part.as_str(), rest, pattern, budget);
        }
        _ => return None,
    })
}

/// Functions whose second argument is a string.
fn with_text<'a>(
    function: Function,
    text: &str,
    part: &str,
    rest: &[Value<'a>],
    pattern: &Pattern,
    budget: &Budget,
) -> Called<'a> {
    Some(match (function, rest) {
        (Function::Contains, []) => Ok(Value::Bool(text.contains(part))),
        (Function::StartsWith, []) => Ok(Value::Bool(text.starts_with(part))),
        (Function::EndsWith, []) => Ok(Value::Bool(text.ends_with(part))),
        (Function::Matches, []) => matches(text, part, pattern, budget),
        (Function::IndexOf, []) => index_of(text, part, 0),
        (Function::IndexOf, [Value::Int(from)]) => index_of(text, part, *from),
        (Function::LastIndexOf, []) => Ok(last_index_of_any(text, part)),
        (Function::LastIndexOf, [Value::Int(from)]) => last_index_of(text, part, *from),
        (Function::Split, []) => split(text, part, -1, budget),
        (Function::Split, [Value::Int(limit)]) => split(text, part, *limit, budget),
        (Function::Replace, [Value::String(new)]) => replace(text, part, new.as_str(), -1, budget),
        (Function::Replace, [Value::String(new), Value::Int(limit)]) => {
            replace(text, part, new.as_str(), *limit, budget)
        }
        _ => return None,
    })
}

fn length(text: &str) -> i64 {
    count(text.chars().count())
}

fn decode<'a>(text: &str) -> Evaluated<Value<'a>> {
    let bytes = BASE64.decode(text);
    let bytes = bytes.map_err(|error| EvaluationError::Invalid(format!("not Base64: {error}")))?;
    Ok(Value::Bytes(bytes.into()))
}

fn join<'a>(list: &List<'_>, separator: &str, budget: &Budget) -> Evaluated<Value<'a>> {
    let mut joined = String::new();
    for (index, item) in list.items().iter().enumerate() {
        let Some(item) = item.as_str() else {
            return Err(EvaluationError::no_overload(
                "join",
                &["list", item.type_name()],
            ));
        };
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(item);
        budget.steps(1 + (separator.len() + item.len()) / 16)?;
    }
    Ok(joined.into())
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        let escape = match character {
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{b}' => "\\v",
            '\\' => "\\\\",
            '"' => "\\\"",
            _ => {
                quoted.push(character);
                continue;
            }
        };
        quoted.push_str(escape);
    }
    quoted.push('"');
    quoted
}

fn char_at<'a>(text: &str, at: i64) -> Evaluated<Value<'a>> {
    let index = usize::try_from(at).map_err(|_| EvaluationError::OutOfRange(at))?;
    match text.chars().nth(index) {
        Some(character) => Ok(character.to_string().into()),
        None if at == length(text) => Ok(Value::from("")),
        None => Err(EvaluationError::OutOfRange(at)),
    }
}

/// The characters from `start` to before `end`.
fn substring<'a>(text: &str, start: i64, end: i64) -> Evaluated<Value<'a>> {
    if start > end {
        let what = format!("a substring cannot start at {start} and end at {end}");
        return Err(EvaluationError::Invalid(what));
    }
    let length = length(text);
    for at in [start, end] {
        if !(0..=length).contains(&at) {
            return Err(EvaluationError::OutOfRange(at));
        }
    }
    let (start, end) = (byte_at(text, start), byte_at(text, end));
    Ok(text.get(start..end).unwrap_or_default().to_owned().into())
}

/// The position of the byte at which a character starts.
fn byte_at(text: &str, at: i64) -> usize {
    let mut characters = text.char_indices();
    let character = usize::try_from(at).ok().and_then(|at| characters.nth(at));
    character.map_or(text.len(), |(byte, _)| byte)
}

/// The position of a part at or after the character `from`, or -1.
fn index_of<'a>(text: &str, part: &str, from: i64) -> Evaluated<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(EvaluationError::OutOfRange(from));
    }
    let start = byte_at(text, from);
    let found = text.get(start..).and_then(|rest| rest.find(part));
    let index = found.map_or(-1, |at| length(text.get(..start + at).unwrap_or_default()));
    Ok(Value::Int(index))
}

/// The last position of a part, or -1.
fn last_index_of_any<'a>(text: &str, part: &str) -> Value<'a> {
    let found = text.rfind(part);
    let index = found.map(|at| length(text.get(..at).unwrap_or_default()));
    Value::Int(index.unwrap_or(-1))
}

/// The last position of a part at or before the character `from`, or -1.
fn last_index_of<'a>(text: &str, part: &str, from: i64) -> Evaluated<Value<'a>> {
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return Err(EvaluationError::OutOfRange(from));
    }
    if from >= length(text) {
        return Ok(Value::Int(-1));
    }
    let end = byte_at(text, from.saturating_add(length(part)));
    Ok(last_index_of_any(text.get(..end).unwrap_or_default(), part))
}

/// The parts between separators; at most `limit`, if it is not negative.
fn split<'a>(text: &str, separator: &str, limit: i64, budget: &Budget) -> Evaluated<Value<'a>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    if limit == 0 {
        return Ok(Value::from(Vec::new()));
    }
    let parts: Vec<String> = if separator.is_empty() {
        characters(text, limit)
    } else {
        text.splitn(limit, separator).map(str::to_owned).collect()
    };
    budget.steps(parts.len())?;
    Ok(Value::of_texts(parts.into_iter()))
}

/// The characters, each as a string. The last one of `limit` contains the rest.
fn characters(text: &str, limit: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if parts.len() + 1 == limit {
            parts.push(rest.to_owned());
            break;
        }
        let (first, after) = rest.split_at(character.len_utf8());
        parts.push(first.to_owned());
        rest = after;
    }
    parts
}

/// Replaces the first `limit` occurrences, or all if it is negative.
fn replace<'a>(
    text: &str,
    old: &str,
    new: &str,
    limit: i64,
    budget: &Budget,
) -> Evaluated<Value<'a>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let occurrences = text.matches(old).count().min(limit);
    budget.bytes(occurrences.saturating_mul(new.len()))?;
    Ok(text.replacen(old, new, limit).into())
}

/// Returns whether a part of the text matches the pattern, in time linear to the text.
fn matches<'a>(
    text: &str,
    regex: &str,
    pattern: &Pattern,
    budget: &Budget,
) -> Evaluated<Value<'a>> {
    // Each character of the text is compared with up to every state of the pattern.
    budget.steps(text.len().saturating_mul(regex.len()) / 64)?;
    let compiled = pattern.0.get_or_init(|| compiled(regex));
    let is_known = compiled
        .as_ref()
        .is_some_and(|known| known.as_str() == regex);
    let is_match = if is_known {
        compiled.as_ref().map(|known| known.is_match(text))
    } else {
        compiled_again(regex, budget)?.map(|known| known.is_match(text))
    };
    let invalid =
        || EvaluationError::Invalid(format!("`{regex}` is not a valid pattern, or is too large"));
    is_match.map(Value::Bool).ok_or_else(invalid)
}

/// Compiles a pattern that differs from the first one, which is slow.
fn compiled_again(regex: &str, budget: &Budget) -> Evaluated<Option<regex_lite::Regex>> {
    budget.steps(regex.len())?;
    Ok(compiled(regex))
}

pub(crate) fn compiled(regex: &str) -> Option<regex_lite::Regex> {
    let mut builder = regex_lite::RegexBuilder::new(regex);
    builder.size_limit(PATTERN_BYTES_MAX).build().ok()
}
