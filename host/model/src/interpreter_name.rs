//! Names of interpreters.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::NameError;

/// The name of an interpreter: 1 to 63 lower-case letters, digits, `-` or `.`.
///
/// The one grammar of it: for what a component calls itself, for a path of the API and for the command
/// line. Cheap to clone; reads as the text it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct InterpreterName(Arc<str>);

impl InterpreterName {
    /// The longest name, in bytes: that of a Kubernetes label value.
    pub const BYTES_MAX: usize = 63;
    /// The grammar in words, for messages.
    pub const GRAMMAR: &str = "1 to 63 lower-case letters, digits, `-` or `.`";

    /// The name of a component that has not said its own yet.
    pub fn unnamed() -> Self {
        Self("unnamed".into())
    }

    /// The nearest name to a text, such as the stem of a file's name: in lower case, with `-` for what
    /// is not allowed, and cut to its length.
    pub fn from_lossy(text: &str) -> Self {
        let allowed = |byte: u8| match byte.to_ascii_lowercase() {
            byte if is_letter(byte) => char::from(byte),
            _ => '-',
        };
        let name: String = text.bytes().take(Self::BYTES_MAX).map(allowed).collect();
        if name.is_empty() {
            return Self::unnamed();
        }
        Self(name.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
}

impl FromStr for InterpreterName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if (1..=Self::BYTES_MAX).contains(&text.len()) && text.bytes().all(is_letter) {
            return Ok(Self(text.into()));
        }
        Err(NameError::NotAnInterpreter(text.to_owned()))
    }
}

impl TryFrom<String> for InterpreterName {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl Deref for InterpreterName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for InterpreterName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InterpreterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_lower_case_letters_digits_dashes_and_dots() {
        for good in ["a", "apps", "my-widgets.v1", "0", &"x".repeat(63)] {
            assert_eq!(good.parse::<InterpreterName>().unwrap().as_str(), good);
        }
        for bad in ["", "Apps", "a b", "a/b", "ä", "a_b", &"x".repeat(64)] {
            assert!(bad.parse::<InterpreterName>().is_err(), "{bad}");
            let near = InterpreterName::from_lossy(bad);
            assert_eq!(near.parse(), Ok(near), "{bad}");
        }
        let near = InterpreterName::from_lossy("My_Widgets v1");
        assert_eq!(near.as_str(), "my-widgets-v1");
    }
}
