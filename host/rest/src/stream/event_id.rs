//! Ids of events. A client resumes a stream with the id of its last event.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// Id of one event of one stream. No two events have the same id, also after a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventId {
    /// Random for each process.
    epoch: u64,
    number: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.epoch, self.number)
    }
}

/// The error for a text that is not the id of an event.
#[derive(Debug)]
pub(super) struct NotAnEventId;

impl FromStr for EventId {
    type Err = NotAnEventId;

    fn from_str(text: &str) -> Result<Self, NotAnEventId> {
        let (epoch, number) = text.split_once('-').ok_or(NotAnEventId)?;
        Ok(Self {
            epoch: u64::from_str_radix(epoch, 16).map_err(|_| NotAnEventId)?,
            number: number.parse().map_err(|_| NotAnEventId)?,
        })
    }
}

/// The ids of the events of all streams of this process.
#[derive(Debug)]
pub(super) struct EventIds {
    epoch: u64,
    last: AtomicU64,
}

impl Default for EventIds {
    fn default() -> Self {
        Self {
            // Its keys are random.
            epoch: RandomState::new().build_hasher().finish(),
            last: AtomicU64::new(0),
        }
    }
}

impl EventIds {
    /// An id that no event has yet.
    pub(super) fn next(&self) -> EventId {
        EventId {
            epoch: self.epoch,
            number: self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_is_not_given_twice_nor_by_another_process() {
        let (one, other) = (EventIds::default(), EventIds::default());
        let first = one.next();
        let read: EventId = first.to_string().parse().unwrap_or_else(|_| one.next());
        assert_eq!(read, first);
        assert_ne!(one.next(), first);
        assert_ne!(other.next(), first);
    }

    #[test]
    fn the_generations_of_an_earlier_release_are_no_ids() {
        for text in ["7", "", "-", "what-7", "7-what"] {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }
}
