//! What an interpreter answers.

use std::borrow::Cow;

pub use crate::bindings::kindsight::interpreter::types::Phase;

/// What is said of one object: a declared state, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// One of the declared states.
    pub state: Cow<'static, str>,
    /// Why, in one `CamelCase` word.
    pub reason: Cow<'static, str>,
    /// Why, for people.
    pub message: Cow<'static, str>,
    /// When to look again although nothing changed, in Unix milliseconds.
    pub look_again_at_ms: Option<i64>,
}

/// Builds the verdict with one of the shared states.
macro_rules! shorthand {
    ($($(#[$doc:meta])* $name:ident => $state:literal),+ $(,)?) => {$(
        $(#[$doc])*
        pub fn $name(reason: impl Into<String>, message: impl Into<String>) -> Self {
            Self::new($state, reason, message)
        }
    )+};
}

impl Verdict {
    /// A verdict with any declared state.
    pub fn new(
        state: impl Into<Cow<'static, str>>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            state: state.into(),
            reason: Cow::Owned(reason.into()),
            message: Cow::Owned(message.into()),
            look_again_at_ms: None,
        }
    }

    shorthand! {
        /// Works as asked. Say it on explicit evidence only.
        ready => "Ready",
        /// Has finished well and will not change by itself any more.
        succeeded => "Succeeded",
        /// Is there, and whether it works is not something it tells.
        present => "Present",
        /// On its way.
        pending => "Pending",
        /// Stopped on purpose.
        suspended => "Suspended",
        /// Will not become ready unless somebody changes something.
        failed => "Failed",
        /// Being deleted.
        terminating => "Terminating",
        /// Looked, and could not tell.
        unknown => "Unknown",
    }

    /// Asks to be called again at `at_ms` although nothing changed: the verdict depends on the time.
    #[must_use]
    pub fn look_again_at(mut self, at_ms: i64) -> Self {
        self.look_again_at_ms = Some(at_ms);
        self
    }
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Not an object this interpreter judges; the host asks the next less specific one.
    Unsupported,
    /// The object cannot be what it claims to be; says what is wrong.
    InvalidInput(String),
    /// The interpreter found itself at fault; says how.
    Internal(String),
}
