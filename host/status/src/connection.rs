//! Connections to clusters.

use std::sync::Arc;

use kindsight_api::clusters::Connection;
use kindsight_model::{AuditCounts, ClusterFacts, Coverage};

/// The host that watches a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusterOwner {
    /// The name of the host; `None` if this host shares its clusters with no other host, or if no host watches the
    /// cluster.
    pub host: Option<Arc<str>>,
    /// Fencing number of the host's lease of the cluster: a later owner has a higher number. 0 for a host that shares
    /// its clusters with no other host.
    pub fence: u64,
    /// True if another host watches the cluster, and this host shows what that host published.
    pub is_remote: bool,
}

/// The connection to one cluster, with facts about the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionView {
    /// The state of the connection.
    pub state: Connection,
    /// Start of the state, in Unix milliseconds.
    pub since_ms: i64,
    /// The reason why it is stale, as text for users; `None` in other states.
    pub reason: Option<Arc<str>>,
    /// Faults that may affect every app of the cluster, as text for users.
    pub faults: Arc<[Arc<str>]>,
    /// Time of the last event from the cluster, in Unix milliseconds, exact to a tenth of a second; `None`
    /// before the first event.
    pub heard_ms: Option<i64>,
    /// Facts from the source of the cluster; `None` if the source sends none.
    pub facts: Option<Arc<ClusterFacts>>,
    /// Coverage of its Kinds; `None` before the first list, and for folders.
    pub coverage: Option<Coverage>,
    /// The host that watches the cluster.
    pub owner: ClusterOwner,
}

impl ConnectionView {
    /// The label selector for objects that can form found applications; `None` selects all objects.
    pub fn selector(&self) -> Option<&Arc<str>> {
        self.facts.as_ref()?.selector.as_ref()
    }

    /// Returns whether `other` differs at most in counts and in the time of the last event. Such a difference
    /// is not published.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        let is_shared = match (&self.facts, &other.facts) {
            (Some(facts), Some(others)) => Arc::ptr_eq(facts, others),
            _ => false,
        };
        let facts = |view: &Self| view.facts.as_deref().map(without_counts);
        self.state == other.state
            && self.since_ms == other.since_ms
            && self.reason == other.reason
            && self.faults == other.faults
            && self.coverage == other.coverage
            && self.owner == other.owner
            && (is_shared || facts(self) == facts(other))
    }
}

fn without_counts(facts: &ClusterFacts) -> ClusterFacts {
    ClusterFacts {
        objects: 0,
        watches: 0,
        sessions: 0,
        watch_failures: 0,
        audit: AuditCounts::default(),
        ..facts.clone()
    }
}
