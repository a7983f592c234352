//! Identities of resources that stay while reports come.

use std::sync::Arc;

use kindsight_model::{ClusterName, Gvk};

use crate::resource_view::{ResourceView, Role};
use crate::transition::ResourceId;

/// Group, Kind, namespace and name.
pub(super) type Identity<'a> = [&'a str; 4];

/// Identity of a resource that stays while reports come: what a report adds to a manifest is not part of it.
pub(super) fn identity(resource: &ResourceView) -> Identity<'_> {
    let (group, namespace) = match (resource.role, &resource.manifest) {
        (Role::Sent, Some(manifest)) => (&*manifest.gvk.group, &*manifest.namespace),
        (Role::Sent, None) => ("", ""),
        _ => (&*resource.gvk.group, &*resource.namespace),
    };
    [group, &resource.gvk.kind, namespace, &resource.name]
}

/// The name of a resource in a transition.
pub(super) fn id_of(app: &Arc<str>, cluster: &ClusterName, resource: &ResourceView) -> ResourceId {
    let (gvk, namespace) = match (resource.role, &resource.manifest) {
        (Role::Sent, Some(manifest)) => (manifest.gvk.clone(), Arc::clone(&manifest.namespace)),
        (Role::Sent, None) => (Gvk::new("", "", &resource.gvk.kind), "".into()),
        _ => (resource.gvk.clone(), Arc::clone(&resource.namespace)),
    };
    ResourceId {
        app: Arc::clone(app),
        cluster: cluster.clone(),
        gvk,
        namespace,
        name: Arc::clone(&resource.name),
    }
}
