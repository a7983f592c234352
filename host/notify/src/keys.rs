//! Keys in the store.
//!
//! ```text
//! /kindsight/notify/<receiver>/dead/<position>/     an event that was given up
//! /kindsight/notify/<receiver>/events/<position>/   an event that waits
//! /kindsight/notify/<receiver>/known/<digest>/      the last state of a subject
//! /kindsight/notify/<receiver>/scope/               the digest of the filter, once all present subjects are known
//! ```
//!
//! Changes are written in the order of their keys, in several batches if they are many. After a kill between two
//! batches, a reader finds a state that loses no event:
//!
//! - A dead letter is written before its event is removed: the event is tried again, and becomes the same dead letter.
//! - An event is written before the state that it leads to: a reader takes the state from the event.
//! - A merged event takes the position of the earliest of its events: a reader drops each event that follows an event
//!   of the same subject with a higher sequence number.
//! - The scope is written after all known states: without the scope, a reader takes all present states as known.

use kindsight_model::Digest;

use crate::subject::Subject;

/// The prefix of all keys of this crate.
pub(crate) const PREFIX: &str = "/kindsight/notify/";

/// The part of the store of one receiver.
#[derive(Debug, Clone)]
pub(crate) struct Keys(String);

/// A key of a receiver, without its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Dead(u64),
    Event(u64),
    Known,
    Scope,
}

impl Keys {
    pub(crate) fn of(receiver: &str) -> Self {
        Self(format!("{PREFIX}{receiver}/"))
    }

    /// The prefix of the dead letters.
    pub(crate) fn dead_letters(&self) -> String {
        format!("{}dead/", self.0)
    }

    /// The prefix of the events that wait.
    pub(crate) fn events(&self) -> String {
        format!("{}events/", self.0)
    }

    pub(crate) fn dead(&self, position: u64) -> String {
        format!("{}dead/{position:020}/", self.0)
    }

    pub(crate) fn event(&self, position: u64) -> String {
        format!("{}events/{position:020}/", self.0)
    }

    pub(crate) fn known(&self, subject: &Subject) -> String {
        // The text of a subject may have characters of any resource, and may be long.
        let digest = Digest::of(subject.to_string().as_bytes());
        let hex = digest.as_str().rsplit(':').next().unwrap_or_default();
        format!("{}known/{hex}/", self.0)
    }

    pub(crate) fn scope(&self) -> String {
        format!("{}scope/", self.0)
    }

    /// The meaning of a key; `None` for a key of another release.
    pub(crate) fn read(&self, key: &str) -> Option<Entry> {
        let key = key.strip_prefix(&self.0)?.strip_suffix('/')?;
        match key.split_once('/') {
            Some(("dead", position)) => position.parse().ok().map(Entry::Dead),
            Some(("events", position)) => position.parse().ok().map(Entry::Event),
            Some(("known", _)) => Some(Entry::Known),
            None if key == "scope" => Some(Entry::Scope),
            _ => None,
        }
    }
}

/// The receiver of a key.
pub(crate) fn receiver_of(key: &str) -> Option<&str> {
    key.strip_prefix(PREFIX)?.split('/').next()
}
