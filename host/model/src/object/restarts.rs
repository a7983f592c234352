//! Restarts of containers.

use kindsight_contract::Node;

/// The members of a status that list the statuses of containers. Ephemeral containers never restart.
const CONTAINERS: [&str; 2] = ["initContainerStatuses", "containerStatuses"];

/// The restarts of the container that restarted most, from the JSON of an object. Numbers that cannot be read count as
/// 0.
pub(super) fn most_restarts(root: Node<'_>) -> u32 {
    let status = root.get("status");
    let containers = CONTAINERS.map(|member| status.get(member).items());
    let counts = containers
        .into_iter()
        .flatten()
        .filter_map(|container| container.get("restartCount").integer());
    let counts = counts.filter_map(|count| u32::try_from(count).ok());
    counts.max().unwrap_or(0)
}
