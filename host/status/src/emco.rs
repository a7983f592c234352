//! Answers in EMCO's newer dialect. They use the same subjects and the same selection as answers in the own
//! dialect.
//!
//! The word for a resource (`readyStatus`, `clusterStatus`) depends on its phase and its report:
//!
//! | in the cluster | word |
//! |---|---|
//! | ready, present | `Ready` |
//! | suspended, degraded | `Ready`, as in EMCO's own rules for a paused Deployment and for a Deployment with enough replicas |
//! | not-present, gone | `NotPresent` |
//! | sent, but the cluster has not reported on the app, or does not report on the Kind | `NotPresent` |
//! | pending, terminating, failed, any other unknown | `NotReady` |
//!
//! The `readyStatus` of the complete answer is the word for the rolled-up phase, with `NotReady` in place of
//! `NotPresent`. It is also `NotReady` without resources and after termination. So a child or a hook that is
//! not ready does not make the answer `NotReady` if resources were sent, but an unknown phase does.
//!
//! Stale resources keep their last words. Their cluster has the connectivity `Retrying`, and
//! [`Subject::emco_staleness`] gives the staleness of the complete answer.

mod answer;
mod check;
mod error;
mod names;
mod query;
mod resources;
mod staleness;

use kindsight_api::emco::ReadyStatus;
use kindsight_model::{Phase, host_reason};

use crate::resource_view::{ResourceView, Role};

#[cfg(doc)]
use crate::Subject;

pub use error::EmcoError;
pub use query::EmcoQuery;
pub use resources::EmcoResources;

/// The kind of subject of a query in EMCO's newer dialect. Parameters and texts depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmcoSubject {
    /// A deployment intent group, or a found application.
    Group,
    /// A cluster's own resources.
    Cluster,
    /// A logical cloud.
    LogicalCloud,
}

/// The word for a resource.
pub(crate) fn ready_status(resource: &ResourceView) -> ReadyStatus {
    if resource.role == Role::Gone || is_unreported(resource) {
        ReadyStatus::NotPresent
    } else {
        emco_ready_status(resource.verdict.phase)
    }
}

/// EMCO's word for the phase of a resource, or for a rolled-up phase.
pub fn emco_ready_status(phase: Phase) -> ReadyStatus {
    match phase {
        Phase::Ready | Phase::Present | Phase::Suspended | Phase::Degraded => ReadyStatus::Ready,
        Phase::NotPresent => ReadyStatus::NotPresent,
        Phase::Pending | Phase::Terminating | Phase::Failed | Phase::Unknown => {
            ReadyStatus::NotReady
        }
    }
}

/// The word for a rolled-up phase.
fn of_rollup(phase: Phase) -> ReadyStatus {
    match emco_ready_status(phase) {
        ReadyStatus::Ready => ReadyStatus::Ready,
        ReadyStatus::NotReady | ReadyStatus::NotPresent => ReadyStatus::NotReady,
    }
}

/// Returns whether the resource was sent, but the cluster has reported neither its presence nor its absence.
fn is_unreported(resource: &ResourceView) -> bool {
    let verdict = &resource.verdict;
    let reasons = [host_reason::NO_REPORT, host_reason::NOT_REPORTED];
    resource.is_sent()
        && verdict.phase == Phase::Unknown
        && verdict.by.is_none()
        && reasons.contains(&&*verdict.reason)
}

#[cfg(test)]
mod tests;
