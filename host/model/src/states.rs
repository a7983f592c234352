//! States of groups, clusters and logical clouds, as an orchestrator keeps them beside its `AppContext`s.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{ClusterName, ContextId, DigName, LifecycleState, LogicalCloudName};

/// The subject of lifecycle actions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordSubject {
    /// A deployment intent group.
    Group(DigName),
    /// A cluster, to which network intents are applied.
    Cluster(ClusterName),
    /// A logical cloud.
    LogicalCloud(LogicalCloudName),
}

impl fmt::Display for RecordSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group(name) => write!(f, "deployment intent group {name}"),
            Self::Cluster(name) => write!(f, "cluster {name}"),
            Self::LogicalCloud(name) => write!(f, "logical cloud {name}"),
        }
    }
}

/// The state of one subject: the actions on it so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateInfo {
    /// The context that statuses of its instances are kept in; none before the first, and where the orchestrator
    /// keeps them in each for itself.
    pub status_context: Option<ContextId>,
    /// The actions, oldest first.
    pub actions: Vec<StateAction>,
}

/// One action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateAction {
    /// The state that it led to.
    pub state: LifecycleState,
    /// The context that it was about, if any.
    pub instance: Option<ContextId>,
    /// The time in RFC 3339; empty where none is kept.
    pub time: Arc<str>,
    /// The revision of the group that it made or left; 0 for none.
    pub revision: i64,
}

/// News of the states that an orchestrator keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatesNews {
    /// All that are there: those of before that are not among them are gone.
    All(BTreeMap<RecordSubject, StateInfo>),
    /// One changed; none where it is gone.
    Changed(RecordSubject, Option<StateInfo>),
    /// They cannot be read: what was known stays, and answers say so.
    Away {
        /// Time since when, in Unix milliseconds.
        since_ms: i64,
        /// The reason, as text for people.
        reason: Arc<str>,
    },
    /// They are read again.
    Back,
}
