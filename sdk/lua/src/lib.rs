//! A Lua machine for health scripts.
//!
//! script -> tokens -> **instructions**, once; object + instructions -> machine -> result, at each call
//!
//! The language is Lua 5.1 with `goto`, and numbers, texts and errors are as in gopher-lua, which Argo
//! CD and Karmada use. There is no input or output, no `debug`, no loading of code, no coroutine, no
//! environment (`_G`, `setfenv`) and no random number. Each run has limits of instructions, memory and
//! depth (`limits.rs`): a script over a limit ends with an error and never with a trap.

mod compiler;
mod error;
mod lexer;
mod libraries;
mod limits;
mod machine;
mod number;
mod pattern;
mod program;
pub mod rules;
mod scope;
mod table;
#[cfg(test)]
mod tests;
mod value;

use kindsight_contract::Node;

pub use error::CompileError;
pub use limits::{MEMORY_BYTES_MAX, SCRIPT_BYTES_MAX, STEPS_MAX};

use error::Failure;
use machine::{Machine, type_name};
use program::Program;
use value::{StringId, Value};

/// The libraries that a script can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Libraries {
    /// The base functions, `table`, `os.time` and `os.date`.
    Base,
    /// Also `string`, with methods of texts, and `math`.
    StringAndMath,
}

impl Libraries {
    pub(crate) fn has_string(self) -> bool {
        self == Self::StringAndMath
    }
}

/// A compiled script.
#[derive(Debug)]
pub struct Script(Program);

/// The input of a run.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The object, which scripts of Argo CD find in the global variable `obj`.
    pub object: Node<'a>,
    /// The libraries that the script can use.
    pub libraries: Libraries,
    /// The time of `os.time` and `os.date`, in Unix milliseconds.
    pub now_ms: i64,
}

/// The health that a script of Argo CD states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// The script returned `nil` or an empty table: it assesses no health.
    None,
    /// The members `status` and `message` of the returned table, whose keys may have capital letters; an
    /// absent member is empty.
    Stated {
        /// The status, which may be any word.
        status: String,
        /// The message.
        message: String,
    },
}

/// The error of a script in a run, with its line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RunError(String);

impl Script {
    /// Compiles a script.
    ///
    /// # Errors
    /// The first error with its line.
    pub fn compile(source: &str) -> Result<Self, CompileError> {
        compiler::compile(source.as_bytes()).map(Self)
    }

    /// Whether the script names the library `os`, so that its results depend on the time.
    pub fn uses_time(&self) -> bool {
        let named = self.0.globals.iter().any(|name| name == "os");
        named || self.0.strings.iter().any(|text| **text == *b"os")
    }

    /// Whether the script defines or uses a global variable.
    pub fn names(&self, global: &str) -> bool {
        self.0.globals.iter().any(|name| name == global)
    }

    /// Runs a health script of Argo CD: it finds the object in `obj` and returns a table with `status`
    /// and `message`.
    ///
    /// # Errors
    /// The error of the script, or its limit.
    pub fn health(&self, input: &Input<'_>) -> Result<Health, RunError> {
        let mut machine = Machine::new(&self.0, input.libraries, seconds(input.now_ms));
        let result = object(&mut machine, input.object).and_then(|object| {
            machine.set_globals(&[("obj", object)])?;
            let result = machine.run_script()?;
            health(&mut machine, result)
        });
        result.map_err(|failure| run_error(&machine, &failure))
    }

    /// Runs a script of Karmada: it defines a function of this name, which receives the object and
    /// returns a boolean.
    ///
    /// # Errors
    /// The error of the script, its limit, or another type of result.
    pub fn decision(&self, function: &str, input: &Input<'_>) -> Result<bool, RunError> {
        let mut machine = Machine::new(&self.0, input.libraries, seconds(input.now_ms));
        let result = object(&mut machine, input.object).and_then(|object| {
            machine.set_globals(&[])?;
            machine.run_script()?;
            let callee = machine.global(function);
            match machine.call_for_one(callee, &[object])? {
                Value::Bool(value) => Ok(value),
                other => {
                    let what = type_name(other);
                    Failure::text(format!("{function} returned a {what} and not a boolean"))
                }
            }
        });
        result.map_err(|failure| run_error(&machine, &failure))
    }
}

fn seconds(ms: i64) -> i64 {
    ms.div_euclid(1000)
}

fn object<'a>(machine: &mut Machine<'a>, node: Node<'a>) -> Result<Value, Failure> {
    Ok(machine.heap.json(node)?)
}

fn health(machine: &mut Machine<'_>, result: Value) -> Result<Health, Failure> {
    let table = match result {
        Value::Nil => return Ok(Health::None),
        Value::Table(table) => table,
        other => {
            let what = type_name(other);
            return Failure::text(format!("the script returned a {what} and not a table"));
        }
    };
    let opened = machine.heap.opened(table)?;
    if opened.length() > 0 {
        return Failure::text("the script returned a list and not a table with `status`");
    }
    if opened.entries.iter().all(|(_, value)| *value == Value::Nil) {
        return Ok(Health::None);
    }
    let [status, message] = ["status", "message"].map(|name| member(machine, table, name));
    Ok(Health::Stated {
        status: status?,
        message: message?,
    })
}

/// A text of the result.
///
/// Argo CD reads the result with Go's `encoding/json`: the case of letters in a key does not matter, and
/// of several such keys, the last one in the order of bytes counts: `status` and not `Status`.
fn member(machine: &mut Machine<'_>, table: value::TableId, name: &str) -> Result<String, Failure> {
    let entries = machine.heap.opened(table)?.entries.clone();
    let keyed = entries.iter().filter_map(|(key, value)| match key {
        Value::String(key) if *value != Value::Nil => Some((machine.heap.text(*key), *value)),
        _ => None,
    });
    let named = keyed.filter(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes()));
    let last = named.max_by_key(|(key, _)| *key);
    match last.map_or(Value::Nil, |(_, value)| value) {
        Value::Nil => Ok(String::new()),
        Value::String(text) => Ok(lossy(machine, text)),
        other => {
            let what = type_name(other);
            Failure::text(format!(
                "`{name}` of the result is a {what} and not a string"
            ))
        }
    }
}

fn lossy(machine: &Machine<'_>, text: StringId) -> String {
    String::from_utf8_lossy(machine.heap.text(text)).into_owned()
}

/// The text of an error, as Argo CD shows it.
fn run_error(machine: &Machine<'_>, failure: &Failure) -> RunError {
    RunError(match failure {
        Failure::Text(what) => what.clone(),
        Failure::Limit(what) => (*what).to_owned(),
        Failure::Raised(Value::String(text)) => lossy(machine, *text),
        Failure::Raised(Value::Number(value)) => number::print(*value),
        Failure::Raised(other) => format!("an error value of type {}", type_name(*other)),
    })
}
