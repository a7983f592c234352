//! Changes that a follower publishes together.

use std::sync::Arc;

use kindsight_model::{ClusterName, RecordSubject};
use kindsight_status::{
    ApplicationKey, ConnectionView, ContextView, HistoryChange, RecordView, Staleness, StoreAway,
};

use crate::feed::FeedScope;

/// The changes between two ends of batches.
#[derive(Debug, Default)]
pub struct Batch {
    /// Connections that changed; `None` for a cluster that is not configured any more.
    pub connections: Vec<(ClusterName, Option<ConnectionView>)>,
    /// Applications that changed or are new.
    pub applications: Vec<ApplicationChange>,
    /// Records that changed; `None` for a subject that does not exist any more.
    pub records: Vec<(RecordSubject, Option<RecordView>)>,
    /// The outages of the stores, if they changed.
    pub stores: Option<StoresChange>,
    /// Applications that do not exist any more. Published last: records may have named them.
    pub gone: Vec<ApplicationKey>,
    /// True if the upstream host sends histories. Otherwise the follower compares views.
    pub has_histories: bool,
}

/// The outages of the stores of the upstream host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoresChange {
    /// The store of `AppContext`s.
    pub contexts: Option<StoreAway>,
    /// The store of lifecycle states.
    pub states: Option<StoreAway>,
}

/// The next view of an application, with the change of its history.
#[derive(Debug)]
pub struct ApplicationChange {
    /// The application.
    pub key: ApplicationKey,
    /// Its view, with the placements of the upstream host.
    pub view: ContextView,
    /// The change of its history.
    pub history: HistoryChange,
}

/// A change of the state of an upstream host.
#[derive(Debug)]
pub struct UpstreamEvent {
    /// The name of the upstream host: the scheme, host and port of its URL.
    pub upstream: Arc<str>,
    /// The clusters that are followed.
    pub scope: FeedScope,
    /// The change.
    pub change: UpstreamChange,
}

/// A change of the state of an upstream host, or of the connection to it.
#[derive(Debug)]
pub enum UpstreamChange {
    /// A complete batch. It proves that the upstream host answers.
    Batch(Box<Batch>),
    /// The upstream host does not answer. The state that it sent last remains, and is stale.
    Away(Staleness),
    /// The upstream host is not followed any more: the state that it sent is removed.
    Removed,
}
