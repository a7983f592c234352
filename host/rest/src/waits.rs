//! The interface to the clusters, which must know that clients wait for their state.

use std::any::Any;
use std::collections::BTreeSet;

use kindsight_model::ClusterName;

/// The clusters, as far as clients wait for them. The server passes an implementation in
/// [`AppState`](crate::AppState).
pub trait ClusterWaits: Send + Sync {
    /// Notes that a client waits for changes of these clusters, until the returned value is dropped.
    fn begin(&self, clusters: BTreeSet<ClusterName>) -> Box<dyn Any + Send + Sync>;
}
