//! Restarts of containers, as a limit of the wait.

use kindsight_api::status::{Resource, Status};
use kindsight_model::Phase;

use super::super::answer::resources;
use super::standing::named;

/// Names a Pod with a container that restarted more than `max` times; none if there is no such Pod. Pods that are being
/// deleted or were deleted do not count, because others replaced them.
pub(super) fn over(status: &Status<'_>, max: u32) -> Option<String> {
    resources(status)
        .filter(|(.., resource)| !is_leaving(resource))
        .find_map(|place @ (.., resource)| {
            let restarts = resource.restarts.filter(|restarts| restarts.get() > max)?;
            let pod = named(place);
            Some(format!(
                "a container of {pod} restarted {restarts} times, and --max-restarts is {max}"
            ))
        })
}

fn is_leaving(resource: &Resource<'_>) -> bool {
    matches!(resource.phase, Some(Phase::Terminating | Phase::NotPresent))
}
