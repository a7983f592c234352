//! A whole context as it was at one moment.

use kindsight_model::{ClusterName, ContextId, ContextStatus, RsyncStatus};

use crate::{Connectivity, ContextMeta, Unreadable};

mod reading;
#[cfg(test)]
mod tests;

pub(crate) use reading::read;

/// One context as it was at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSnapshot {
    /// Its id.
    pub id: ContextId,
    /// Whose it is.
    pub meta: Option<ContextMeta>,
    /// Its status; a word of another orchestrator is kept as it is.
    pub status: Option<ContextStatus>,
    /// Whether it is to be left alone.
    pub stop_flag: bool,
    /// Its apps: those the order instruction names, then the others in order of their keys.
    pub apps: Vec<AppSnapshot>,
    /// Values that could not be understood, in order of their keys. They are missing above.
    pub unreadable: Vec<Unreadable>,
}

/// One app of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppSnapshot {
    /// Its name.
    pub name: String,
    /// Where it was sent, in order of their keys.
    pub clusters: Vec<ClusterSnapshot>,
}

/// One app in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSnapshot {
    /// Which cluster.
    pub cluster: ClusterName,
    /// The number of its group, where placement chose one of several.
    pub group: Option<String>,
    /// The `status` of its ResourceBundleState, as JSON text; none until one came.
    pub bundle_status_json: Option<String>,
    /// Whether it could be reached; none until it was tried.
    pub connectivity: Option<Connectivity>,
    /// What was sent there: in the order that the instruction gives, then in order of their keys.
    pub resources: Vec<ResourceSnapshot>,
}

/// One resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceSnapshot {
    /// Its name.
    pub name: String,
    /// Its Kind.
    pub kind: String,
    /// Its manifest, as YAML; none where another orchestrator stored none or it is damaged.
    pub manifest: Option<String>,
    /// What happened to it; none until it was sent.
    pub status: Option<RsyncStatus>,
}
