//! Refusals that were repeated a short time ago, so that the next one needs no repetition.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::link::Call;

/// Time for which a repeated refusal counts. A server that starts again in this time can refuse only what it refused
/// before.
const KNOWN_FOR: Duration = Duration::from_mins(1);
/// Maximum number of refusals. Each has a path, which is about 100 bytes.
const REFUSALS_MAX: usize = 256;

/// The requests that a refusal is about: of one account, for one folder of the API.
///
/// Each application asks for a Kind that a cluster may not serve (its ResourceBundleState), so without this memory each
/// application would wait for the repetition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Refused {
    method: String,
    account: Option<String>,
    /// The path without its last segment.
    folder: String,
    code: u16,
}

impl Refused {
    fn of(call: &Call<'_>, code: u16) -> Self {
        let path = call.path.split('?').next().unwrap_or_default();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        Self {
            method: call.method.to_string(),
            account: call.account.map(ToString::to_string),
            folder: folder.to_owned(),
            code,
        }
    }
}

/// Repeated refusals, with the time of the repetition.
#[derive(Default)]
pub(super) struct Refusals(Mutex<BTreeMap<Refused, Instant>>);

impl Refusals {
    /// Notes that a server repeated a refusal.
    pub(super) fn note(&self, call: &Call<'_>, code: u16, now: Instant) {
        let mut known = self.known();
        known.retain(|_, at| now.duration_since(*at) < KNOWN_FOR);
        if known.len() < REFUSALS_MAX {
            known.insert(Refused::of(call, code), now);
        }
    }

    /// Returns whether a server repeated the same refusal a short time ago.
    pub(super) fn has(&self, call: &Call<'_>, code: u16, now: Instant) -> bool {
        let known = self.known();
        let at = known.get(&Refused::of(call, code));
        at.is_some_and(|at| now.duration_since(*at) < KNOWN_FOR)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Refused, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubernetes::sending::link::JSON;

    #[test]
    fn a_refusal_is_known_for_a_minute_in_its_folder() {
        let refusals = Refusals::default();
        let now = Instant::now();
        let noted = Call::get("/apis/example.com/v1/widgets/a?x=/y", JSON, None);
        let beside = Call::get("/apis/example.com/v1/widgets/b", JSON, None);
        let apart = Call::get("/apis/example.com/v1/gadgets/a", JSON, None);
        let (forbidden, missing) = (403, 404);
        refusals.note(&noted, forbidden, now);
        assert!(refusals.has(&beside, forbidden, now));
        assert!(!refusals.has(&beside, missing, now));
        assert!(!refusals.has(&apart, forbidden, now));
        assert!(!refusals.has(&noted, forbidden, now + KNOWN_FOR));
    }

    #[test]
    fn the_number_of_refusals_is_limited() {
        let refusals = Refusals::default();
        let now = Instant::now();
        for number in 0..=REFUSALS_MAX {
            let path = format!("/{number}/a");
            refusals.note(&Call::get(&path, JSON, None), 403, now);
        }
        assert_eq!(refusals.known().len(), REFUSALS_MAX);
    }
}
