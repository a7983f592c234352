//! Snapshots: whole contexts as they were at one moment.

use kindsight_model::{ClusterName, ContextId, ContextStatus, RsyncStatus};

use crate::{Connectivity, ContextMeta, Unreadable};

mod reading;
#[cfg(test)]
mod tests;

pub(crate) use reading::read;

/// One context as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSnapshot {
    /// The id.
    pub id: ContextId,
    /// The deployment intent group that it instantiates; none where nothing readable is stored.
    pub meta: Option<ContextMeta>,
    /// The state as it is stored; a word of another orchestrator is kept as it is.
    pub status: Option<ContextStatus>,
    /// Set when the orchestrator is asked to stop working on it.
    pub stop_flag: bool,
    /// The apps: those that the order instruction names, then the others in order of their keys.
    pub apps: Vec<AppSnapshot>,
    /// The values that could not be understood, in order of their keys. They are missing above.
    pub unreadable: Vec<Unreadable>,
}

/// An app of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppSnapshot {
    /// The name.
    pub name: String,
    /// The clusters that it was sent to, in order of their keys.
    pub clusters: Vec<ClusterSnapshot>,
}

/// An app of a context in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSnapshot {
    /// The name of the cluster.
    pub cluster: ClusterName,
    /// The number of the group of clusters, if placement chose one of several.
    pub group: Option<String>,
    /// The `status` of its ResourceBundleState, as JSON text; none until one came.
    pub bundle_status_json: Option<String>,
    /// The outcome of the last attempt to reach the cluster; none until the first.
    pub connectivity: Option<Connectivity>,
    /// The resources that were sent there: those that the order instruction names, then the others
    /// in order of their keys.
    pub resources: Vec<ResourceSnapshot>,
}

/// A resource of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceSnapshot {
    /// The name.
    pub name: String,
    /// The Kind.
    pub kind: String,
    /// The manifest, as YAML; none where another orchestrator stored none or it is damaged.
    pub manifest: Option<String>,
    /// The rsync status; none until the resource was sent.
    pub status: Option<RsyncStatus>,
}
