//! The inventory in a Kustomization or a `HelmRelease` of Flux.

use kindsight_contract::Node;

use super::{ListedResource, is_word};
use crate::remote_inventory::{Destination, KubeconfigObject};

/// The cluster with the resources. A `kubeConfig` names a Secret or a ConfigMap with the address, in the namespace of
/// the object.
pub(super) fn destination(root: Node<'_>, namespace: &str) -> Destination {
    let kubeconfig = root.at("/spec/kubeConfig");
    if !kubeconfig.is_present() {
        return Destination::Own;
    }
    let named = [("Secret", "secretRef"), ("ConfigMap", "configMapRef")];
    let mut named = named.into_iter().filter_map(|(kind, member)| {
        let name = kubeconfig.get(member).get("name").text()?;
        (!name.is_empty() && is_word(name)).then_some((kind, name))
    });
    match (named.next(), named.next()) {
        (Some((kind, name)), None) => Destination::KubeconfigIn(KubeconfigObject {
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
        }),
        _ => Destination::Kubeconfig,
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
