//! Events of the pipeline.

use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterName, ContextId, DigName};
use kindsight_store::Revision;

/// A change that affects the answers to queries.
#[derive(Debug)]
pub enum Event {
    /// A cluster reports, or can no longer be reached.
    Cluster(ClusterEvent),
    /// A context was created, changed or deleted in the store.
    Context {
        /// Its id.
        id: ContextId,
        /// The revision of the change: the pipeline skips its own.
        revision: Revision,
    },
    /// The record of a deployment intent group was created, changed or deleted.
    DigRecord(DigName),
    /// The record of a cluster was created, changed or deleted.
    ClusterRecord(ClusterName),
    /// Changes of the store were missed: everything stored is read again.
    Resync,
}

impl From<ClusterEvent> for Event {
    fn from(event: ClusterEvent) -> Self {
        Self::Cluster(event)
    }
}
