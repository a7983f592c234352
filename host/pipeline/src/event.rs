//! Events of the pipeline.

use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterName, StatesNews};
use kindsight_replication::UpstreamEvent;
use tokio::sync::oneshot;
use tokio::time::Instant;

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
    /// Another host sent a batch, or does not answer.
    Upstream(UpstreamEvent),
    /// This host owns a cluster again, which no other host owned meanwhile, and its source continued. Gets true if the
    /// events since then were kept and are used now, or false if the cluster must be listed from scratch.
    Resumed {
        /// The cluster.
        cluster: ClusterName,
        /// The answer.
        complete: oneshot::Sender<bool>,
    },
    /// Gets an answer once all earlier events are handled and published.
    Marker(oneshot::Sender<()>),
}

impl Event {
    /// The origin of the event in one word: `cluster`, `store`, `states`, `upstream` or `marker`.
    pub(crate) fn origin(&self) -> &'static str {
        match self {
            Self::Cluster(_) | Self::Resumed { .. } => "cluster",
            Self::Stores(_) => "store",
            Self::States(_) => "states",
            Self::Upstream(_) => "upstream",
            Self::Marker(_) => "marker",
        }
    }
}

/// An event in the queue of the pipeline, with the time at which its sender had it ready. A sender that waits for
/// space in the queue makes the value before the wait.
#[derive(Debug)]
pub struct QueuedEvent {
    pub(crate) event: Event,
    pub(crate) queued_at: Instant,
}

impl From<Event> for QueuedEvent {
    fn from(event: Event) -> Self {
        Self {
            event,
            queued_at: Instant::now(),
        }
    }
}

impl From<ClusterEvent> for QueuedEvent {
    fn from(event: ClusterEvent) -> Self {
        Event::Cluster(event).into()
    }
}

impl From<UpstreamEvent> for QueuedEvent {
    fn from(event: UpstreamEvent) -> Self {
        Event::Upstream(event).into()
    }
}

impl From<StatesNews> for QueuedEvent {
    fn from(news: StatesNews) -> Self {
        Event::States(news).into()
    }
}
