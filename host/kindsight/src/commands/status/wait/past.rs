//! Applications that work, and are degraded only because of earlier events.

use kindsight_api::status::{Resource, Status};
use kindsight_model::{Phase, host_reason};

use super::super::answer::resources;

/// The reason of a verdict that only recent restarts cause (`kindsight_sdk::standard::pods::RECENT_RESTARTS`).
const RECENT_RESTARTS: &str = "RecentRestarts";

/// Reasons of a CronJob whose past runs failed or were skipped: the reasons of the rule itself, the reasons that the
/// Job controller gives to a failed Job, and the reason of a failed Job without one.
const PAST_RUNS: [&str; 9] = [
    "LastRunFailed",
    "NeverSucceeded",
    "RunsSkipped",
    "BackoffLimitExceeded",
    "DeadlineExceeded",
    "FailedIndexes",
    "MaxFailedIndexesExceeded",
    "PodFailurePolicy",
    "Failed",
];

/// Returns whether every deciding resource is ready or present, or degraded only because of recent restarts or, if it
/// is a CronJob, because of past runs.
pub(super) fn works(status: &Status<'_>) -> bool {
    let remaining = resources(status).map(|(.., resource)| resource);
    let remaining: Vec<_> = remaining.filter(|resource| !is_gone(resource)).collect();
    let deciding = remaining.iter().map(|resource| rank(resource)).min();
    let mut deciding = remaining
        .iter()
        .filter(|resource| Some(rank(resource)) == deciding);
    deciding.all(|resource| match resource.phase {
        Some(Phase::Ready | Phase::Present) => true,
        Some(Phase::Degraded) => is_of_the_past(resource),
        _ => false,
    })
}

fn is_of_the_past(resource: &Resource<'_>) -> bool {
    let is_cron_job = &*resource.gvk.group == "batch" && &*resource.gvk.kind == "CronJob";
    resource.reason == RECENT_RESTARTS || is_cron_job && PAST_RUNS.contains(&&*resource.reason)
}

/// Position of a resource in the order of the roll-up: the resources of the first rank decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Sent,
    Unsent,
    Hook,
    Child,
}

fn rank(resource: &Resource<'_>) -> Rank {
    match (resource.hook, resource.expected, &resource.owner) {
        (Some(true), ..) => Rank::Hook,
        (_, None | Some(true), _) => Rank::Sent,
        (_, _, None) => Rank::Unsent,
        (_, _, Some(_)) => Rank::Child,
    }
}

/// Returns whether the resource was not sent and no longer exists.
fn is_gone(resource: &Resource<'_>) -> bool {
    resource.phase == Some(Phase::NotPresent) && resource.reason == host_reason::GONE
}
