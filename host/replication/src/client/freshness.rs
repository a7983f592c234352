//! The time for which an upstream host may be silent.

use std::time::Duration;

use kindsight_status::Staleness;
use tokio::time::{Instant, sleep_until};

/// Time without a complete batch after which the state of an upstream host is stale: three heartbeats.
pub const SILENT_MAX: Duration = Duration::from_secs(6);

/// Freshness of the state of an upstream host.
#[derive(Debug)]
pub(super) struct Freshness {
    clock: fn() -> i64,
    /// Time of the last complete batch, in Unix milliseconds.
    proven_ms: i64,
    /// When the state becomes stale; `None` if it is stale, or if there is none yet.
    expires: Option<Instant>,
    /// The last failure since the last batch.
    failure: Option<String>,
}

impl Freshness {
    pub(super) fn new(clock: fn() -> i64) -> Self {
        Self {
            proven_ms: clock(),
            clock,
            expires: None,
            failure: None,
        }
    }

    /// Notes a complete batch. Returns the time, in Unix milliseconds.
    pub(super) fn proven(&mut self) -> i64 {
        self.proven_ms = (self.clock)();
        self.expires = Some(Instant::now() + SILENT_MAX);
        self.failure = None;
        self.proven_ms
    }

    /// Notes a failure, which is the reason once the state is stale.
    pub(super) fn failed(&mut self, why: &str) {
        self.failure = Some(why.to_owned());
    }

    /// Waits until the state becomes stale. Returns the staleness, once for each outage.
    pub(super) async fn expired(&mut self) -> Staleness {
        match self.expires {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
        self.expires = None;
        let why = self.failure.as_deref();
        Staleness {
            since_ms: self.proven_ms,
            reason: why.unwrap_or("it sends no complete change").into(),
        }
    }
}
