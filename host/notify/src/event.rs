//! Events and known states, as they are stored.

use std::sync::Arc;

use kindsight_model::Digest;
use kindsight_status::PhaseState;
use serde::{Deserialize, Serialize};

use crate::subject::Subject;

/// Number of hex digits of an id: 128 bits of a SHA-256.
const ID_DIGITS: usize = 32;

/// A state with its reason, and the time when the server noticed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Observed {
    /// `None` if the subject no longer exists.
    pub(crate) state: Option<PhaseState>,
    /// In Unix milliseconds.
    pub(crate) at_ms: i64,
    /// In one word; may be empty.
    pub(crate) reason: Arc<str>,
    /// A sentence of at most [`kindsight_status::TRANSITION_MESSAGE_BYTES_MAX`]; may be empty.
    pub(crate) message: Arc<str>,
}

impl Observed {
    /// The state of a subject that no longer exists.
    pub(crate) fn gone(at_ms: i64) -> Self {
        Self {
            state: None,
            at_ms,
            reason: "Gone".into(),
            message: "it no longer exists".into(),
        }
    }
}

/// The last state of a subject whose transition became an event, or was left out by the receiver's phases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    pub(crate) subject: Subject,
    #[serde(flatten)]
    pub(crate) observed: Observed,
    /// The sequence number of the last event about the subject; 0 if there was none.
    pub(crate) sequence: u64,
}

/// A transition of a subject, to be delivered. It does not change after it was stored, unless it is merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) id: String,
    /// Grows with each event of the receiver, across restarts.
    pub(crate) sequence: u64,
    pub(crate) subject: Subject,
    /// The state before; `None` if the subject is new.
    pub(crate) from: Option<PhaseState>,
    /// The time of the state before, in Unix milliseconds.
    pub(crate) from_at_ms: Option<i64>,
    /// The new state.
    pub(crate) to: Observed,
    /// Number of earlier events of the subject that are merged into this one.
    pub(crate) merged: u64,
    /// True if the receiver may have the event. Stored before each request to a receiver that does not know ids, and
    /// removed after a request that certainly failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_begun: bool,
}

impl Event {
    /// An event with its id. The id depends on the sequence number, which contains the time. So another store does not
    /// give the same id to another event.
    pub(crate) fn new(
        receiver: &str,
        sequence: u64,
        subject: Subject,
        known: Option<&Observed>,
        to: Observed,
    ) -> Self {
        let text = format!("{receiver} {sequence} {subject}");
        let digest = Digest::of(text.as_bytes());
        let hex = digest.as_str().rsplit(':').next().unwrap_or_default();
        Self {
            id: hex.get(..ID_DIGITS).unwrap_or(hex).to_owned(),
            sequence,
            subject,
            from: known.and_then(|known| known.state.clone()),
            from_at_ms: known.map(|known| known.at_ms),
            to,
            merged: 0,
            is_begun: false,
        }
    }

    /// The later event of the two, which begins with the state before the earlier event and counts it.
    pub(crate) fn merged_into(self, later: Self) -> Self {
        Self {
            from: self.from,
            from_at_ms: self.from_at_ms,
            merged: later.merged + self.merged + 1,
            is_begun: false,
            ..later
        }
    }
}

/// An event that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GivenUp {
    pub(crate) event: Event,
    pub(crate) attempts: u32,
    pub(crate) error: String,
}
