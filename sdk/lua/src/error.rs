//! Errors of scripts.

use crate::value::{Full, Value};

/// A script is not valid Lua.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct CompileError {
    /// The line in the script, from 1.
    pub line: u32,
    /// The error.
    pub what: String,
}

/// The end of a run without a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Failure {
    /// The script, the machine or a library raised an error. `pcall` returns its value.
    Raised(Value),
    /// The text of an error whose place is not known yet.
    Text(String),
    /// The run is over a limit. No `pcall` returns it.
    Limit(&'static str),
}

pub(crate) const OUT_OF_MEMORY: &str = "the script uses too much memory";
pub(crate) const OUT_OF_STEPS: &str = "the script runs too long";

impl From<Full> for Failure {
    fn from(_: Full) -> Self {
        Self::Limit(OUT_OF_MEMORY)
    }
}

impl Failure {
    pub(crate) fn text<T>(what: impl Into<String>) -> Result<T, Self> {
        Err(Self::Text(what.into()))
    }
}
