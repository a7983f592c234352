//! Snapshots of contexts, and the contexts in memory that they are made from.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{ClusterName, Connectivity, ContextId, ContextStatus, Hook, RsyncStatus};
use kindsight_store::{Revision, Store};

use crate::keys::ContextKeys;
use crate::{ContextMeta, DependsOn, Result, Unreadable};

mod assembled;
mod cluster_image;
mod decode;
mod image;
mod images;
mod piece;
mod resource_image;
mod slot;
mod sources;
#[cfg(test)]
mod tests;

pub use assembled::REFERENCES_MAX;
pub use images::{ContextImages, ContextUpdate};

/// Reads a context, or returns `None` if it does not exist.
pub(crate) fn read(store: &dyn Store, id: &ContextId) -> Result<Option<ContextSnapshot>> {
    let mut images = ContextImages::default();
    images.read_again(id, Revision::default());
    Ok(match images.update_from(store, id)? {
        ContextUpdate::Changed(snapshot) => Some(*snapshot),
        ContextUpdate::Unchanged | ContextUpdate::Deleted => None,
    })
}

/// One context as it was at one moment, joined with the contexts that it refers to.
///
/// Since its release 21.03, rsync writes the statuses and reports of all instances of a group to the
/// context of the first instance, the *status context*. A later instance is read together with its
/// status context. Each of these contexts is read as it was at one moment. A watch reports the changes
/// between these moments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSnapshot {
    /// The id.
    pub id: ContextId,
    /// The revision of its root key, which orders the instances of a group by their creation.
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
    /// The apps: first the apps in the order instruction, then the others in the order of their keys.
    pub apps: Vec<AppSnapshot>,
    /// The values that could not be understood, in order of their keys. They are missing above.
    pub unreadable: Vec<Unreadable>,
}

impl ContextSnapshot {
    /// A context that is not stored, without statuses.
    pub fn unstored(id: &ContextId, meta: ContextMeta, apps: Vec<AppSnapshot>) -> Self {
        Self {
            id: id.clone(),
            created: Revision::default(),
            meta: Some(meta),
            status: None,
            status_changed: None,
            status_context: id.clone(),
            reads: BTreeSet::new(),
            stop_flag: false,
            apps,
            unreadable: Vec::new(),
        }
    }

    /// Returns whether a meta is stored that cannot be read; [`ContextSnapshot::unreadable`] names it.
    pub fn is_meta_unreadable(&self) -> bool {
        let meta = ContextKeys::new(&self.id).meta();
        self.unreadable.iter().any(|subject| subject.key == meta)
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
    /// The report of the monitor in the cluster.
    pub bundle: StoredBundle,
    /// The outcome of the last attempt to reach the cluster; none until the first.
    pub connectivity: Option<Connectivity>,
    /// The resources that were sent there: first the resources in the order instruction, then the others
    /// in the order of their keys.
    pub resources: Arc<[ResourceSnapshot]>,
}

/// The `status` of a ResourceBundleState, as it is stored in a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredBundle {
    /// No report is stored.
    Absent,
    /// The stored value is not a text; [`ContextSnapshot::unreadable`] names its key.
    Damaged,
    /// The report, as JSON text.
    Json(Arc<str>),
    /// The same as at the last update of the context in memory, see [`ContextImages`].
    Unchanged,
}

impl StoredBundle {
    /// The report as JSON text, if it is stored and was not passed on before.
    pub fn json(&self) -> Option<&str> {
        match self {
            Self::Json(json) => Some(json),
            Self::Absent | Self::Damaged | Self::Unchanged => None,
        }
    }
}

/// A resource of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceSnapshot {
    /// The name.
    pub name: String,
    /// The Kind.
    pub kind: String,
    /// The manifest, as YAML; none where another orchestrator stored none or it is damaged.
    pub manifest: Option<Arc<str>>,
    /// The rsync status; none until the resource was sent.
    pub status: Option<RsyncStatus>,
    /// The hook that it is; none for a resource of normal operation.
    pub hook: Option<Hook>,
}
