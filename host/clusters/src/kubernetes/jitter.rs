//! Waiting times between attempts, spread so that watches do not retry at the same moment.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(20);

/// Waiting times that double up to 20 s. Each is extended at random by up to a half.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    attempts: u32,
}

impl Backoff {
    /// Returns whether there was no wait yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.attempts == 0
    }

    /// The next waiting time.
    pub(super) fn next(&mut self) -> Duration {
        let doubled = FIRST.saturating_mul(2_u32.saturating_pow(self.attempts.min(10)));
        self.attempts = self.attempts.saturating_add(1);
        jittered(doubled.min(LONGEST))
    }
}

/// A time, extended at random by up to a half.
pub(super) fn jittered(time: Duration) -> Duration {
    // The seed of a hasher is random enough for this.
    let random = RandomState::new().hash_one(0_u8) % 512;
    let part = u32::try_from(random).unwrap_or_default();
    time.saturating_add(time.saturating_mul(part) / 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_times_grow_to_a_limit() {
        let mut backoff = Backoff::default();
        assert!(backoff.is_fresh());
        let first = backoff.next();
        assert!(first >= FIRST && first <= FIRST + FIRST / 2, "{first:?}");
        let last = (0..20).map(|_| backoff.next()).last().unwrap();
        assert!(last >= LONGEST && last <= LONGEST + LONGEST / 2, "{last:?}");
        assert!(!backoff.is_fresh());
    }
}
