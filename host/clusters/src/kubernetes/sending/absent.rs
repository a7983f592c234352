//! Objects that did not exist when they were checked, so that their application does not look them up again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kindsight_model::DeploymentId;
use tokio::time::Instant;

/// Time for which an absence counts. Meanwhile, only this process knows of its own applications.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// Maximum number of known absences. Each has a path, which is about 100 bytes.
const KNOWN_MAX: usize = 10_000;

/// The deployment that looked an object up, and the time.
type Lookup = (DeploymentId, Instant);

/// Known absences, by the path of the object. The caller holds the lock of the object.
#[derive(Default)]
pub(super) struct Absent(Mutex<BTreeMap<String, Lookup>>);

impl Absent {
    /// Notes that a deployment found no object.
    pub(super) fn note(&self, path: &str, deployment: &DeploymentId, now: Instant) {
        let mut known = self.known();
        if known.len() >= KNOWN_MAX {
            known.retain(|_, (_, at)| now.duration_since(*at) < KNOWN_FOR);
        }
        if known.len() < KNOWN_MAX {
            known.insert(path.to_owned(), (deployment.clone(), now));
        }
    }

    /// Returns whether the object is known to be absent, and forgets it, because the caller changes the object. The lookup
    /// of another deployment does not count: that deployment must see this change.
    pub(super) fn take(&self, path: &str, deployment: &DeploymentId, now: Instant) -> bool {
        let known = self.known().remove(path);
        known.is_some_and(|(by, at)| by == *deployment && now.duration_since(at) < KNOWN_FOR)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Lookup>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absence_counts_once_for_some_seconds_and_for_its_deployment() {
        let absent = Absent::default();
        let (first, second) = ("7-front".parse().unwrap(), "8-front".parse().unwrap());
        let now = Instant::now();
        absent.note("a", &first, now);
        assert!(absent.take("a", &first, now));
        assert!(!absent.take("a", &first, now));
        absent.note("a", &first, now);
        assert!(!absent.take("a", &first, now + KNOWN_FOR));
        // The change of the first one is not known to the second one.
        absent.note("a", &second, now);
        assert!(!absent.take("a", &first, now));
        assert!(!absent.take("a", &second, now));
    }

    #[test]
    fn old_absences_give_room_for_new_ones() {
        let absent = Absent::default();
        let deployment = "7-front".parse().unwrap();
        let now = Instant::now();
        for number in 0..=KNOWN_MAX {
            absent.note(&number.to_string(), &deployment, now);
        }
        assert!(!absent.take(&KNOWN_MAX.to_string(), &deployment, now));
        absent.note("a", &deployment, now + KNOWN_FOR);
        assert!(absent.take("a", &deployment, now + KNOWN_FOR));
        assert!(absent.known().is_empty());
    }
}
