//! Errors of TOML files, without the text of the file.

use std::fmt;

use crate::redaction::without_tokens;

/// The position and the problem of a text that is not the expected TOML.
///
/// The error of the parser displays the line, which may contain a token: `--tokens` and `--token-file` are easily
/// confused. This error does not display the line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TomlError {
    /// The number of the line and of the column, from 1.
    position: Option<(usize, usize)>,
    problem: String,
}

impl TomlError {
    /// An error of the parser about `text`.
    pub fn new(error: &toml::de::Error, text: &str) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        let position = before.map(|before| {
            let column = before.chars().rev().take_while(|char| *char != '\n');
            (before.matches('\n').count() + 1, column.count() + 1)
        });
        Self {
            position,
            problem: without_tokens(error.message()).into_owned(),
        }
    }
}

impl fmt::Display for TomlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_position_and_the_problem_but_not_the_line() {
        let error = |text: &str| {
            let error = toml::from_str::<toml::Table>(text).unwrap_err();
            TomlError::new(&error, text).to_string()
        };
        let text = error("a = 1\n  s3cret");
        assert!(text.starts_with("line 2, column "), "{text}");
        assert!(text.contains("expected `=`"), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
        let text = error("\u{e9} = s3cret");
        assert!(text.starts_with("line 1, column "), "{text}");
        assert!(!text.contains("s3cret"), "{text}");
    }
}
