//! Events of the pipeline.

use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterName, ContextId, DigName, StatesNews};
use kindsight_store::{Connection, Revision};

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
    /// Changes of contexts were missed: all of them are read again.
    Resync,
    /// Changes of records were missed: all of them are read again.
    ResyncRecords,
    /// The store of contexts is away, or is reached again.
    Store(Connection),
    /// News of the states that the orchestrator keeps beside its contexts.
    States(StatesNews),
}

impl From<ClusterEvent> for Event {
    fn from(event: ClusterEvent) -> Self {
        Self::Cluster(event)
    }
}

impl From<StatesNews> for Event {
    fn from(news: StatesNews) -> Self {
        Self::States(news)
    }
}
