//! Checks of the answer of one call.

use std::borrow::Cow;
use std::sync::Arc;

use kindsight_model::{Verdict, clean};

use crate::bindings::{self, Failure};
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::limits::{EXTRAS_BYTES_MAX, MESSAGE_BYTES_MAX, REASON_BYTES_MAX};
use crate::memo::Answer;

/// Checks an answer against the contract and the component's own description.
pub(crate) fn accept(
    interpreter: &Interpreter,
    answer: Result<bindings::Verdict, Failure>,
) -> Result<Answer, Fault> {
    let verdict = match answer {
        Ok(verdict) => verdict,
        Err(Failure::Unsupported) => return Ok(Answer::Unsupported),
        Err(Failure::InvalidInput(what)) => return Err(Fault::InvalidInput(message(what))),
        Err(Failure::Internal(what)) => return Err(Fault::Internal(message(what))),
    };
    let Some(state) = interpreter.description().state(&verdict.state) else {
        let mut name = message(verdict.state);
        name.truncate(name.floor_char_boundary(80));
        return Err(Fault::UndeclaredState(name));
    };
    if verdict.reason.len() > REASON_BYTES_MAX {
        let what = format!(
            "a reason of {} bytes, {REASON_BYTES_MAX} are right",
            verdict.reason.len()
        );
        return Err(Fault::AnswerTooLarge(what));
    }
    if verdict
        .extras
        .as_ref()
        .is_some_and(|extras| extras.len() > EXTRAS_BYTES_MAX)
    {
        return Err(Fault::AnswerTooLarge(format!(
            "extras of over {EXTRAS_BYTES_MAX} bytes"
        )));
    }
    Ok(Answer::Verdict(Verdict {
        phase: state.phase,
        state: Arc::clone(&state.name),
        reason: message(verdict.reason).into(),
        message: message(verdict.message).into(),
        since_ms: None,
        recheck_at_ms: verdict.recheck_at_ms,
        by: Some(Arc::clone(interpreter.by())),
    }))
}

/// Truncates a text to its limit, and cleans it.
fn message(text: String) -> String {
    match clean(&text, MESSAGE_BYTES_MAX) {
        Cow::Borrowed(whole) if whole.len() == text.len() => text,
        cleaned => cleaned.into_owned(),
    }
}
