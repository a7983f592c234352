//! The reason of a roll-up result: a sentence about the worst resource.

use std::fmt::Write as _;

use kindsight_model::Phase;

use crate::phase_counts::PhaseCounts;
use crate::rollup::RollupResult;
use crate::tally::ResourcePlace;

/// The reason of a roll-up result; `None` if every resource is well.
pub(super) fn reason(
    result: &RollupResult<ResourcePlace<'_>>,
    counts: &PhaseCounts,
) -> Option<String> {
    match result.worst {
        _ if counts.is_empty() => Some("there are no resources to roll up".to_owned()),
        Some(worst) => Some(sentence(worst)),
        None if counts.iter().all(|(phase, _)| phase == Phase::NotPresent) => {
            Some("all resources were removed as requested".to_owned())
        }
        None => None,
    }
}

/// Kind, name, app, cluster, state and reason of a resource.
fn sentence(worst: ResourcePlace<'_>) -> String {
    let Some(resource) = worst.resource() else {
        return String::new();
    };
    let verdict = &resource.verdict;
    let mut sentence = format!(
        "{} {} of {} in {} is {}",
        resource.gvk.kind, resource.name, worst.app, worst.cluster, verdict.state
    );
    if !verdict.reason.is_empty() {
        // Writing to a String does not fail.
        let _ = write!(sentence, " ({})", verdict.reason);
    }
    sentence
}
