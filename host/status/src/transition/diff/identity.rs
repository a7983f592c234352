//! Identities of resources that do not depend on reports.

use std::sync::Arc;

use kindsight_model::{ClusterName, Gvk};

use crate::resource_view::ResourceView;
use crate::transition::ResourceId;

/// Group, Kind, namespace and name.
pub(crate) type Identity<'a> = [&'a str; 4];

/// Identity of a resource. It does not change when a report adds data to a manifest.
pub(crate) fn identity(resource: &ResourceView) -> Identity<'_> {
    let (group, namespace) = match (resource.is_sent(), &resource.manifest) {
        (true, Some(manifest)) => (&*manifest.gvk.group, &*manifest.namespace),
        (true, None) => ("", ""),
        (false, _) => (&*resource.gvk.group, &*resource.namespace),
    };
    [group, &resource.gvk.kind, namespace, &resource.name]
}

/// The name of a resource in a transition.
pub(super) fn id_of(app: &Arc<str>, cluster: &ClusterName, resource: &ResourceView) -> ResourceId {
    let (gvk, namespace) = match (resource.is_sent(), &resource.manifest) {
        (true, Some(manifest)) => (manifest.gvk.clone(), Arc::clone(&manifest.namespace)),
        (true, None) => (Gvk::new("", "", &resource.gvk.kind), "".into()),
        (false, _) => (resource.gvk.clone(), Arc::clone(&resource.namespace)),
    };
    ResourceId {
        app: Arc::clone(app),
        cluster: cluster.clone(),
        gvk,
        namespace,
        name: Arc::clone(&resource.name),
    }
}
