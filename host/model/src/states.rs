//! States of groups, clusters and logical clouds that an orchestrator stores beside its `AppContext`s.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::{ClusterName, ContextId, DigName, LifecycleState, LogicalCloudName};

/// The subject of lifecycle actions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordSubject {
    /// A deployment intent group.
    Group(DigName),
    /// A cluster that network intents are applied to.
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

impl RecordSubject {
    /// The full name.
    pub fn name(&self) -> &dyn fmt::Display {
        match self {
            Self::Group(name) => name,
            Self::Cluster(name) => name,
            Self::LogicalCloud(name) => name,
        }
    }
}

impl From<&Self> for RecordSubject {
    fn from(subject: &Self) -> Self {
        subject.clone()
    }
}

impl From<&DigName> for RecordSubject {
    fn from(name: &DigName) -> Self {
        Self::Group(name.clone())
    }
}

impl From<&ClusterName> for RecordSubject {
    fn from(name: &ClusterName) -> Self {
        Self::Cluster(name.clone())
    }
}

/// The recorded actions on one subject, and the profile of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateInfo {
    /// The composite profile of a group. `None` if the group names none, and for clusters and logical clouds.
    pub profile: Option<Arc<str>>,
    /// The context that stores the statuses of all instances. `None` before the first instance, and if the
    /// orchestrator stores the status of each instance in its own context.
    pub status_context: Option<ContextId>,
    /// The actions, oldest first.
    pub actions: Vec<StateAction>,
}

/// One action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateAction {
    /// The state after the action.
    pub state: LifecycleState,
    /// The context of the action, if any.
    pub instance: Option<ContextId>,
    /// The time in RFC 3339; empty if the orchestrator stores no time.
    pub time: Arc<str>,
    /// The revision of the group after the action; 0 if the action has no revision.
    pub revision: i64,
}

/// Changes of the states that an orchestrator stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatesNews {
    /// All states. A state that is not in this map no longer exists.
    All(BTreeMap<RecordSubject, StateInfo>),
    /// One state changed; `None` if it no longer exists.
    Changed(RecordSubject, Option<StateInfo>),
    /// The states cannot be read. The last known states remain, and answers mark them.
    Away {
        /// Start of the outage, in Unix milliseconds.
        since_ms: i64,
        /// The reason, as text for users.
        reason: Arc<str>,
    },
    /// The states can be read again.
    Back,
}
