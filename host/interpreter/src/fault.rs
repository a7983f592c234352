//! Faults of interpreters, and the verdicts that report them.

use std::sync::Arc;

use kindsight_model::{InterpretedBy, Verdict, clean};
use wasmtime::Trap;

use crate::limits::{FAULT_TEXT_BYTES_MAX, TABLE_ELEMENTS_MAX};

/// The reasons of [`Fault::reason`] that an interpreter is to blame for.
const FAULT_REASONS: [&str; 8] = [
    "InterpreterTimedOut",
    "InterpreterOutOfMemory",
    "InterpreterStackOverflow",
    "InterpreterTrapped",
    "InterpreterInvalidAnswer",
    "InterpreterAnswerTooLarge",
    "InterpreterUndeclaredState",
    "InterpreterFailed",
];

/// Part of the panic of `SystemTime::now` and `Instant::now` on `wasm32-unknown-unknown`.
const NO_CLOCK: &str = "time not implemented on this platform";
/// Advice beside a fault.
const INSTEAD_OF_CLOCK: &str = "std::time has no clock in an interpreter: take the time of judging from the input, `input.now_ms()` in the SDK";

/// Fault of one call. It costs exactly that verdict; the instance is dropped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Ran past its deadline.
    #[error("ran past its deadline of {0} ms of processor time")]
    TimedOut(u128),
    /// Asked for more memory or table elements than its limits.
    #[error(
        "asked for more than its limits of {0} bytes of memory and {TABLE_ELEMENTS_MAX} table elements"
    )]
    OutOfMemory(usize),
    /// Used up its stack.
    #[error("used up its stack")]
    StackOverflow,
    /// Trapped; carries the last line it logged as an error, which is where a panic's message goes.
    #[error("trapped: {0}")]
    Trapped(String),
    /// Answered with something the contract does not allow.
    #[error("answered with something the contract does not allow: {0}")]
    InvalidAnswer(String),
    /// Answered with more than the host accepts.
    #[error("answered with too much: {0}")]
    AnswerTooLarge(String),
    /// Answered with a state it did not declare.
    #[error("answered with state `{0}`, which it does not declare")]
    UndeclaredState(String),
    /// Reported a fault of its own.
    #[error("reports a fault of its own: {0}")]
    Internal(String),
    /// The object cannot be what it claims to be. Not a fault of the interpreter.
    #[error("cannot judge this object: {0}")]
    InvalidObject(String),
    /// Its settings cannot be used. Its operator's fault.
    #[error("cannot use its settings: {0}")]
    InvalidSettings(String),
}

impl Fault {
    /// True for a fault of the interpreter itself, and not of the object or of the operator's settings.
    pub(crate) fn is_interpreters(&self) -> bool {
        !matches!(self, Self::InvalidObject(_) | Self::InvalidSettings(_))
    }

    /// The verdict's reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::TimedOut(_) => "InterpreterTimedOut",
            Self::OutOfMemory(_) => "InterpreterOutOfMemory",
            Self::StackOverflow => "InterpreterStackOverflow",
            Self::Trapped(_) => "InterpreterTrapped",
            Self::InvalidAnswer(_) => "InterpreterInvalidAnswer",
            Self::AnswerTooLarge(_) => "InterpreterAnswerTooLarge",
            Self::UndeclaredState(_) => "InterpreterUndeclaredState",
            Self::Internal(_) => "InterpreterFailed",
            Self::InvalidObject(_) => "InvalidObject",
            Self::InvalidSettings(_) => "InvalidSettings",
        }
    }

    /// Returns whether a verdict's reason is that of an interpreter's fault. An object that could not be read is
    /// none.
    pub fn is_reason(reason: &str) -> bool {
        FAULT_REASONS.contains(&reason)
    }

    /// The verdict `Unknown`, with a message that names the interpreter and its fault.
    pub fn verdict(&self, by: &Arc<InterpretedBy>) -> Verdict {
        let message = format!("{} {self}", Self::message_prefix(by));
        Verdict::unknown(self.reason(), message).given_by(by)
    }

    /// Begin of the message of such a verdict.
    pub(crate) fn message_prefix(by: &InterpretedBy) -> String {
        format!("interpreter {}", by.label())
    }

    /// Classifies the error of a call; `last_error` is the last line the guest logged as an error.
    pub(crate) fn of_call(
        error: &wasmtime::Error,
        limits: CallLimits,
        last_error: Option<&str>,
    ) -> Self {
        if error.downcast_ref::<MemoryRefused>().is_some() {
            return Self::OutOfMemory(limits.memory_bytes);
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => Self::TimedOut(limits.deadline_ms),
            Some(Trap::StackOverflow) => Self::StackOverflow,
            Some(trap) => Self::Trapped(last_error.map_or_else(|| trap.to_string(), explained)),
            None => {
                let what = clean(&format!("{error:#}"), FAULT_TEXT_BYTES_MAX).into_owned();
                // wasmtime does not export the type of this error.
                if what.contains("fuel allocated for hostcalls") {
                    Self::AnswerTooLarge("more text than the host takes over".to_owned())
                } else {
                    Self::InvalidAnswer(what)
                }
            }
        }
    }
}

/// A panic's message, with the way out where it is std's about a clock.
fn explained(panic: &str) -> String {
    if panic.contains(NO_CLOCK) {
        format!("{panic} ({INSTEAD_OF_CLOCK})")
    } else {
        panic.to_owned()
    }
}

/// Limits of a call, for the text of its fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallLimits {
    pub(crate) deadline_ms: u128,
    pub(crate) memory_bytes: usize,
}

/// Raised by the memory limiter.
#[derive(Debug, thiserror::Error)]
#[error("over the memory limit")]
pub(crate) struct MemoryRefused;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_but_an_unreadable_object_has_a_reason_that_is_known_as_one() {
        let text = String::new;
        let faults = [
            Fault::TimedOut(1),
            Fault::OutOfMemory(1),
            Fault::StackOverflow,
            Fault::Trapped(text()),
            Fault::InvalidAnswer(text()),
            Fault::AnswerTooLarge(text()),
            Fault::UndeclaredState(text()),
            Fault::Internal(text()),
        ];
        let reasons: Vec<&str> = faults.iter().map(Fault::reason).collect();
        assert_eq!(reasons, FAULT_REASONS);
        assert!(!Fault::is_reason(Fault::InvalidObject(text()).reason()));
    }
}
