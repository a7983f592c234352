//! Names of interpreters.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::NameError;

/// The name of an interpreter: 1 to 63 lower-case letters, digits, `-` or `.`.
///
/// The same grammar applies to the name a component declares, to API paths and to the command line.
/// Cheap to clone; dereferences to its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct InterpreterName(Arc<str>);

impl InterpreterName {
    /// Maximum length in bytes, the same as for a Kubernetes label value.
    pub const BYTES_MAX: usize = 63;
    /// The grammar as text for messages.
    pub const GRAMMAR: &str = "1 to 63 lower-case letters, digits, `-` or `.`";

    /// Placeholder for a component that has not declared its name yet.
    pub fn unnamed() -> Self {
        Self("unnamed".into())
    }

    /// The nearest valid name to a text, such as a file stem: lower-cased, with `-` for characters that are
    /// not allowed, truncated to [`BYTES_MAX`](Self::BYTES_MAX).
    pub fn from_lossy(text: &str) -> Self {
        let allowed = |byte: u8| match byte.to_ascii_lowercase() {
            byte if is_allowed(byte) => char::from(byte),
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

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
}

impl FromStr for InterpreterName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        if (1..=Self::BYTES_MAX).contains(&text.len()) && text.bytes().all(is_allowed) {
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
