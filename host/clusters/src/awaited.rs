//! The clusters that clients wait for: their sources probe the API server more often.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kindsight_model::ClusterName;
use tokio::sync::watch;
use tokio::time::Instant;

/// Time for which one request of a client counts as waiting.
const REQUEST_LASTS: Duration = Duration::from_mins(1);

/// The clients that wait for a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Number of open streams that show the cluster.
    clients: usize,
    /// The end of the wait that the last request began.
    until: Option<Instant>,
}

impl Waiting {
    /// Returns whether a client waits at this time.
    pub(crate) fn is_on(&self, now: Instant) -> bool {
        self.clients > 0 || self.until.is_some_and(|until| now < until)
    }
}

/// The clusters that clients wait for. Clones share the clusters.
///
/// Clients wait for as long as they follow a status, and for a minute after each request that depends on the cluster:
/// a confirmation, or a resource of a lifecycle action.
#[derive(Debug, Clone, Default)]
pub struct AwaitedClusters(Arc<Mutex<HashMap<ClusterName, watch::Sender<Waiting>>>>);

/// A client that waits for clusters until this value is dropped.
#[derive(Debug)]
pub struct Awaiting {
    all: AwaitedClusters,
    clusters: BTreeSet<ClusterName>,
}

impl AwaitedClusters {
    /// Notes that a client waits for these clusters.
    #[must_use]
    pub fn begin(&self, clusters: BTreeSet<ClusterName>) -> Awaiting {
        for cluster in &clusters {
            self.change(cluster, |waiting| {
                waiting.clients += 1;
                waiting.clients == 1
            });
        }
        Awaiting {
            all: self.clone(),
            clusters,
        }
    }

    /// Notes a request that depends on a cluster.
    pub fn request(&self, cluster: &ClusterName) {
        let now = Instant::now();
        self.change(cluster, |waiting| {
            let was_on = waiting.is_on(now);
            waiting.until = Some(now + REQUEST_LASTS);
            !was_on
        });
    }

    /// The clients that wait for a cluster, followed. The receiver wakes when the first client begins to wait.
    pub(crate) fn of(&self, cluster: &ClusterName) -> watch::Receiver<Waiting> {
        let mut all = self.lock();
        all.retain(|_, waiting| waiting.receiver_count() > 0 || waiting.borrow().clients > 0);
        all.entry(cluster.clone()).or_default().subscribe()
    }

    /// Changes the waiting clients of a cluster. `change` returns whether the source is woken.
    fn change(&self, cluster: &ClusterName, change: impl FnOnce(&mut Waiting) -> bool) {
        let mut all = self.lock();
        let waiting = all.entry(cluster.clone()).or_default();
        waiting.send_if_modified(change);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClusterName, watch::Sender<Waiting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Awaiting {
    fn drop(&mut self) {
        for cluster in &self.clusters {
            self.all.change(cluster, |waiting| {
                waiting.clients = waiting.clients.saturating_sub(1);
                false
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge() -> ClusterName {
        ClusterName::new("lab", "edge").unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_is_woken_by_the_first_client_that_waits() {
        let awaited = AwaitedClusters::default();
        let mut waiting = awaited.of(&edge());
        assert!(!waiting.borrow_and_update().is_on(Instant::now()));
        let first = awaited.begin([edge()].into());
        assert!(waiting.has_changed().unwrap());
        assert!(waiting.borrow_and_update().is_on(Instant::now()));
        let second = awaited.begin([edge()].into());
        assert!(!waiting.has_changed().unwrap());
        drop(first);
        assert!(waiting.borrow().is_on(Instant::now()));
        drop(second);
        assert!(!waiting.borrow().is_on(Instant::now()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_counts_for_a_minute() {
        let awaited = AwaitedClusters::default();
        let mut waiting = awaited.of(&edge());
        awaited.request(&edge());
        assert!(waiting.has_changed().unwrap());
        assert!(waiting.borrow_and_update().is_on(Instant::now()));
        tokio::time::advance(REQUEST_LASTS).await;
        assert!(!waiting.borrow().is_on(Instant::now()));
    }

    #[test]
    fn clusters_without_a_source_are_forgotten() {
        let awaited = AwaitedClusters::default();
        drop(awaited.of(&edge()));
        let other = ClusterName::new("lab", "other").unwrap();
        let _receiver = awaited.of(&other);
        assert_eq!(awaited.lock().len(), 1);
    }
}
