//! The inventory in an Argo CD Application.

use kindsight_contract::Node;

use super::ListedResource;

/// The address of the cluster that Argo CD itself is in.
const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";
/// The name of the same cluster.
const IN_CLUSTER_NAME: &str = "in-cluster";

/// Returns whether the destination is the cluster that Argo CD is in. A destination has either an address or a name.
pub(super) fn is_here(root: Node<'_>) -> bool {
    let destination = root.at("/spec/destination");
    let server = destination.get("server").text_or_empty();
    let name = destination.get("name").text_or_empty();
    match (server, name) {
        ("", name) => name == IN_CLUSTER_NAME,
        (server, _) => server.trim_end_matches('/') == IN_CLUSTER_SERVER,
    }
}

/// The namespace in the name of the application: as in tracking ids, only of an Application outside the namespace of
/// Argo CD. Releases before 2.7 do not record this namespace, and then there is none in the name.
pub(super) fn namespace_in_name<'n>(root: Node<'_>, namespace: &'n str) -> Option<&'n str> {
    let controller = root.at("/status/controllerNamespace").text_or_empty();
    (!controller.is_empty() && controller != namespace).then_some(namespace)
}

/// One of `status.resources`. A hook runs once, and a resource that requires pruning is no longer wanted.
pub(super) fn entry(entry: Node<'_>) -> Option<ListedResource> {
    if entry.get("hook").is_true() || entry.get("requiresPruning").is_true() {
        return None;
    }
    let text = |member| entry.get(member).text_or_empty();
    let gvk = ["group", "version", "kind"].map(text);
    ListedResource::new(gvk, text("namespace"), text("name"))
}
