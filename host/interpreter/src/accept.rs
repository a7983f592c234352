//! Checks of the answer of one call.

use std::borrow::Cow;
use std::sync::Arc;

use kindsight_model::{Verdict, clean};

use crate::bindings::{self, Failure};
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::limits::{MESSAGE_BYTES_MAX, REASON_BYTES_MAX};
use crate::memo::Answer;

/// Checks an answer against the contract and the component's own description.
pub(crate) fn accept(
    interpreter: &Interpreter,
    answer: Result<bindings::Verdict, Failure>,
) -> Result<Answer, Fault> {
    let verdict = match answer {
        Ok(verdict) => verdict,
        Err(Failure::Unsupported(why)) => return Ok(Answer::Unsupported(message(why).into())),
        Err(Failure::InvalidObject(what)) => return Err(Fault::InvalidObject(message(what))),
        Err(Failure::InvalidSettings(what)) => return Err(Fault::InvalidSettings(message(what))),
        Err(Failure::Internal(what)) => return Err(Fault::Internal(message(what))),
    };
    let Some(state) = interpreter.description().state(&verdict.state) else {
        let mut name = message(verdict.state);
        name.truncate(name.floor_char_boundary(80));
        return Err(Fault::UndeclaredState(name));
    };
    Ok(Answer::Verdict(Verdict {
        phase: state.phase,
        state: Arc::clone(&state.name),
        reason: clipped(verdict.reason, REASON_BYTES_MAX).into(),
        message: message(verdict.message).into(),
        since_ms: None,
        recheck_at_ms: verdict.recheck_at_ms,
        by: Some(Arc::clone(interpreter.by())),
    }))
}

/// Cuts a message to its limit, and cleans it.
fn message(text: String) -> String {
    clipped(text, MESSAGE_BYTES_MAX)
}

/// Cuts a text to a limit, and cleans it.
fn clipped(text: String, bytes_max: usize) -> String {
    match clean(&text, bytes_max) {
        Cow::Borrowed(whole) if whole.len() == text.len() => text,
        cleaned => cleaned.into_owned(),
    }
}
