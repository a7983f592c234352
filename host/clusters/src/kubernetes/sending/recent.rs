//! Objects that this process applied just now, which the index of the cluster may not have yet.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Time after which the index of a cluster has an applied object, unless its watch hangs.
const KNOWN_FOR: Duration = Duration::from_secs(10);
/// Maximum number of objects. Each has a path, which is about 100 bytes.
const OBJECTS_MAX: usize = 10_000;

/// The paths of objects, with the time of their application.
#[derive(Default)]
pub(super) struct Recent(Mutex<BTreeMap<String, Instant>>);

impl Recent {
    /// Notes an application.
    pub(super) fn note(&self, path: &str, now: Instant) {
        let mut applied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if applied.len() >= OBJECTS_MAX {
            applied.retain(|_, at| now.duration_since(*at) < KNOWN_FOR);
        }
        if applied.len() < OBJECTS_MAX {
            applied.insert(path.to_owned(), now);
        }
    }

    /// Returns whether an object may have been applied just now.
    pub(super) fn may_have(&self, path: &str, now: Instant) -> bool {
        let applied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |at: &Instant| now.duration_since(*at) < KNOWN_FOR;
        applied.len() >= OBJECTS_MAX || applied.get(path).is_some_and(is_recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_recent_for_some_seconds() {
        let recent = Recent::default();
        let now = Instant::now();
        assert!(!recent.may_have("a", now));
        recent.note("a", now);
        assert!(recent.may_have("a", now));
        assert!(!recent.may_have("b", now));
        assert!(!recent.may_have("a", now + KNOWN_FOR));
    }

    #[test]
    fn every_object_may_be_recent_if_there_are_too_many() {
        let recent = Recent::default();
        let now = Instant::now();
        for number in 0..=OBJECTS_MAX {
            recent.note(&number.to_string(), now);
        }
        assert!(recent.may_have("other", now));
        recent.note("last", now + KNOWN_FOR);
        assert!(!recent.may_have("other", now + KNOWN_FOR));
    }
}
