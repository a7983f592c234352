//! The libraries: their names, and the arguments of their functions.

mod base;
mod math;
mod os;
mod string;
mod table;

use crate::error::Failure;
use crate::machine::{Machine, type_name};
use crate::number;
use crate::value::{Builtin, Value};

const BASE: &[(&str, Builtin)] = &[
    ("assert", Builtin::Assert),
    ("error", Builtin::Error),
    ("getmetatable", Builtin::GetMetatable),
    ("ipairs", Builtin::Ipairs),
    ("next", Builtin::Next),
    ("pairs", Builtin::Pairs),
    ("pcall", Builtin::Pcall),
    ("print", Builtin::Print),
    ("rawequal", Builtin::RawEqual),
    ("rawget", Builtin::RawGet),
    ("rawset", Builtin::RawSet),
    ("require", Builtin::Require),
    ("select", Builtin::Select),
    ("setmetatable", Builtin::SetMetatable),
    ("tonumber", Builtin::ToNumber),
    ("tostring", Builtin::ToString),
    ("type", Builtin::Type),
    ("unpack", Builtin::Unpack),
    ("xpcall", Builtin::Xpcall),
];

const TABLE: &[(&str, Builtin)] = &[
    ("concat", Builtin::TableConcat),
    ("getn", Builtin::TableLength),
    ("insert", Builtin::TableInsert),
    ("maxn", Builtin::TableMaxN),
    ("remove", Builtin::TableRemove),
    ("sort", Builtin::TableSort),
];

const OS: &[(&str, Builtin)] = &[("date", Builtin::OsDate), ("time", Builtin::OsTime)];

const STRING: &[(&str, Builtin)] = &[
    ("byte", Builtin::StringByte),
    ("char", Builtin::StringChar),
    ("find", Builtin::StringFind),
    ("format", Builtin::StringFormat),
    ("gfind", Builtin::StringGmatch),
    ("gmatch", Builtin::StringGmatch),
    ("gsub", Builtin::StringGsub),
    ("len", Builtin::StringLen),
    ("lower", Builtin::StringLower),
    ("match", Builtin::StringMatch),
    ("rep", Builtin::StringRep),
    ("reverse", Builtin::StringReverse),
    ("sub", Builtin::StringSub),
    ("upper", Builtin::StringUpper),
];

const MATH: &[(&str, Builtin)] = &[
    ("abs", Builtin::MathAbs),
    ("acos", Builtin::MathAcos),
    ("asin", Builtin::MathAsin),
    ("atan", Builtin::MathAtan),
    ("atan2", Builtin::MathAtan2),
    ("ceil", Builtin::MathCeil),
    ("cos", Builtin::MathCos),
    ("cosh", Builtin::MathCosh),
    ("deg", Builtin::MathDeg),
    ("exp", Builtin::MathExp),
    ("floor", Builtin::MathFloor),
    ("fmod", Builtin::MathFmod),
    ("frexp", Builtin::MathFrexp),
    ("ldexp", Builtin::MathLdexp),
    ("log", Builtin::MathLog),
    ("log10", Builtin::MathLog10),
    ("max", Builtin::MathMax),
    ("min", Builtin::MathMin),
    ("mod", Builtin::MathMod),
    ("modf", Builtin::MathModf),
    ("pow", Builtin::MathPow),
    ("rad", Builtin::MathRad),
    ("sin", Builtin::MathSin),
    ("sinh", Builtin::MathSinh),
    ("sqrt", Builtin::MathSqrt),
    ("tan", Builtin::MathTan),
    ("tanh", Builtin::MathTanh),
];

/// The first value of a global variable.
pub(crate) fn global(machine: &mut Machine<'_>, name: &str) -> Result<Value, Failure> {
    if let Some((_, builtin)) = BASE.iter().find(|(base, _)| *base == name) {
        return Ok(Value::Builtin(*builtin));
    }
    if name == "_VERSION" {
        return Ok(machine.heap.borrowed(b"Lua 5.1"));
    }
    library(machine, name)
}

/// The table of a library, or `nil`.
fn library(machine: &mut Machine<'_>, name: &str) -> Result<Value, Failure> {
    let has_all = machine.libraries.has_string();
    match name {
        "table" => of_functions(machine, TABLE),
        "os" => of_functions(machine, OS),
        "string" if has_all => machine.string_library(),
        "math" if has_all => math_table(machine),
        _ => Ok(Value::Nil),
    }
}

/// The table of the library `string`.
pub(crate) fn string_table(machine: &mut Machine<'_>) -> Result<Value, Failure> {
    of_functions(machine, STRING)
}

fn math_table(machine: &mut Machine<'_>) -> Result<Value, Failure> {
    let library = of_functions(machine, MATH)?;
    // As in gopher-lua, `huge` is the largest finite number.
    for (name, value) in [("pi", std::f64::consts::PI), ("huge", f64::MAX)] {
        let name = machine.heap.borrowed(name.as_bytes());
        machine.raw_set(library, name, Value::Number(value))?;
    }
    Ok(library)
}

fn of_functions(
    machine: &mut Machine<'_>,
    functions: &'static [(&'static str, Builtin)],
) -> Result<Value, Failure> {
    let library = machine.heap.table()?;
    for (name, function) in functions {
        let name = machine.heap.borrowed(name.as_bytes());
        machine.heap.set(library, name, Value::Builtin(*function))?;
    }
    Ok(Value::Table(library))
}

/// Calls a function of a library, whose arguments begin at `from` and end with the stack. Its results
/// are the last values of the stack; returns the place where they begin.
pub(crate) fn call(
    machine: &mut Machine<'_>,
    builtin: Builtin,
    from: usize,
) -> Result<usize, Failure> {
    let mut arguments = Arguments { machine, from };
    let results = arguments.machine.stack.len();
    if let Some(value) = math::call(&mut arguments, builtin)? {
        arguments.machine.push(Value::Number(value));
        return Ok(results);
    }
    match builtin {
        Builtin::TableConcat
        | Builtin::TableInsert
        | Builtin::TableMaxN
        | Builtin::TableRemove
        | Builtin::TableSort
        | Builtin::TableLength => table::call(&mut arguments, builtin)?,
        Builtin::OsDate | Builtin::OsTime => os::call(&mut arguments, builtin)?,
        Builtin::MathFrexp | Builtin::MathModf => math::call_for_two(&mut arguments, builtin)?,
        _ => {
            if !base::call(&mut arguments, builtin)? {
                string::call(&mut arguments, builtin)?;
            }
        }
    }
    Ok(results)
}

/// The arguments of a call.
pub(crate) struct Arguments<'m, 'a> {
    pub(crate) machine: &'m mut Machine<'a>,
    from: usize,
}

impl Arguments<'_, '_> {
    /// Number of arguments. Only before the first result.
    fn count(&self) -> usize {
        self.machine.stack.len().saturating_sub(self.from)
    }

    /// The argument at a position from 1. An absent argument reads as `nil`.
    fn get(&self, position: usize) -> Value {
        let value = self.machine.stack.get(self.from + position - 1);
        value.copied().unwrap_or(Value::Nil)
    }

    /// All arguments from a position on.
    fn rest(&self, position: usize) -> Vec<Value> {
        let rest = self.machine.stack.get(self.from + position - 1..);
        rest.unwrap_or_default().to_vec()
    }

    fn bad<T>(&self, position: usize, expected: &str) -> Result<T, Failure> {
        let what = type_name(self.get(position));
        Failure::text(format!(
            "bad argument #{position} ({expected} expected, got {what})"
        ))
    }

    fn any(&self, position: usize) -> Result<Value, Failure> {
        if position > self.count() {
            return Failure::text(format!("bad argument #{position} (value expected)"));
        }
        Ok(self.get(position))
    }

    fn number(&self, position: usize) -> Result<f64, Failure> {
        match self.machine.to_number(self.get(position)) {
            Some(value) => Ok(value),
            None => self.bad(position, "number"),
        }
    }

    /// A whole number; a fraction is cut. As in gopher-lua, a text with a number is an error.
    fn whole(&self, position: usize) -> Result<i64, Failure> {
        match self.get(position) {
            Value::Number(value) => Ok(number::truncated(value)),
            _ => self.bad(position, "number"),
        }
    }

    fn whole_or(&self, position: usize, default: i64) -> Result<i64, Failure> {
        match self.get(position) {
            Value::Nil => Ok(default),
            _ => self.whole(position),
        }
    }

    /// The bytes of a text or a number.
    fn text(&self, position: usize) -> Result<Vec<u8>, Failure> {
        match self.machine.as_text(self.get(position)) {
            Some(text) => Ok(text),
            None => self.bad(position, "string"),
        }
    }

    fn table(&self, position: usize) -> Result<crate::value::TableId, Failure> {
        match self.get(position) {
            Value::Table(table) => Ok(table),
            _ => self.bad(position, "table"),
        }
    }

    fn give(&mut self, value: Value) {
        self.machine.push(value);
    }

    fn give_number(&mut self, value: f64) {
        self.give(Value::Number(value));
    }

    fn give_text(&mut self, text: Vec<u8>) -> Result<(), Failure> {
        self.machine.work(text.len())?;
        let value = self.machine.heap.string(text)?;
        self.give(value);
        Ok(())
    }
}
