//! Discovery of the Kinds during the session: the session handles events of watches in the meantime.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::{Session, SessionEnd};
use crate::kubernetes::connection::{ApiError, Connections};
use crate::kubernetes::discovery::{Discovered, discover};
use crate::kubernetes::jitter::jittered;
use crate::kubernetes::known::Known;

/// Time between two discoveries without a request for one.
const DISCOVER_EVERY: Duration = Duration::from_mins(2);
/// Time until discovery is repeated after a failure, or after a group did not answer in time.
const DISCOVER_AGAIN: Duration = Duration::from_secs(5);
/// Time for an API group to list its Kinds.
const GROUP_MAX: Duration = Duration::from_secs(20);

/// Requests for the Kinds, one after the other.
pub(super) struct Discovery {
    /// The time of the next request.
    at: Instant,
    running: Option<BoxFuture<'static, Result<Discovered, ApiError>>>,
}

impl Discovery {
    /// The requests after the first discovery of a session.
    pub(super) fn after(first: &Discovered) -> Self {
        let wait = if first.silent.is_empty() {
            DISCOVER_EVERY
        } else {
            DISCOVER_AGAIN
        };
        Self {
            at: Instant::now() + jittered(wait),
            running: None,
        }
    }

    /// The time of the next request; none while one is running.
    pub(super) fn at(&self) -> Option<Instant> {
        self.running.is_none().then_some(self.at)
    }

    /// Requests the Kinds no later than at this time, or after the request that is running.
    pub(super) fn ask_by(&mut self, at: Instant) {
        self.at = self.at.min(at);
    }

    /// Requests the Kinds if it is time.
    pub(super) fn ask(&mut self, connections: &Connections, now: Instant) {
        if self.at().is_some_and(|at| at <= now) {
            let connections = connections.clone();
            self.at = now + jittered(DISCOVER_EVERY);
            self.running = Some(Box::pin(async move {
                let client = connections.client().await?;
                discover(&client, GROUP_MAX).await
            }));
        }
    }

    /// Waits for the answer to the request that is running; for ever while none is.
    pub(super) async fn answered(&mut self) -> Result<Discovered, ApiError> {
        let Some(running) = &mut self.running else {
            return std::future::pending().await;
        };
        let answer = running.await;
        self.running = None;
        answer
    }
}

impl Session {
    /// Follows the discovered Kinds. A failed discovery changes no watch.
    pub(super) fn follow_discovery(
        &mut self,
        answer: Result<Discovered, ApiError>,
        known: &mut Known,
    ) -> Result<(), SessionEnd> {
        match answer {
            Ok(discovered) => {
                self.discovered = discovered;
                self.is_coverage_due = true;
                self.remove_kinds(known);
                // A new Kind may need objects that a selector left out.
                self.widen();
                self.watch_kinds(known);
                Ok(())
            }
            Err(error @ ApiError::Unauthorized(_)) => Err(SessionEnd::Failed(error.of_cluster())),
            Err(error) => {
                tracing::debug!(cluster = %self.cluster.name, %error, "Kinds not discovered");
                self.discovery.ask_by(Instant::now() + DISCOVER_AGAIN);
                Ok(())
            }
        }
    }
}
