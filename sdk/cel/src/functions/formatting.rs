//! `format`, and the text of floats.

use super::Called;
use crate::error::Evaluated;
use crate::time::duration_text;
use crate::{Budget, EvaluationError, Map, Value};

/// The default number of digits after the decimal point, and the maximum.
const PRECISION: usize = 6;
const PRECISION_MAX: usize = 100;

/// `text.format([…])`: replaces `%s`, `%d`, `%f`, `%e`, `%b`, `%o`, `%x` and `%X`.
pub(super) fn call<'a>(arguments: &[Value<'a>], budget: &Budget) -> Called<'a> {
    let [Value::String(format), Value::List(list)] = arguments else {
        return None;
    };
    let formatted = formatted(format.as_str(), &list.items(), budget);
    Some(formatted.map(Value::from))
}

fn invalid<T>(what: impl Into<String>) -> Evaluated<T> {
    Err(EvaluationError::Invalid(what.into()))
}

fn formatted(format: &str, values: &[Value<'_>], budget: &Budget) -> Evaluated<String> {
    let mut text = String::new();
    let mut values = values.iter();
    let mut rest = format;
    while let Some((before, clause)) = rest.split_once('%') {
        text.push_str(before);
        if let Some(after) = clause.strip_prefix('%') {
            text.push('%');
            rest = after;
            continue;
        }
        let Some(value) = values.next() else {
            return invalid("format: there are fewer values than clauses");
        };
        let (precision, clause) = precision(clause)?;
        let Some(verb) = clause.chars().next() else {
            return invalid("format: the clause after the last % is incomplete");
        };
        let written = written(verb, precision, value, budget)?;
        budget.bytes(written.len())?;
        text.push_str(&written);
        rest = clause.get(verb.len_utf8()..).unwrap_or_default();
    }
    text.push_str(rest);
    Ok(text)
}

/// The precision at the start of a clause, such as `.2`, and the remaining text.
fn precision(clause: &str) -> Evaluated<(usize, &str)> {
    let Some(rest) = clause.strip_prefix('.') else {
        return Ok((PRECISION, clause));
    };
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = rest.split_at(end);
    match digits.parse() {
        Ok(precision) if precision <= PRECISION_MAX => Ok((precision, rest)),
        _ => invalid(format!("format: a precision is at most {PRECISION_MAX}")),
    }
}

/// A value as a clause writes it.
fn written(verb: char, precision: usize, value: &Value<'_>, budget: &Budget) -> Evaluated<String> {
    let written = match (verb, value) {
        ('s', value) => return shown(value, budget),
        ('d', Value::Int(_) | Value::Uint(_) | Value::Double(_)) => return shown(value, budget),
        ('f', _) => float_of(value).map(|float| fixed(float, precision)),
        ('e', _) => float_of(value).map(|float| scientific(float, precision)),
        ('b', Value::Bool(flag)) => Some(u8::from(*flag).to_string()),
        ('b', Value::Int(number)) => Some(signed(*number, format!("{:b}", number.unsigned_abs()))),
        ('b', Value::Uint(number)) => Some(format!("{number:b}")),
        ('o', Value::Int(number)) => Some(signed(*number, format!("{:o}", number.unsigned_abs()))),
        ('o', Value::Uint(number)) => Some(format!("{number:o}")),
        ('x' | 'X', value) => hexadecimal(value).map(|text| match verb {
            'X' => text.to_ascii_uppercase(),
            _ => text,
        }),
        _ => None,
    };
    written.map_or_else(
        || {
            let known = "sdfeboxX".contains(verb);
            let name = value.type_name();
            invalid(if known {
                format!("format: %{verb} does not take a {name}")
            } else {
                format!("format: unknown clause %{verb}")
            })
        },
        Ok,
    )
}

fn signed(number: i64, magnitude: String) -> String {
    if number < 0 {
        format!("-{magnitude}")
    } else {
        magnitude
    }
}

fn float_of(value: &Value<'_>) -> Option<f64> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a float shows the nearest value"
    )]
    match value {
        Value::Double(float) => Some(*float),
        Value::Int(number) => Some(*number as f64),
        Value::Uint(number) => Some(*number as f64),
        _ => None,
    }
}

fn hexadecimal(value: &Value<'_>) -> Option<String> {
    let of_bytes = |bytes: &[u8]| {
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        digits.collect::<String>()
    };
    match value {
        Value::Int(number) => Some(signed(*number, format!("{:x}", number.unsigned_abs()))),
        Value::Uint(number) => Some(format!("{number:x}")),
        Value::String(text) => Some(of_bytes(text.as_str().as_bytes())),
        Value::Bytes(bytes) => Some(of_bytes(bytes)),
        _ => None,
    }
}

/// A value as `%s` writes it.
pub(crate) fn shown(value: &Value<'_>, budget: &Budget) -> Evaluated<String> {
    budget.step()?;
    Ok(match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Double(float) => plain(*float),
        Value::String(text) => {
            budget.bytes(text.as_str().len())?;
            text.as_str().to_owned()
        }
        Value::Bytes(bytes) => {
            budget.bytes(bytes.len())?;
            String::from_utf8_lossy(bytes).into_owned()
        }
        Value::Timestamp(time) => time.to_string(),
        Value::Duration(nanoseconds) => duration_text(*nanoseconds),
        Value::Type(name) => (*name).to_owned(),
        Value::List(list) => {
            let items = list.items();
            let items = items.iter().map(|item| shown(item, budget));
            format!("[{}]", items.collect::<Evaluated<Vec<_>>>()?.join(", "))
        }
        Value::Map(map) => shown_map(map, budget)?,
        Value::Optional(_) => return invalid("format: %s does not take an optional"),
    })
}

/// Steps of an entry of a map, which is looked up and sorted: a text of a large map costs more than a list of the same size.
const ENTRY_STEPS: usize = 16;

/// A map with its entries in order of their keys.
fn shown_map(map: &Map<'_>, budget: &Budget) -> Evaluated<String> {
    let mut entries = Vec::new();
    for key in map.keys() {
        budget.steps(ENTRY_STEPS)?;
        let value = map.get(&key).unwrap_or(Value::Null);
        entries.push((shown(&key, budget)?, shown(&value, budget)?));
    }
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    let entries = entries.iter().map(|(key, value)| format!("{key}: {value}"));
    Ok(format!("{{{}}}", entries.collect::<Vec<_>>().join(", ")))
}

/// A float without an exponent.
fn plain(float: f64) -> String {
    special(float).unwrap_or_else(|| format!("{float}"))
}

fn fixed(float: f64, precision: usize) -> String {
    special(float).unwrap_or_else(|| format!("{float:.precision$}"))
}

fn scientific(float: f64, precision: usize) -> String {
    special(float).unwrap_or_else(|| go_exponent(&format!("{float:.precision$e}")))
}

fn special(float: f64) -> Option<String> {
    let name = match float {
        float if float.is_nan() => "NaN",
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => return None,
    };
    Some(name.to_owned())
}

/// A number such as `1.5e7` with the exponent as Go writes it: `1.5e+07`.
fn go_exponent(text: &str) -> String {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A float as Go's `%g` writes it.
pub(crate) fn float(float: f64) -> String {
    /// The exponents of floats that are written without one.
    const EXPONENTS: std::ops::Range<i32> = -4..6;
    match float {
        float if float.is_nan() => return "NaN".to_owned(),
        f64::INFINITY => return "+Inf".to_owned(),
        f64::NEG_INFINITY => return "-Inf".to_owned(),
        _ => {}
    }
    let text = format!("{float:e}");
    let exponent = text
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok());
    if exponent.is_some_and(|exponent: i32| EXPONENTS.contains(&exponent)) {
        format!("{float}")
    } else {
        go_exponent(&text)
    }
}
