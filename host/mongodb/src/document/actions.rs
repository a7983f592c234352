//! Actions of a state.

use std::sync::Arc;

use jiff::Timestamp;
use kindsight_model::{ContextId, LifecycleState, StateAction, clean};
use mongodb::bson::{RawArray, RawBsonRef, RawDocument};

use super::values::{field, shown};
use crate::limits::{ACTIONS_MAX, SHOWN_BYTES_MAX};

/// The last actions of a state, oldest first.
pub(super) fn actions(
    items: &RawArray,
    faults: &mut Vec<String>,
) -> Result<Vec<StateAction>, String> {
    let mut actions = Vec::new();
    for item in items {
        let item = item.map_err(|_| "the BSON of its `actions` is broken".to_owned())?;
        let RawBsonRef::Document(item) = item else {
            faults.push(format!("an action is {} and was skipped", shown(&item)));
            continue;
        };
        let state = match state(item)? {
            Ok(state) => state,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        actions.push(StateAction {
            state,
            instance: context(item, "contextid", faults)?,
            time: time(item)?,
            revision: revision(item)?,
        });
    }
    if let Some(more @ 1..) = actions.len().checked_sub(ACTIONS_MAX) {
        actions.drain(..more);
        faults.push(format!(
            "{more} actions before the last {ACTIONS_MAX} are left out"
        ));
    }
    Ok(actions)
}

/// The state that an action led to, or the fault of an action without a valid state.
fn state(action: &RawDocument) -> Result<Result<LifecycleState, String>, String> {
    Ok(match field(action, "state")? {
        Some(RawBsonRef::String(word)) => {
            let mut states = LifecycleState::ALL.iter();
            states
                .find(|state| state.as_str() == word)
                .copied()
                .ok_or_else(|| {
                    let word = clean(word, SHOWN_BYTES_MAX);
                    format!("an action has the unknown state `{word}` and was skipped")
                })
        }
        Some(other) => Err(format!(
            "the state of an action is {}, so the action was skipped",
            shown(&other)
        )),
        None => Err("an action has no state and was skipped".to_owned()),
    })
}

/// The id of a context, or `None` if it is empty, as it is for an approval.
pub(super) fn context(
    document: &RawDocument,
    name: &str,
    faults: &mut Vec<String>,
) -> Result<Option<ContextId>, String> {
    let text = match field(document, name)? {
        None | Some(RawBsonRef::String("")) => return Ok(None),
        Some(RawBsonRef::String(text)) => text.to_owned(),
        Some(RawBsonRef::Int64(number)) => number.to_string(),
        Some(other) => {
            faults.push(format!("`{name}` is {} and was ignored", shown(&other)));
            return Ok(None);
        }
    };
    let id = text.parse().ok();
    if id.is_none() {
        let text = clean(&text, SHOWN_BYTES_MAX);
        faults.push(format!(
            "`{name}` is `{text}`, which is not a context id, and was ignored"
        ));
    }
    Ok(id)
}

/// The time in RFC 3339 format, or an empty text if the time is missing or is Go's zero value.
fn time(action: &RawDocument) -> Result<Arc<str>, String> {
    let time = match field(action, "timestamp")? {
        Some(RawBsonRef::DateTime(time)) => {
            Timestamp::from_millisecond(time.timestamp_millis()).ok()
        }
        Some(RawBsonRef::String(text)) => text.parse().ok(),
        _ => None,
    };
    let time = time.filter(|time| *time > Timestamp::UNIX_EPOCH);
    Ok(time.map(|time| time.to_string()).unwrap_or_default().into())
}

fn revision(action: &RawDocument) -> Result<i64, String> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a revision is a small whole number"
    )]
    let whole = |number: f64| if number.is_finite() { number as i64 } else { 0 };
    Ok(match field(action, "revision")? {
        Some(RawBsonRef::Int32(number)) => number.into(),
        Some(RawBsonRef::Int64(number)) => number,
        Some(RawBsonRef::Double(number)) => whole(number),
        _ => 0,
    })
}
