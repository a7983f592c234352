//! The result of a conversion.

use std::fmt;
use std::path::PathBuf;

use crate::SpliceError;

/// An interpreter that was made from the rules of another tool.
#[derive(Debug, Clone)]
pub struct Conversion {
    /// The component's bytes.
    pub component: Vec<u8>,
    /// Number of rules in it.
    pub rules: usize,
    /// Number of fixtures in it.
    pub fixtures: usize,
    /// The rules and cases that it does not contain, in the order of their origin.
    pub refused: Vec<Refused>,
}

/// A rule or case that was not converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its file, or its key in a `ConfigMap`.
    pub origin: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.reason)
    }
}

/// The reason why there is no interpreter.
#[derive(Debug, thiserror::Error)]
pub enum ConversionError {
    /// The input has no rule.
    #[error("no rule was found: {0}")]
    NoRules(&'static str),
    /// Every rule was refused. Contains the first reasons.
    #[error("no rule could be converted: {0}")]
    AllRefused(String),
    /// The interpreter's name is not valid.
    #[error("`{0}` is not a name: use 1 to 63 lower-case letters, digits, `-` or `.`")]
    Name(String),
    /// A text is not valid YAML.
    #[error("{0} is not valid YAML: {1}")]
    Yaml(String, String),
    /// A file or folder cannot be read.
    #[error("failed to read {0}")]
    Io(PathBuf, #[source] std::io::Error),
    /// A file or folder is over a limit.
    #[error("{0} is over a limit: {1}")]
    TooLarge(PathBuf, String),
    /// The rules do not fit into a component.
    #[error(transparent)]
    Splice(#[from] SpliceError),
}
