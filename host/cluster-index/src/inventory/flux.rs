//! The inventory in a Kustomization or a `HelmRelease` of Flux.

use kindsight_contract::Node;

use super::ListedResource;
use crate::remote_inventory::Destination;

/// The cluster with the resources. A `kubeConfig` names a Secret or a ConfigMap with the address.
pub(super) fn destination(root: Node<'_>) -> Destination {
    if root.at("/spec/kubeConfig").is_present() {
        Destination::Kubeconfig
    } else {
        Destination::Own
    }
}

/// One of `status.inventory.entries`: `id` is `<namespace>_<name>_<group>_<Kind>`, and `v` the version. In the name,
/// `__` stands for a colon, which names of RBAC objects may have.
pub(super) fn entry(entry: Node<'_>) -> Option<ListedResource> {
    let id = entry.get("id").text()?;
    let (namespace, rest) = id.split_once('_')?;
    let (rest, kind) = rest.rsplit_once('_')?;
    let (name, group) = rest.rsplit_once('_')?;
    let version = entry.get("v").text_or_empty();
    ListedResource::new([group, version, kind], namespace, &name.replace("__", ":"))
}
