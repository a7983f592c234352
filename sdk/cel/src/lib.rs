//! The [Common Expression Language](https://github.com/google/cel-spec) (CEL) over objects of the
//! kindsight contract.
//!
//! ```text
//! text ─▶ Program::compile ─▶ Program ─▶ Program::evaluate(&Variables) ─▶ Value
//!                                    └─▶ Program::pointers ─▶ the fields of the object that it reads
//! ```
//!
//! Semantics and functions are the same as in cel-go with the environment of Flux
//! (`github.com/fluxcd/pkg/runtime/cel`): no type checker, optional values, and the extensions for
//! strings, sets and encoders. `docs/declarative.md` lists the differences.
//!
//! An expression reads the nodes of a document in place. It converts only the values that it
//! touches. The crate uses no clock and no I/O. Every evaluation is bounded by a [`Budget`].
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod budget;
mod error;
mod evaluate;
mod expression;
mod functions;
mod items;
mod lexer;
mod literal;
mod parser;
mod pointers;
mod template;
mod time;
mod value;

pub use budget::{Budget, STEPS_MAX};
pub use error::{CompileError, EvaluationError};
pub use evaluate::Variables;
pub use items::{ItemParts, Shape};
pub use parser::{DEPTH_MAX, EXPRESSION_BYTES_MAX};
pub use template::Template;
pub use time::Timestamp;
pub use value::{List, Map, Text, Value};

#[cfg(test)]
mod tests;

use expression::Expression;

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    text: String,
    root: Expression,
}

impl Program {
    /// Compiles an expression.
    ///
    /// # Errors
    /// If the text is not a valid expression, calls an unknown function, or is over a limit. The
    /// error names the position.
    pub fn compile(text: &str) -> Result<Self, CompileError> {
        Ok(Self {
            text: text.to_owned(),
            root: parser::parse(text)?,
        })
    }

    /// The text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// If a value has the wrong type or is missing, or if the budget is spent.
    pub fn evaluate<'a>(
        &'a self,
        variables: &dyn Variables<'a>,
        budget: &Budget,
    ) -> Result<Value<'a>, EvaluationError> {
        evaluate::evaluate(&self.root, variables, budget)
    }

    /// Evaluates the expression as a condition.
    ///
    /// # Errors
    /// The same as [`Self::evaluate`], and if the result is not a boolean.
    pub fn is_true<'a>(
        &'a self,
        variables: &dyn Variables<'a>,
        budget: &Budget,
    ) -> Result<bool, EvaluationError> {
        match self.evaluate(variables, budget)? {
            Value::Bool(flag) => Ok(flag),
            other => Err(EvaluationError::NotABool(other.type_name())),
        }
    }

    /// Adds the JSON pointers of the values that the expression reads to `pointers`. The first
    /// token of a pointer is the name of a variable.
    ///
    /// With only these values in its variables, the expression gives the same result. A list or a
    /// map over which a macro iterates, or with a key that is not a literal, is read completely.
    pub fn pointers(&self, pointers: &mut Vec<String>) {
        pointers::collect(&self.root, pointers);
    }

    /// Adds the parts of the items of lists that the evaluation reads to `parts`, and returns the shape of the value.
    /// `variables` gives the shapes of the variables.
    ///
    /// If the value of the expression is read too, as the value of a condition is, [`Self::read_item_parts`] adds it.
    /// Called only when rules are checked, never when an object is judged.
    pub fn item_parts(&self, variables: &dyn Fn(&str) -> Shape, parts: &mut ItemParts) -> Shape {
        items::Follower::new(variables, parts).shape(&self.root)
    }

    /// The same as [`Self::item_parts`], with the value of the expression.
    pub fn read_item_parts(&self, variables: &dyn Fn(&str) -> Shape, parts: &mut ItemParts) {
        let mut follower = items::Follower::new(variables, parts);
        let value = follower.shape(&self.root);
        follower.read(value);
    }
}

/// The JSON pointers without those below another pointer, in order.
pub fn without_parts(pointers: &mut Vec<String>) {
    pointers::reduce(pointers);
}
