//! Standings: how the status of an application relates to the end of the wait.

use kindsight_api::status::{App, Cluster, Resource, Status};
use kindsight_model::{Phase, host_reason};

use super::super::answer::resources;
use super::{past, restarts};
use crate::cli::{Goal, StatusArgs};

/// The state of the application with regard to the end of the wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// The application is in the wanted state.
    Reached,
    /// Something failed.
    Failed(String),
    /// Neither.
    Waiting(String),
}

/// The state that the command waits for, and the limit on restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The state; none if everything has to be ready or present.
    pub(super) goal: Option<Goal>,
    /// Maximum number of restarts of a container; none if restarts do not matter.
    pub(super) restarts_max: Option<u32>,
}

impl Wanted {
    pub(super) fn of(args: &StatusArgs) -> Self {
        Self {
            goal: args.goal,
            restarts_max: args.max_restarts,
        }
    }

    /// The word for the state.
    pub(super) fn as_str(self) -> &'static str {
        match self.goal {
            None | Some(Goal::Ready) => "ready",
            Some(Goal::Present) => "present",
            Some(Goal::Terminated) => "terminated",
        }
    }

    /// The standing of an application with this status. An old report or an unreadable part never ends the wait with
    /// success.
    pub(super) fn standing(self, status: &Status<'_>) -> Standing {
        if let Some(reason) = &status.readiness.stale_reason {
            return Standing::Waiting(format!("its last report may be out of date: {reason}"));
        }
        // The application may have another instance since.
        if let Some(store) = status.store.as_ref().or(status.state_store.as_ref()) {
            return Standing::Waiting(format!("a store cannot be reached: {}", store.reason));
        }
        let too_often = self
            .restarts_max
            .and_then(|max| restarts::over(status, max));
        if let Some(why) = too_often {
            return Standing::Failed(why);
        }
        let standing = match self.goal {
            None => ready(status, false),
            Some(Goal::Ready) => ready(status, past::works(status)),
            Some(Goal::Present) => present(status),
            Some(Goal::Terminated) => terminated(status),
        };
        match (standing, status.faults.first()) {
            (Standing::Reached, Some(fault)) => {
                Standing::Waiting(format!("a part could not be read: {fault}"))
            }
            (standing, _) => standing,
        }
    }
}

/// The standing with regard to readiness. `works` is true if a degraded application counts as ready.
fn ready(status: &Status<'_>, works: bool) -> Standing {
    let readiness = &status.readiness;
    let reason = readiness.ready_reason.as_deref();
    let state = readiness.ready_status.as_deref().unwrap_or("Unknown");
    match readiness.ready_phase {
        Some(Phase::Ready | Phase::Present) => Standing::Reached,
        Some(Phase::Degraded) if works => Standing::Reached,
        Some(Phase::Failed) => Standing::Failed(reason.unwrap_or(state).to_owned()),
        _ => Standing::Waiting(match (&status.message, reason) {
            (Some(message), _) => message.to_string(),
            (None, Some(reason)) => format!("it is {state}: {reason}"),
            (None, None) => format!("it is {state}"),
        }),
    }
}

fn present(status: &Status<'_>) -> Standing {
    let sent = resources(status).filter(|(.., resource)| is_sent(resource));
    let mut sent = sent.peekable();
    if sent.peek().is_none() {
        return Standing::Waiting(without_resources(
            status,
            "no resource was sent to its clusters",
        ));
    }
    let missing = sent.find(|(.., resource)| existence(resource) != Existence::Exists);
    missing.map_or(Standing::Reached, waiting_for)
}

fn terminated(status: &Status<'_>) -> Standing {
    let mut known = resources(status).peekable();
    if known.peek().is_none() {
        return Standing::Waiting(without_resources(status, "none of its resources is known"));
    }
    let left = known.find(|(.., resource)| existence(resource) != Existence::Absent);
    left.map_or(Standing::Reached, waiting_for)
}

/// The reason why there are no resources to wait for.
fn without_resources(status: &Status<'_>, otherwise: &str) -> String {
    let message = status.message.as_deref();
    message.unwrap_or(otherwise).to_owned()
}

/// A resource with its app and cluster.
type PlacedResource<'s, 'a> = (&'s App<'a>, &'s Cluster<'a>, &'s Resource<'a>);

fn waiting_for(place: PlacedResource<'_, '_>) -> Standing {
    let (.., resource) = place;
    let state = resource.cluster_status.as_deref().unwrap_or("Unknown");
    let mut why = format!("{} is {state}", named(place));
    if !resource.reason.is_empty() {
        why.extend([" (", &resource.reason, ")"]);
    }
    Standing::Waiting(why)
}

/// Kind, name, app and cluster of a resource.
pub(super) fn named((app, cluster, resource): PlacedResource<'_, '_>) -> String {
    format!(
        "{} {} of {} in {}+{}",
        resource.gvk.kind, resource.name, app.name, cluster.cluster_provider, cluster.cluster
    )
}

/// Returns whether the resource was sent and should exist. A hook exists only for a moment.
fn is_sent(resource: &Resource<'_>) -> bool {
    resource.expected.unwrap_or(true) && !resource.hook.unwrap_or(false)
}

/// The presence of a resource in its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existence {
    Exists,
    Absent,
    /// The cluster did not report it, or not readably.
    Unknown,
}

fn existence(resource: &Resource<'_>) -> Existence {
    let unseen = [
        host_reason::NO_REPORT,
        host_reason::NOT_REPORTED,
        host_reason::UNREADABLE,
    ];
    match resource.phase {
        Some(Phase::NotPresent) => Existence::Absent,
        Some(Phase::Unknown) if unseen.contains(&&*resource.reason) => Existence::Unknown,
        Some(_) => Existence::Exists,
        None => Existence::Unknown,
    }
}

#[cfg(test)]
mod tests;
