//! Events of the pipeline.

use kindsight_clusters::ClusterEvent;
use kindsight_model::StatesNews;
use tokio::sync::oneshot;

use crate::store_reader::StoreChanges;

/// A change that affects the answers to queries.
#[derive(Debug)]
pub enum Event {
    /// A cluster reports, or can no longer be reached.
    Cluster(ClusterEvent),
    /// Contexts and records changed in the stores, or the connection to the store of contexts.
    Stores(StoreChanges),
    /// Changes of the states that the orchestrator keeps beside its contexts.
    States(StatesNews),
    /// Gets an answer once all earlier events are handled and published.
    Marker(oneshot::Sender<()>),
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
