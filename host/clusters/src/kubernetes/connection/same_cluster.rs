//! The cluster that the connections of a session lead to.
//!
//! A name of the DNS, or a replaced configuration, may lead to another cluster. The index of a session is about one
//! cluster, so the session ends. The next session begins with the other cluster.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::{ApiClient, ApiError, Connections};
use crate::kubernetes::identity::uid_of;

/// Reason of a session that ends because its server belongs to another cluster now.
pub(in crate::kubernetes) const OTHER_CLUSTER: &str = "the context leads to another cluster";

/// The cluster of all connections.
#[derive(Default)]
pub(super) struct SameCluster {
    /// The first uid that was read; none while the credentials do not allow it.
    uid: OnceLock<Arc<str>>,
    /// Cancelled once a connection leads to another cluster.
    left: CancellationToken,
}

/// The network connections of a client. A client makes another one without notice after it lost one.
#[derive(Clone, Default)]
pub(super) struct Dials(Arc<Counts>);

#[derive(Default)]
struct Counts {
    /// Number of network connections that were begun.
    begun: AtomicU64,
    /// Number of those that had begun when the cluster was last checked.
    checked: AtomicU64,
}

impl Dials {
    /// Notes that a network connection begins.
    pub(super) fn begin(&self) {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of network connections so far; none if the cluster was checked after the last one began.
    fn unchecked(&self) -> Option<u64> {
        let begun = self.0.begun.load(Ordering::Relaxed);
        (begun != self.0.checked.load(Ordering::Relaxed)).then_some(begun)
    }

    /// Notes that these network connections lead to the right cluster.
    fn check(&self, begun: u64) {
        self.0.checked.store(begun, Ordering::Relaxed);
    }
}

impl Connections {
    /// Checks that a client leads to the same cluster as the first connection. Sends a request only if the client made
    /// a network connection since its last check.
    ///
    /// # Errors
    /// The uid of the cluster cannot be read, or it is another one. The second case is [left](Self::left) too.
    pub(in crate::kubernetes) async fn check_cluster(
        &self,
        client: &ApiClient,
    ) -> Result<(), ApiError> {
        let Some(begun) = client.dials.unchecked() else {
            return Ok(());
        };
        let SameCluster { uid, left } = &self.0.cluster;
        if let Some(found) = uid_of(client).await?
            && *uid.get_or_init(|| Arc::clone(&found)) != found
        {
            left.cancel();
            return Err(ApiError::Unreachable(OTHER_CLUSTER.to_owned()));
        }
        client.dials.check(begun);
        Ok(())
    }

    /// The uid of the cluster; none if the credentials do not allow to read it.
    pub(in crate::kubernetes) fn uid(&self) -> Option<Arc<str>> {
        self.0.cluster.uid.get().cloned()
    }

    /// Cancelled once a connection leads to another cluster.
    pub(in crate::kubernetes) fn left(&self) -> CancellationToken {
        self.0.cluster.left.clone()
    }
}
