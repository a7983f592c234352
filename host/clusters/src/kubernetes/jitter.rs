//! Waiting times between attempts, spread so that watches do not retry at the same moment.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(20);

/// Waiting times that double from 200 ms to 20 s. Each is extended at random by up to its own length.
#[derive(Debug)]
pub(super) struct Backoff {
    waits: ExponentialBackoff,
    is_fresh: bool,
}

impl Default for Backoff {
    fn default() -> Self {
        let waits = ExponentialBuilder::new()
            .with_min_delay(FIRST)
            .with_max_delay(LONGEST)
            .without_max_times()
            .with_jitter();
        Self {
            waits: waits.build(),
            is_fresh: true,
        }
    }
}

impl Backoff {
    /// Returns whether there was no wait yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.is_fresh
    }

    /// The next waiting time.
    pub(super) fn next(&mut self) -> Duration {
        self.is_fresh = false;
        self.waits.next().unwrap_or(LONGEST)
    }
}

/// A time, extended at random by up to a half.
pub(super) fn jittered(time: Duration) -> Duration {
    time + time.mul_f64(fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_times_grow_to_a_limit() {
        let mut backoff = Backoff::default();
        assert!(backoff.is_fresh());
        let first = backoff.next();
        assert!(first >= FIRST && first <= FIRST * 2, "{first:?}");
        let last = (0..2_000).map(|_| backoff.next()).last().unwrap();
        assert!(last >= LONGEST && last <= LONGEST * 2, "{last:?}");
        assert!(!backoff.is_fresh());
    }

    #[test]
    fn a_time_is_extended_by_up_to_a_half() {
        let time = jittered(Duration::from_secs(50));
        let range = Duration::from_secs(50)..=Duration::from_secs(75);
        assert!(range.contains(&time), "{time:?}");
    }
}
