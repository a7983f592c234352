//! Identity of an object without its version.

use std::sync::Arc;

use crate::{Object, RejectedIdentity};

/// Group, Kind, namespace and name of an object. The API version of an object may change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// API group; empty for the core group.
    pub group: Arc<str>,
    /// Kind.
    pub kind: Arc<str>,
    /// Namespace; empty for a cluster-scoped object.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
}

impl From<&Object> for Identity {
    fn from(object: &Object) -> Self {
        Self {
            group: Arc::clone(&object.gvk.group),
            kind: Arc::clone(&object.gvk.kind),
            namespace: Arc::clone(&object.namespace),
            name: Arc::clone(&object.name),
        }
    }
}

impl From<&RejectedIdentity> for Identity {
    fn from(rejected: &RejectedIdentity) -> Self {
        Self {
            group: Arc::clone(&rejected.gvk.group),
            kind: Arc::clone(&rejected.gvk.kind),
            namespace: Arc::clone(&rejected.namespace),
            name: Arc::clone(&rejected.name),
        }
    }
}
