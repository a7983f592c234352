//! Functions and methods.

mod conversions;
mod formatting;
mod optionals;
mod sets;
mod strings;
mod times;

use std::ops::RangeInclusive;

use crate::error::Evaluated;
use crate::expression::Pattern;
use crate::{Budget, EvaluationError, Value};

pub(crate) use formatting::shown;
pub(crate) use sets::has as has_item;
pub(crate) use times::TimePart;

/// A function. A method is a function whose first argument is its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Base64Decode,
    Base64Encode,
    CharAt,
    Contains,
    EndsWith,
    First,
    Format,
    HasValue,
    IndexOf,
    Join,
    Last,
    LastIndexOf,
    LowerAscii,
    Matches,
    OptionalNone,
    OptionalOf,
    OptionalOfNonZero,
    /// Its second argument is evaluated only if the first has no value. The same applies to
    /// `OrValue`.
    Or,
    OrValue,
    Quote,
    Replace,
    Reverse,
    SetsContains,
    SetsEquivalent,
    SetsIntersects,
    Size,
    Split,
    StartsWith,
    Substring,
    Time(TimePart),
    ToBool,
    ToBytes,
    ToDouble,
    ToDuration,
    ToDyn,
    ToInt,
    ToString,
    ToTimestamp,
    ToType,
    ToUint,
    Trim,
    Unwrap,
    UpperAscii,
    ValueOf,
}

/// How a function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Global,
    Method,
}

use Form::{Global, Method};

/// Every function: how it is called, its name, and its numbers of arguments with the operand.
const FUNCTIONS: [(Form, &str, Function, RangeInclusive<usize>); 56] = [
    (Global, "base64.decode", Function::Base64Decode, 1..=1),
    (Global, "base64.encode", Function::Base64Encode, 1..=1),
    (Global, "bool", Function::ToBool, 1..=1),
    (Global, "bytes", Function::ToBytes, 1..=1),
    (Global, "double", Function::ToDouble, 1..=1),
    (Global, "duration", Function::ToDuration, 1..=1),
    (Global, "dyn", Function::ToDyn, 1..=1),
    (Global, "int", Function::ToInt, 1..=1),
    (Global, "matches", Function::Matches, 2..=2),
    (Global, "optional.none", Function::OptionalNone, 0..=0),
    (Global, "optional.of", Function::OptionalOf, 1..=1),
    (
        Global,
        "optional.ofNonZeroValue",
        Function::OptionalOfNonZero,
        1..=1,
    ),
    (Global, "optional.unwrap", Function::Unwrap, 1..=1),
    (Global, "sets.contains", Function::SetsContains, 2..=2),
    (Global, "sets.equivalent", Function::SetsEquivalent, 2..=2),
    (Global, "sets.intersects", Function::SetsIntersects, 2..=2),
    (Global, "size", Function::Size, 1..=1),
    (Global, "string", Function::ToString, 1..=1),
    (Global, "strings.quote", Function::Quote, 1..=1),
    (Global, "timestamp", Function::ToTimestamp, 1..=1),
    (Global, "type", Function::ToType, 1..=1),
    (Global, "uint", Function::ToUint, 1..=1),
    (Method, "charAt", Function::CharAt, 2..=2),
    (Method, "contains", Function::Contains, 2..=2),
    (Method, "endsWith", Function::EndsWith, 2..=2),
    (Method, "first", Function::First, 1..=1),
    (Method, "format", Function::Format, 2..=2),
    (Method, "getDate", Function::Time(TimePart::Date), 1..=2),
    (
        Method,
        "getDayOfMonth",
        Function::Time(TimePart::DayOfMonth),
        1..=2,
    ),
    (
        Method,
        "getDayOfWeek",
        Function::Time(TimePart::DayOfWeek),
        1..=2,
    ),
    (
        Method,
        "getDayOfYear",
        Function::Time(TimePart::DayOfYear),
        1..=2,
    ),
    (
        Method,
        "getFullYear",
        Function::Time(TimePart::FullYear),
        1..=2,
    ),
    (Method, "getHours", Function::Time(TimePart::Hours), 1..=2),
    (
        Method,
        "getMilliseconds",
        Function::Time(TimePart::Milliseconds),
        1..=2,
    ),
    (
        Method,
        "getMinutes",
        Function::Time(TimePart::Minutes),
        1..=2,
    ),
    (Method, "getMonth", Function::Time(TimePart::Month), 1..=2),
    (
        Method,
        "getSeconds",
        Function::Time(TimePart::Seconds),
        1..=2,
    ),
    (Method, "hasValue", Function::HasValue, 1..=1),
    (Method, "indexOf", Function::IndexOf, 2..=3),
    (Method, "join", Function::Join, 1..=2),
    (Method, "last", Function::Last, 1..=1),
    (Method, "lastIndexOf", Function::LastIndexOf, 2..=3),
    (Method, "lowerAscii", Function::LowerAscii, 1..=1),
    (Method, "matches", Function::Matches, 2..=2),
    (Method, "or", Function::Or, 2..=2),
    (Method, "orValue", Function::OrValue, 2..=2),
    (Method, "replace", Function::Replace, 3..=4),
    (Method, "reverse", Function::Reverse, 1..=1),
    (Method, "size", Function::Size, 1..=1),
    (Method, "split", Function::Split, 2..=3),
    (Method, "startsWith", Function::StartsWith, 2..=2),
    (Method, "substring", Function::Substring, 2..=3),
    (Method, "trim", Function::Trim, 1..=1),
    (Method, "unwrapOpt", Function::Unwrap, 1..=1),
    (Method, "upperAscii", Function::UpperAscii, 1..=1),
    (Method, "value", Function::ValueOf, 1..=1),
];

fn find(form: Form, name: &str) -> Option<Function> {
    let mut functions = FUNCTIONS.iter();
    let found = functions.find(|(its_form, its_name, ..)| *its_form == form && *its_name == name);
    found.map(|(_, _, function, _)| *function)
}

/// The function that is called by its name alone.
pub(crate) fn global(name: &str) -> Option<Function> {
    find(Global, name)
}

/// The function that is called after an operand.
pub(crate) fn method(name: &str) -> Option<Function> {
    find(Method, name)
}

/// The complete name of a function whose name contains a dot.
pub(crate) fn qualified_name(path: &str) -> Option<&'static str> {
    let mut functions = FUNCTIONS.iter();
    let found = functions.find(|(form, name, ..)| *form == Global && *name == path);
    found.map(|(_, name, ..)| *name)
}

impl Function {
    /// The numbers of arguments that it takes, with the operand.
    pub(crate) fn arguments(self) -> RangeInclusive<usize> {
        let mut functions = FUNCTIONS.iter();
        let found = functions.find(|(_, _, function, _)| *function == self);
        found.map_or(0..=0, |(.., arguments)| arguments.clone())
    }

    pub(crate) fn name(self) -> &'static str {
        let mut functions = FUNCTIONS.iter();
        let found = functions.find(|(_, _, function, _)| *function == self);
        found.map_or("", |(_, name, ..)| name)
    }

    /// Calls the function.
    pub(crate) fn call<'a>(
        self,
        arguments: &[Value<'a>],
        pattern: &Pattern,
        budget: &Budget,
    ) -> Evaluated<Value<'a>> {
        for argument in arguments {
            if let Some(text) = argument.as_str() {
                budget.bytes(text.len())?;
            }
        }
        let result = match self {
            Self::Size => size(arguments),
            Self::SetsContains | Self::SetsEquivalent | Self::SetsIntersects => {
                return sets::call(self, arguments, budget);
            }
            Self::Format => formatting::call(arguments, budget),
            Self::Time(part) => times::call(part, arguments),
            Self::ToBool
            | Self::ToBytes
            | Self::ToDouble
            | Self::ToDuration
            | Self::ToDyn
            | Self::ToInt
            | Self::ToString
            | Self::ToTimestamp
            | Self::ToType
            | Self::ToUint => conversions::call(self, arguments),
            Self::First
            | Self::HasValue
            | Self::Last
            | Self::OptionalNone
            | Self::OptionalOf
            | Self::OptionalOfNonZero
            | Self::Or
            | Self::OrValue
            | Self::Unwrap
            | Self::ValueOf => optionals::call(self, arguments, budget),
            _ => strings::call(self, arguments, pattern, budget),
        };
        result.unwrap_or_else(|| {
            let types: Vec<&str> = arguments.iter().map(Value::type_name).collect();
            Err(EvaluationError::no_overload(self.name(), &types))
        })
    }
}

/// The result of a function, or `None` if it has no meaning for its arguments.
type Called<'a> = Option<Evaluated<Value<'a>>>;

fn size<'a>(arguments: &[Value<'a>]) -> Called<'a> {
    let [value] = arguments else {
        return None;
    };
    let size = match value {
        Value::String(text) => text.as_str().chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(list) => list.len(),
        Value::Map(map) => map.len(),
        _ => return None,
    };
    Some(Ok(Value::Int(crate::value::count(size))))
}
