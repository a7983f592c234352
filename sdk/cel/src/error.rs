//! Errors of compilation and evaluation.

use crate::{DEPTH_MAX, EXPRESSION_BYTES_MAX};

/// The reason why a text is not an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The text is too long.
    #[error("the expression has {0} bytes, over the limit of {EXPRESSION_BYTES_MAX}")]
    TooLong(usize),
    /// The expression is nested too deeply: the position.
    #[error("column {0}: the expression is nested deeper than {DEPTH_MAX} levels")]
    TooDeep(usize),
    /// The text violates the syntax, or uses a name that does not exist: position and problem.
    #[error("column {0}: {1}")]
    Invalid(usize, String),
}

/// The reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// A variable does not exist.
    #[error("no such variable: {0}")]
    NoSuchVariable(String),
    /// A map has no such key.
    #[error("no such key: {0}")]
    NoSuchKey(String),
    /// A list has no such index.
    #[error("index out of range: {0}")]
    OutOfRange(i64),
    /// An operation has no meaning for values of these types.
    #[error("`{0}` is not defined for {1}")]
    NoSuchOverload(&'static str, String),
    /// A condition is not a boolean.
    #[error("expected true or false, the value is a {0}")]
    NotABool(&'static str),
    /// A number is too large or too small for its type.
    #[error("{0} overflow")]
    Overflow(&'static str),
    /// Division or modulus by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// A value cannot be used: the problem.
    #[error("{0}")]
    Invalid(String),
    /// A value of an optional was used, but there is none.
    #[error("the optional has no value")]
    NoValue,
    /// The steps are used up. No operator absorbs this error.
    #[error("the expression needs more steps than one verdict may use")]
    BudgetSpent,
}

/// Result of an evaluation.
pub(crate) type Evaluated<T> = Result<T, EvaluationError>;

impl EvaluationError {
    /// A function or an operator without a meaning for these types.
    pub(crate) fn no_overload(name: &'static str, types: &[&str]) -> Self {
        Self::NoSuchOverload(name, types.join(", "))
    }
}
