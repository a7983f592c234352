//! Checks of the answer of one call.

use std::borrow::Cow;
use std::sync::Arc;

use kindsight_contract::RECHECK_WITHOUT_TIME;
use kindsight_contract::limits::{MESSAGE_BYTES_MAX, REASON_BYTES_MAX};
use kindsight_model::{Verdict, clean};

use crate::bindings::{self, Failure};
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::memo::Answer;

/// Checks an answer against the contract and the component's own description. `now_ms` is the time
/// that the call received, if any.
pub(crate) fn accept(
    interpreter: &Interpreter,
    now_ms: Option<i64>,
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
    if verdict.recheck_at_ms.is_some() && now_ms.is_none() {
        return Err(Fault::InvalidAnswer(RECHECK_WITHOUT_TIME.to_owned()));
    }
    Ok(Answer::Verdict(Verdict {
        phase: state.phase,
        state: Arc::clone(&state.name),
        reason: clipped(verdict.reason, REASON_BYTES_MAX).into(),
        message: message(verdict.message).into(),
        since_ms: verdict.since_ms,
        recheck_at_ms: verdict.recheck_at_ms,
        by: Some(Arc::clone(interpreter.by())),
    }))
}

/// The verdict with a `since` time that is not after the present time. The memo keeps the time from
/// the component, because the answer of a Kind without a time is kept for all times.
pub(crate) fn dated(verdict: Verdict, now_ms: i64) -> Verdict {
    Verdict {
        since_ms: verdict.since_ms.map(|since_ms| since_ms.min(now_ms)),
        ..verdict
    }
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
