//! The inventory in an Argo CD Application.

use std::sync::Arc;

use kindsight_contract::Node;
use kindsight_model::clean;

use super::ListedResource;
use crate::remote_inventory::Destination;

/// The address of the cluster that Argo CD itself is in.
const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";
/// Maximum length of the address or name of a destination, in bytes. An Application with a longer one is ignored.
const DESTINATION_BYTES_MAX: usize = 512;
/// The name of the same cluster.
const IN_CLUSTER_NAME: &str = "in-cluster";

/// The cluster of the destination, which has either an address or a name; none without both.
pub(super) fn destination(root: Node<'_>) -> Option<Destination> {
    let destination = root.at("/spec/destination");
    let server = destination.get("server").text_or_empty();
    let name = destination.get("name").text_or_empty();
    match (server.trim_end_matches('/'), name) {
        (IN_CLUSTER_SERVER, _) | ("", IN_CLUSTER_NAME) => Some(Destination::Own),
        ("", "") => None,
        ("", name) => Some(Destination::Name(shown(name)?)),
        (server, _) => Some(Destination::Server(shown(server)?)),
    }
}

/// A text that faults can show; none if it is over the limit.
fn shown(text: &str) -> Option<Arc<str>> {
    let is_short = text.len() <= DESTINATION_BYTES_MAX;
    is_short.then(|| clean(text, DESTINATION_BYTES_MAX).into())
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
