//! Conversions between types.

use super::{Called, Function};
use crate::error::Evaluated;
use crate::functions::formatting;
use crate::time::{self, Timestamp};
use crate::{EvaluationError, Value};

/// The first floats outside the ranges of int and uint: 2^63 and 2^64.
const INT_END: f64 = 9_223_372_036_854_775_808.0;
const UINT_END: f64 = 18_446_744_073_709_551_616.0;

pub(super) fn call<'a>(function: Function, arguments: &[Value<'a>]) -> Called<'a> {
    let [value] = arguments else {
        return None;
    };
    match function {
        Function::ToDyn => Some(Ok(value.clone())),
        Function::ToType => Some(Ok(Value::Type(value.type_name()))),
        Function::ToBool => to_bool(value),
        Function::ToInt => to_int(value),
        Function::ToUint => to_uint(value),
        Function::ToDouble => to_double(value),
        Function::ToString => to_string(value),
        Function::ToBytes => to_bytes(value),
        Function::ToDuration => to_duration(value),
        Function::ToTimestamp => to_timestamp(value),
        _ => None,
    }
}

fn invalid<'a>(text: &str, of: &str) -> Evaluated<Value<'a>> {
    Err(EvaluationError::Invalid(format!("`{text}` is not a {of}")))
}

fn to_bool<'a>(value: &Value<'a>) -> Called<'a> {
    Some(match value {
        Value::Bool(_) => Ok(value.clone()),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            text => invalid(text, "bool"),
        },
        _ => return None,
    })
}

fn to_int<'a>(value: &Value<'a>) -> Called<'a> {
    Some(match value {
        Value::Int(_) => Ok(value.clone()),
        Value::Uint(number) => {
            let number = i64::try_from(*number);
            number
                .map(Value::Int)
                .map_err(|_| EvaluationError::Overflow("int"))
        }
        Value::Double(float) if *float > -INT_END && *float < INT_END =>
        {
            #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
            Ok(Value::Int(*float as i64))
        }
        Value::Double(_) => Err(EvaluationError::Overflow("int")),
        Value::String(text) => match text.as_str().parse() {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => invalid(text.as_str(), "int"),
        },
        Value::Timestamp(time) => Ok(Value::Int(time.seconds())),
        Value::Duration(nanoseconds) => Ok(Value::Int(*nanoseconds)),
        _ => return None,
    })
}

fn to_uint<'a>(value: &Value<'a>) -> Called<'a> {
    Some(match value {
        Value::Uint(_) => Ok(value.clone()),
        Value::Int(number) => {
            let number = u64::try_from(*number);
            number
                .map(Value::Uint)
                .map_err(|_| EvaluationError::Overflow("uint"))
        }
        Value::Double(float) if *float >= 0.0 && *float < UINT_END =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the range was checked"
            )]
            Ok(Value::Uint(*float as u64))
        }
        Value::Double(_) => Err(EvaluationError::Overflow("uint")),
        Value::String(text) => match text.as_str().parse() {
            Ok(number) => Ok(Value::Uint(number)),
            Err(_) => invalid(text.as_str(), "uint"),
        },
        _ => return None,
    })
}

fn to_double<'a>(value: &Value<'a>) -> Called<'a> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a double holds the nearest value"
    )]
    Some(match value {
        Value::Double(_) => Ok(value.clone()),
        Value::Int(number) => Ok(Value::Double(*number as f64)),
        Value::Uint(number) => Ok(Value::Double(*number as f64)),
        Value::String(text) => match text.as_str().parse() {
            Ok(float) => Ok(Value::Double(float)),
            Err(_) => invalid(text.as_str(), "double"),
        },
        _ => return None,
    })
}

fn to_string<'a>(value: &Value<'a>) -> Called<'a> {
    Some(match value {
        Value::String(_) => Ok(value.clone()),
        Value::Bool(flag) => Ok(flag.to_string().into()),
        Value::Int(number) => Ok(number.to_string().into()),
        Value::Uint(number) => Ok(number.to_string().into()),
        Value::Double(float) => Ok(formatting::float(*float).into()),
        Value::Timestamp(time) => Ok(time.to_string().into()),
        Value::Duration(nanoseconds) => Ok(time::duration_text(*nanoseconds).into()),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned().into()),
            Err(_) => Err(EvaluationError::Invalid(
                "the bytes are not UTF-8".to_owned(),
            )),
        },
        _ => return None,
    })
}

fn to_bytes<'a>(value: &Value<'a>) -> Called<'a> {
    match value {
        Value::Bytes(_) => Some(Ok(value.clone())),
        Value::String(text) => Some(Ok(Value::Bytes(text.as_str().as_bytes().into()))),
        _ => None,
    }
}

fn to_duration<'a>(value: &Value<'a>) -> Called<'a> {
    Some(match value {
        Value::Duration(_) => Ok(value.clone()),
        Value::Int(nanoseconds) => Ok(Value::Duration(*nanoseconds)),
        Value::String(text) => match time::duration(text.as_str()) {
            Some(nanoseconds) => Ok(Value::Duration(nanoseconds)),
            None => invalid(text.as_str(), "duration such as 1h30m"),
        },
        _ => return None,
    })
}

fn to_timestamp<'a>(value: &Value<'a>) -> Called<'a> {
    Some(match value {
        Value::Timestamp(_) => Ok(value.clone()),
        Value::Int(seconds) => match Timestamp::of_seconds(*seconds) {
            Some(time) => Ok(Value::Timestamp(time)),
            None => Err(EvaluationError::Overflow("timestamp")),
        },
        Value::String(text) => match Timestamp::parse(text.as_str()) {
            Some(time) => Ok(Value::Timestamp(time)),
            None => invalid(text.as_str(), "timestamp such as 2026-01-31T12:00:00Z"),
        },
        _ => return None,
    })
}
