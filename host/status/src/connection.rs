//! Connections to clusters, as the pipeline hears of them.

use std::sync::Arc;

use kindsight_api::clusters::{Connection, ReportMode};

/// The connection to one cluster, and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionView {
    /// The state of the connection.
    pub state: Connection,
    /// Time since when it is in this state, in Unix milliseconds.
    pub since_ms: i64,
    /// The reason why it is stale, as text for people; none otherwise.
    pub reason: Option<Arc<str>>,
    /// Faults of the cluster as a whole, as text for people.
    pub faults: Arc<[Arc<str>]>,
    /// Time when it was last heard, in Unix milliseconds, within a tenth of a second; none until then.
    pub heard_ms: Option<i64>,
    /// Facts that the cluster's source told; none where it tells none.
    pub facts: Option<Arc<FactsView>>,
}

/// Facts about a cluster, as its source told them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactsView {
    /// The name of the cluster where it was configured.
    pub origin: Arc<str>,
    /// The view by which apps of `AppContext`s are reported.
    pub mode: ReportMode,
    /// The labels of the objects that belong to applications by themselves; none where all do.
    pub selector: Option<Arc<str>>,
    /// Version of its API server; none until it answered.
    pub server_version: Option<Arc<str>>,
    /// Kinds that are not watched, with the reason, as text for people.
    pub not_covered: Vec<Arc<str>>,
    /// Objects of applications that are held.
    pub objects: usize,
    /// Kinds that are watched.
    pub watches: usize,
}

impl ConnectionView {
    /// The labels of the objects that belong to applications by themselves; none where all do.
    pub fn selector(&self) -> Option<&Arc<str>> {
        self.facts.as_ref()?.selector.as_ref()
    }

    /// Returns whether `other` differs in counts and in the time of the last event alone, of which nobody
    /// need be told.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let told = |it: &Self| it.facts.as_deref().map(FactsView::without_counts);
        self.state == other.state
            && self.since_ms == other.since_ms
            && self.reason == other.reason
            && self.faults == other.faults
            && told(self) == told(other)
    }
}

impl FactsView {
    fn without_counts(&self) -> Self {
        Self {
            objects: 0,
            watches: 0,
            ..self.clone()
        }
    }
}
