//! Verdicts and failures of an interpreter.

use std::borrow::Cow;

pub use kindsight_contract::Phase;

use crate::{State, states};

/// The verdict on one object: a declared state, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// One of the declared states.
    pub state: State,
    /// The reason, as one `CamelCase` word.
    pub reason: Cow<'static, str>,
    /// The message for users.
    pub message: Cow<'static, str>,
    /// Start time of this state according to the object, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// The time at which the object must be judged again although it did not change, in Unix
    /// milliseconds.
    pub recheck_at_ms: Option<i64>,
}

/// Makes a verdict with one of the shared states.
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
    /// Makes a verdict with any declared state. A text from the object must be a `String`. A text
    /// that is known at compile time needs no allocation.
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
        /// The object works as requested. Use it only with explicit evidence.
        ready => READY,
        /// The object has completed successfully and will not change any more.
        succeeded => SUCCEEDED,
        /// The object exists, and does not report whether it works.
        present => PRESENT,
        /// The object works, but has a problem that does not stop it.
        degraded => DEGRADED,
        /// The object is not ready yet.
        pending => PENDING,
        /// The object was stopped on purpose.
        suspended => SUSPENDED,
        /// The object will not become ready without a change by a user.
        failed => FAILED,
        /// The object is being deleted.
        terminating => TERMINATING,
        /// The state could not be determined.
        unknown => UNKNOWN,
    }

    /// Sets the start time of the state, from a time in the object such as a condition's transition
    /// time.
    #[must_use]
    pub fn since(mut self, since_ms: impl Into<Option<i64>>) -> Self {
        self.since_ms = since_ms.into();
        self
    }

    /// Requests another call at `at_ms` even if nothing changes, because the verdict depends on the
    /// time. The host calls at the earliest one second, and at the latest one day after this
    /// verdict.
    #[must_use]
    pub fn recheck_at(mut self, at_ms: i64) -> Self {
        self.recheck_at_ms = Some(at_ms);
        self
    }
}

/// The reason why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The interpreter does not judge the object, with the reason. The host calls the next less
    /// specific interpreter.
    Unsupported(Cow<'static, str>),
    /// The object is not valid for its Kind, with the reason.
    InvalidObject(String),
    /// The settings cannot be used, with the name of the setting and its valid values.
    InvalidSettings(String),
    /// The interpreter has an internal fault, with a description.
    Internal(String),
}

impl Failure {
    /// A failure for an object that this interpreter does not judge.
    pub fn unsupported(why: impl Into<Cow<'static, str>>) -> Self {
        Self::Unsupported(why.into())
    }
}
