//! Faults of interpreters, and the verdicts that report them.

use std::sync::Arc;

use kindsight_model::{InterpretedBy, Verdict, clean};
use wasmtime::Trap;

use crate::limits::{FAULT_TEXT_BYTES_MAX, TABLE_ELEMENTS_MAX};

/// The values of [`Fault::reason`] for faults of the interpreter itself.
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

/// Part of the panic message of `SystemTime::now` and `Instant::now` on `wasm32-unknown-unknown`.
const NO_CLOCK: &str = "time not implemented on this platform";
/// The advice that is added to that message.
const INSTEAD_OF_CLOCK: &str = "std::time has no clock in an interpreter: take the time of judging from the input, `input.now_ms()` in the SDK";

/// A fault of one call. It affects only the verdict of that call, and the instance is dropped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The call ran past its deadline.
    #[error("ran past its deadline of {0} ms of processor time")]
    TimedOut(u128),
    /// The guest requested more memory or table elements than its limits.
    #[error(
        "asked for more than its limits of {0} bytes of memory and {TABLE_ELEMENTS_MAX} table elements"
    )]
    OutOfMemory(usize),
    /// The guest used up its stack.
    #[error("used up its stack")]
    StackOverflow,
    /// The guest trapped. Contains the last line that the guest logged as an error, such as the
    /// message of a panic.
    #[error("trapped: {0}")]
    Trapped(String),
    /// The answer is not permitted by the contract.
    #[error("answered with something the contract does not allow: {0}")]
    InvalidAnswer(String),
    /// The answer is larger than the host accepts.
    #[error("answered with too much: {0}")]
    AnswerTooLarge(String),
    /// The answer contains a state that the interpreter does not declare.
    #[error("answered with state `{0}`, which it does not declare")]
    UndeclaredState(String),
    /// The interpreter reported an internal fault.
    #[error("reported an internal fault: {0}")]
    Internal(String),
    /// The object is not valid for its Kind. Not a fault of the interpreter.
    #[error("cannot judge this object: {0}")]
    InvalidObject(String),
    /// The interpreter cannot use its settings. This is the responsibility of the operator.
    #[error("cannot use its settings: {0}")]
    InvalidSettings(String),
}

impl Fault {
    /// True if the interpreter itself has the fault, and not the object or the operator's settings.
    pub(crate) fn is_interpreters(&self) -> bool {
        !matches!(self, Self::InvalidObject(_) | Self::InvalidSettings(_))
    }

    /// The reason in the verdict.
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

    /// Returns whether a verdict's reason reports a fault of the interpreter. The reason for an
    /// unreadable object does not.
    pub fn is_reason(reason: &str) -> bool {
        FAULT_REASONS.contains(&reason)
    }

    /// The verdict `Unknown`, with a message that names the interpreter and its fault.
    pub fn verdict(&self, by: &Arc<InterpretedBy>) -> Verdict {
        let message = format!("{} {self}", Self::message_prefix(by));
        Verdict::unknown(self.reason(), message).given_by(by)
    }

    /// The beginning of the message of such a verdict.
    pub(crate) fn message_prefix(by: &InterpretedBy) -> String {
        format!("interpreter {}", by.label())
    }

    /// Classifies the error of a call. `last_error` is the last line that the guest logged as an
    /// error.
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
                    Self::AnswerTooLarge("more text than the host accepts".to_owned())
                } else {
                    Self::InvalidAnswer(what)
                }
            }
        }
    }
}

/// The message of a panic. If it is the panic of std's missing clock, advice is added.
fn explained(panic: &str) -> String {
    if panic.contains(NO_CLOCK) {
        format!("{panic} ({INSTEAD_OF_CLOCK})")
    } else {
        panic.to_owned()
    }
}

/// The limits of a call, for the text of a fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallLimits {
    pub(crate) deadline_ms: u128,
    pub(crate) memory_bytes: usize,
}

/// The error that the memory limiter returns.
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
