//! The workloads that a `HealthScope` of OAM lists.

use kindsight_contract::Node;

use super::ListedResource;

/// Maximum number of workloads in the list of one scope. Further workloads are left out, and the scope has a fault. The users
/// of a cluster write these lists, and an application rarely has a hundred workloads.
pub(super) const WORKLOADS_MAX: usize = 1_000;

/// One of `spec.workloadRefs`: an `apiVersion`, a `kind` and a `name` in the namespace of the scope.
pub(super) fn entry(entry: Node<'_>, namespace: &str) -> Option<ListedResource> {
    let text = |member| entry.get(member).text_or_empty();
    let api_version = text("apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    ListedResource::new([group, version, text("kind")], namespace, text("name"))
}
