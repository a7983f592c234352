//! Renewal of sessions: after the end of a session, the next session begins. Data is stale only if the server does
//! not accept the next session in time.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Closed, Run};
use crate::ClusterEvent;
use crate::kubernetes::jitter::Backoff;

/// Time for the server to accept the next session before the data of the last session is stale.
#[cfg(not(test))]
const RENEWED_WITHIN: Duration = Duration::from_secs(10);
#[cfg(test)]
const RENEWED_WITHIN: Duration = Duration::from_secs(3);
/// Lifetime of a session that ends the backoff. A server that accepts credentials and refuses them again at once is
/// not listed without a pause.
const LASTING: Duration = Duration::from_mins(1);
/// Reason of stale data after a session that ended without a failure.
const NOT_BEGUN: &str = "the next session has not begun";

/// A session that ended and whose successor the server has not accepted yet.
pub(super) struct Renewal {
    stale_at: Instant,
    /// The last failure, or [`NOT_BEGUN`] before the first one, as text for readers.
    why: String,
}

impl<E: From<ClusterEvent>> Run<E> {
    /// Notes that the server accepted a session.
    pub(super) fn accepted(&mut self) {
        self.renewal = None;
        self.events.accepted();
        self.accepted_at = Some(Instant::now());
    }

    /// Notes that a session failed or could not begin.
    pub(super) async fn failed(
        &mut self,
        why: String,
        backoff: &mut Backoff,
    ) -> Result<(), Closed> {
        self.take_accepted(backoff);
        if self.events.take_heard() {
            let stale_at = Instant::now() + RENEWED_WITHIN;
            self.renewal = Some(Renewal { stale_at, why });
        } else if let Some(renewal) = &mut self.renewal {
            renewal.why = why;
        } else {
            self.events.stale(&why).await?;
        }
        Ok(())
    }

    /// Notes that a session ended without a failure, because the next session has another configuration or another
    /// access.
    pub(super) fn replaced(&mut self, backoff: &mut Backoff) {
        if self.take_accepted(backoff) {
            self.events.take_heard();
            self.renewal = Some(Renewal {
                stale_at: Instant::now() + RENEWED_WITHIN,
                why: NOT_BEGUN.to_owned(),
            });
        }
    }

    /// Notes the end of a session. Returns whether the server had accepted the session.
    fn take_accepted(&mut self, backoff: &mut Backoff) -> bool {
        let lasted = self.accepted_at.take().map(|at| at.elapsed());
        if lasted.is_some_and(|lasted| lasted >= LASTING) {
            *backoff = Backoff::default();
        }
        lasted.is_some()
    }

    /// Does work between two sessions. If the time for the renewal ends first, the data is reported as stale.
    pub(super) async fn renewing<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Closed> {
        let mut work = std::pin::pin!(work);
        if let Some(stale_at) = self.renewal.as_ref().map(|it| it.stale_at) {
            if let Ok(done) = timeout_at(stale_at, &mut work).await {
                return Ok(done);
            }
            if let Some(Renewal { why, .. }) = self.renewal.take() {
                self.events.stale(&why).await?;
            }
        }
        Ok(work.await)
    }
}
