//! Answers in EMCO's newer dialect, from the same subjects and the same selection as all others.
//!
//! The word of a resource (`readyStatus`, `clusterStatus`) follows from its phase and from what the cluster told
//! of it:
//!
//! | in the cluster | word |
//! |---|---|
//! | ready, present | `Ready` |
//! | suspended, degraded | `Ready`: EMCO's own rules say so of a paused Deployment and of one with enough replicas |
//! | not-present, gone | `NotPresent` |
//! | sent, and the cluster has not reported on the app, or does not report on the Kind | `NotPresent` |
//! | pending, terminating, failed, any other unknown | `NotReady` |
//!
//! The `readyStatus` of the whole is the word of the rolled up phase, with `NotReady` for `NotPresent`, as it is
//! for nothing at all and for what was terminated. So a child or a hook that is not ready does not make the whole
//! `NotReady` beside what was sent, and an unknown phase does.
//!
//! Words stay those that were last known. What may be out of date has the connectivity `Retrying`, and
//! [`Subject::emco_staleness`] tells it of the whole.

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

/// The kind of subject that a query in EMCO's newer dialect is about: parameters and texts differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmcoSubject {
    /// A deployment intent group, or an application that was found.
    Group,
    /// A cluster's own resources.
    Cluster,
    /// A logical cloud.
    LogicalCloud,
}

/// The word of a resource.
pub(crate) fn ready_status(resource: &ResourceView) -> ReadyStatus {
    if resource.role == Role::Gone || is_untold(resource) {
        ReadyStatus::NotPresent
    } else {
        of_phase(resource.verdict.phase)
    }
}

/// The word of a phase.
fn of_phase(phase: Phase) -> ReadyStatus {
    match phase {
        Phase::Ready | Phase::Present | Phase::Suspended | Phase::Degraded => ReadyStatus::Ready,
        Phase::NotPresent => ReadyStatus::NotPresent,
        Phase::Pending | Phase::Terminating | Phase::Failed | Phase::Unknown => {
            ReadyStatus::NotReady
        }
    }
}

/// The word of the whole, for the phase that it is rolled up to.
fn of_whole(phase: Phase) -> ReadyStatus {
    match of_phase(phase) {
        ReadyStatus::Ready => ReadyStatus::Ready,
        ReadyStatus::NotReady | ReadyStatus::NotPresent => ReadyStatus::NotReady,
    }
}

/// Returns whether it was sent and the cluster has told nothing of it: neither that it is there nor that it is
/// not.
fn is_untold(resource: &ResourceView) -> bool {
    let verdict = &resource.verdict;
    let reasons = [host_reason::NO_REPORT, host_reason::NOT_REPORTED];
    resource.is_sent()
        && verdict.phase == Phase::Unknown
        && verdict.by.is_none()
        && reasons.contains(&&*verdict.reason)
}

#[cfg(test)]
mod tests;
