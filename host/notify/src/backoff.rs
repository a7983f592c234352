//! Waits after failed requests.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

use crate::limits::{RETRY_FIRST, RETRY_LONGEST};

/// The waits of one receiver.
#[derive(Debug)]
pub(crate) struct Backoff(ExponentialBackoff);

impl Default for Backoff {
    fn default() -> Self {
        let waits = ExponentialBuilder::default()
            .with_min_delay(RETRY_FIRST)
            .with_max_delay(RETRY_LONGEST)
            .with_factor(2.0)
            .without_max_times()
            .with_jitter();
        Self(waits.build())
    }
}

impl Backoff {
    /// The wait after one more failure.
    pub(crate) fn next(&mut self) -> Duration {
        self.0.next().unwrap_or(RETRY_LONGEST)
    }
}
