//! Verdicts and failures of an interpreter.

use std::borrow::Cow;

pub use kindsight_contract::Phase;

use crate::{State, states};

/// Verdict on one object: a declared state, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// One of the declared states.
    pub state: State,
    /// Reason, in one `CamelCase` word.
    pub reason: Cow<'static, str>,
    /// Message for users.
    pub message: Cow<'static, str>,
    /// Time since when the object is in this state by its own record, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Time to judge again although nothing changed, in Unix milliseconds.
    pub recheck_at_ms: Option<i64>,
}

/// Builds the verdict with one of the shared states.
macro_rules! shorthand {
    ($($(#[$doc:meta])* $name:ident => $state:ident),+ $(,)?) => {$(
        $(#[$doc])*
        pub fn $name(
            reason: impl Into<Cow<'static, str>>,
            message: impl Into<Cow<'static, str>>,
        ) -> Self {
            Self::new(states::$state, reason, message)
        }
    )+};
}

impl Verdict {
    /// A verdict with any declared state. A text of the object is passed as a `String` of its own; one that
    /// is known when the interpreter is compiled costs nothing.
    pub fn new(
        state: State,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            state,
            reason: reason.into(),
            message: message.into(),
            since_ms: None,
            recheck_at_ms: None,
        }
    }

    shorthand! {
        /// Works as asked. For explicit evidence only.
        ready => READY,
        /// Has finished well and will not change by itself any more.
        succeeded => SUCCEEDED,
        /// Exists, and reports nothing about whether it works.
        present => PRESENT,
        /// Works, and something is wrong that does not stop it.
        degraded => DEGRADED,
        /// On its way.
        pending => PENDING,
        /// Stopped on purpose.
        suspended => SUSPENDED,
        /// Will not become ready unless somebody changes something.
        failed => FAILED,
        /// Being deleted.
        terminating => TERMINATING,
        /// Could not be determined.
        unknown => UNKNOWN,
    }

    /// Says since when it holds, from the object's own record, such as a condition's transition time.
    #[must_use]
    pub fn since(mut self, since_ms: impl Into<Option<i64>>) -> Self {
        self.since_ms = since_ms.into();
        self
    }

    /// Asks to be called again at `at_ms` although nothing changed: the verdict depends on the time. The
    /// host keeps to a second after this verdict at least, and a day at most.
    #[must_use]
    pub fn recheck_at(mut self, at_ms: i64) -> Self {
        self.recheck_at_ms = Some(at_ms);
        self
    }
}

/// Reason that there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Not an object this interpreter judges, and why; the host asks the next less specific one.
    Unsupported(Cow<'static, str>),
    /// The object cannot be what it claims to be; says what is wrong.
    InvalidObject(String),
    /// The settings cannot be used; says which one, and what would be right.
    InvalidSettings(String),
    /// The interpreter has a fault of its own; says which.
    Internal(String),
}

impl Failure {
    /// A failure for an object this interpreter does not judge.
    pub fn unsupported(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Unsupported(why.into())
    }
}
