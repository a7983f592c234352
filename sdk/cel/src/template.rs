//! Texts with expressions in `${…}`.

use crate::functions::shown;
use crate::literal;
use crate::{Budget, CompileError, EvaluationError, ItemParts, Program, Shape, Variables};

/// A text with expressions in `${…}`. `$${` is the text `${`.
#[derive(Debug)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Expression(Program),
}

impl Template {
    /// Compiles a template.
    ///
    /// # Errors
    /// If an expression is invalid, or a `}` is missing. The column of the error counts from the
    /// start of the template.
    pub fn compile(text: &str) -> Result<Self, CompileError> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(found) = text.get(at..).and_then(|rest| rest.find("${")) {
            let start = at + found;
            let before = text.get(at..start).unwrap_or_default();
            if let Some(before) = before.strip_suffix('$') {
                plain.push_str(before);
                plain.push_str("${");
                at = start + 2;
                continue;
            }
            plain.push_str(before);
            let body = text.get(start + 2..).unwrap_or_default();
            let length = end_of(body).ok_or_else(|| {
                CompileError::Invalid(start + 1, "the closing `}` is missing".to_owned())
            })?;
            let program = Program::compile(body.get(..length).unwrap_or_default());
            let program = program.map_err(|error| moved(error, start + 2))?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Expression(program));
            at = start + 2 + length + 1;
        }
        plain.push_str(text.get(at..).unwrap_or_default());
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// The text with the values of its expressions. A string is inserted as it is, every other value
    /// as `%s` formats it.
    ///
    /// # Errors
    /// If an expression has no value, or the budget is spent.
    pub fn evaluate<'a>(
        &'a self,
        variables: &dyn Variables<'a>,
        budget: &Budget,
    ) -> Result<String, EvaluationError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Expression(program) => {
                    let value = program.evaluate(variables, budget)?;
                    text.push_str(&shown(&value, budget)?);
                }
            }
        }
        Ok(text)
    }

    /// Adds the JSON pointers that its expressions read, as [`Program::pointers`] does.
    pub fn pointers(&self, pointers: &mut Vec<String>) {
        for part in &self.parts {
            if let Part::Expression(program) = part {
                program.pointers(pointers);
            }
        }
    }

    /// Adds the parts of the items of lists that its expressions read, as [`Program::read_item_parts`] does.
    pub fn read_item_parts(&self, variables: &dyn Fn(&str) -> Shape, parts: &mut ItemParts) {
        for part in &self.parts {
            if let Part::Expression(program) = part {
                program.read_item_parts(variables, parts);
            }
        }
    }
}

/// The position of the `}` that ends an expression. Braces in strings and in maps do not end it.
fn end_of(body: &str) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        let rest = body.get(at..)?;
        let character = rest.chars().next()?;
        if let Some((_, length)) = literal::quoted(rest).ok()? {
            at += length;
            continue;
        }
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        at += character.len_utf8();
    }
}

/// The same error, with its column counted from the start of the template.
fn moved(error: CompileError, by: usize) -> CompileError {
    match error {
        CompileError::TooDeep(column) => CompileError::TooDeep(column + by),
        CompileError::Invalid(column, what) => CompileError::Invalid(column + by, what),
        CompileError::TooLong(bytes) => CompileError::TooLong(bytes),
    }
}
