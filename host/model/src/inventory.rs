//! Inventories: the lists in which deployers record the resources of an application.

use std::sync::Arc;

use crate::{DigName, Gvk, Identity};

/// The resources of one application that inventories in a cluster list and that the cluster does not have. Replaces
/// the previous value for the same application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingResources {
    /// The application.
    pub application: DigName,
    /// The resources, at most one for each identity. The coverage of a Kind decides whether its resources are known
    /// to be missing.
    pub resources: Vec<MissingResource>,
}

/// A resource that an inventory lists and that the cluster does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingResource {
    /// Group, version and Kind. The version may be empty.
    pub gvk: Gvk,
    /// Its namespace; empty for a cluster-scoped resource.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The inventory, as text for readers.
    pub inventory: Arc<str>,
}

impl From<&MissingResource> for Identity {
    fn from(resource: &MissingResource) -> Self {
        Self {
            group: Arc::clone(&resource.gvk.group),
            kind: Arc::clone(&resource.gvk.kind),
            namespace: Arc::clone(&resource.namespace),
            name: Arc::clone(&resource.name),
        }
    }
}
