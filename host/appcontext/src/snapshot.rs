//! Snapshots: whole contexts as they were at one moment.

use std::collections::BTreeSet;

use kindsight_model::{ClusterName, Connectivity, ContextId, ContextStatus, Hook, RsyncStatus};
use kindsight_store::Revision;

use crate::keys::ContextKeys;
use crate::{ContextMeta, DependsOn, Unreadable};

mod decode;
mod merge;
mod reading;
mod stored;
#[cfg(test)]
mod tests;

pub use reading::REFERENCES_MAX;
pub(crate) use reading::read;

/// One context as it was at one moment, with what other contexts hold of it.
///
/// Since its release 21.03 rsync writes the statuses and reports of all instances of a group to one of
/// them, the *status context*: that of the first instance. An instance that an update made is read
/// together with it. Each context that is read is as it was at one moment; between them there may be
/// changes, which a watch reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSnapshot {
    /// The id.
    pub id: ContextId,
    /// The revision at which its root key was written: instances of a group in the order in which
    /// they were made.
    pub created: Revision,
    /// The deployment intent group that it instantiates; none where nothing readable is stored,
    /// neither here nor in the status context.
    pub meta: Option<ContextMeta>,
    /// The state as it is stored; a word of another orchestrator is kept as it is. None until an
    /// orchestrator wrote one, so it may still be writing the rest.
    pub status: Option<ContextStatus>,
    /// The revision at which the state was last written; none without a state.
    pub status_changed: Option<Revision>,
    /// The context that its statuses and reports are in, and that the labels of its objects name: its
    /// own id unless it says another.
    pub status_context: ContextId,
    /// The other contexts that it was read from, or that it names and that do not exist. A change of
    /// any of them may change this snapshot.
    pub reads: BTreeSet<ContextId>,
    /// Set when the orchestrator is asked to stop working on it.
    pub stop_flag: bool,
    /// The apps: those that the order instruction names, then the others in order of their keys.
    pub apps: Vec<AppSnapshot>,
    /// The values that could not be understood, in order of their keys. They are missing above.
    pub unreadable: Vec<Unreadable>,
}

impl ContextSnapshot {
    /// Returns whether a meta is stored that cannot be read; [`ContextSnapshot::unreadable`] names it.
    pub fn is_meta_unreadable(&self) -> bool {
        let meta = ContextKeys::new(&self.id).meta();
        self.unreadable.iter().any(|it| it.key == meta)
    }
}

/// An app of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppSnapshot {
    /// The name.
    pub name: String,
    /// The apps that it waits for.
    pub depends_on: Vec<DependsOn>,
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
    /// True if a report is stored that is no text; [`ContextSnapshot::unreadable`] names it.
    pub is_bundle_damaged: bool,
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
    /// The hook that it is; none for a resource of normal operation.
    pub hook: Option<Hook>,
}
