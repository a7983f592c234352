//! Starts of sessions: a few at a time, so that many clusters do not connect and list all at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

/// Number of clusters that connect and list for the first time at the same moment.
const STARTS_MAX: usize = 8;
/// Time after which an unlisted cluster makes room for the next cluster.
const START_MAX: Duration = Duration::from_secs(3);

/// Limit on the number of clusters that start at a time, shared by all sources of a host.
#[derive(Debug, Clone)]
pub struct Starts(Arc<Semaphore>);

impl Default for Starts {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(STARTS_MAX)))
    }
}

/// The start of one cluster.
#[derive(Debug, Clone, Default)]
pub(super) struct Start(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Starts {
    /// Waits until the limit allows a start. A slow cluster delays the others by three seconds at most.
    pub(super) async fn begin(&self) -> Start {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.0).acquire_owned().await.ok();
        Start(Arc::new(Mutex::new(permit)))
    }
}

impl Start {
    /// Makes room for the next cluster.
    pub(super) fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Makes room for the next cluster after [`START_MAX`]. Does not return, so it runs concurrently with the
    /// session.
    pub(super) async fn time_out<T>(self) -> T {
        sleep(START_MAX).await;
        self.end();
        std::future::pending().await
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_few_clusters_start_at_a_time_and_one_that_hangs_makes_room() {
        let starts = Starts::default();
        let mut begun = Vec::new();
        for _ in 0..STARTS_MAX {
            begun.push(starts.begin().await);
        }
        let next = starts.begin();
        tokio::pin!(next);
        let soon = Duration::from_millis(50);
        assert!(timeout(soon, &mut next).await.is_err(), "there is no room");
        begun[0].end();
        let next = next.await;
        tokio::select! {
            () = begun[1].clone().time_out() => unreachable!("it never ends"),
            _start = starts.begin() => {}
        }
        drop((next, begun));
        assert_eq!(starts.0.available_permits(), STARTS_MAX);
    }
}
