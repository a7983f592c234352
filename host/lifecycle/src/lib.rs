//! Lifecycle of deployment intent groups: create, approve, instantiate, update, roll back, terminate, stop, delete.
//!
//! ```text
//! request ─▶ Groups ──appends an action──▶ records ─▶ Sequence ─▶ Sender ─▶ clusters
//!                                                        │
//!                                                        └─statuses─▶ context ─▶ pipeline
//! ```
//!
//! [`Situation`] is the state machine. [`Groups`] decides with it and appends each action to the record, by
//! compare-and-swap, before anything is done. [`Sequence`] does the work that the record asks for, step by step, and
//! writes the result of each step into the context. After a restart, it continues with the first step without a result.
//! A [`Sender`] repeats a step without a further effect.
//!
//! All calls block until the store and the clusters have answered. Time is an argument. The caller repeats
//! [`Sequence::run`] while a cluster is unreachable.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod differences;
mod draft;
mod groups;
mod manifest;
mod preparation;
mod preview;
mod readiness;
mod sender;
mod sequence;
mod state;
#[cfg(test)]
mod tests;
mod work;

use kindsight_model::{ContextId, DigName};

pub use differences::{DIFFERENCES_MAX, differences};
pub use draft::{
    APP_CLUSTERS_MAX, APP_DEPENDENCIES_MAX, APP_MANIFESTS_MAX, APPS_MAX, Draft, DraftApp,
    DraftDependency, DraftProblem, DraftResourceDependency, GROUP_RESOURCES_MAX,
    GROUP_SENT_BYTES_MAX, RESOURCE_DEPENDENCIES_MAX, WAIT_SECONDS_MAX,
};
pub use groups::{
    ACTIONS_MAX, Command, Group, Groups, RESOURCE_PROBLEMS_MAX, ResourceProblem, Stored,
};
pub use kindsight_appcontext::{AskedWork, IntentCondition};
pub use preparation::{NotPrepared, Preparation};
pub use preview::{DRY_RUN_RESOURCES_MAX, DryRun, PlannedChange, PlannedResource};
pub use readiness::Readiness;
pub use sender::{
    Applied, CannotSend, Change, Deletion, Preview, SendError, Sender, SentResource, Target,
};
pub use sequence::{INSTANCES_KEPT, Outcome, Sequence};
pub use state::{Action, Next, Refusal, Situation};
pub use work::Job;

/// Errors of actions and sequences, divided by the reaction of the caller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The draft has problems: correct it.
    #[error("the group is not valid")]
    Invalid(Vec<DraftProblem>),
    /// There is no such group.
    #[error("there is no deployment intent group {0}")]
    NotFound(DigName),
    /// The group was recorded without an intent, by another orchestrator or an earlier release: it cannot be changed
    /// here.
    #[error(
        "the deployment intent group {0} is read-only: it was not created through this interface"
    )]
    ReadOnly(DigName),
    /// The context does not exist.
    #[error("there is no AppContext {0}")]
    NoContext(ContextId),
    /// The revision does not exist, or is not kept any more.
    #[error("there is no revision {revision} of the group; {}", known_revisions(.known))]
    NoRevision {
        /// The revision.
        revision: i64,
        /// The revisions that exist.
        known: Vec<i64>,
    },
    /// The action is not possible in the state of the group.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Resources cannot be sent to these clusters; nothing was sent.
    #[error("{}", joined(.0))]
    CannotSend(Vec<CannotSend>),
    /// The record has the maximum number of actions: delete the group and create it again.
    #[error("the group has {ACTIONS_MAX} actions; delete the group and create it again")]
    ActionsMax,
    /// Other callers changed the group in every attempt: try again.
    #[error("the deployment intent group {0} was changed by others at the same time; try again")]
    Contended(DigName),
    /// A stored manifest cannot be sent any more: report a bug.
    #[error("the stored manifest of {resource} cannot be sent: {why}")]
    Manifest {
        /// The resource.
        resource: String,
        /// The reason.
        why: String,
    },
    /// The context was deleted while its resources were sent or removed.
    #[error("the context was deleted during its work")]
    ContextDeleted,
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] kindsight_appcontext::Error),
}

/// The result of every call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn known_revisions(known: &[i64]) -> String {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    format!("kept revisions: {}", known.join(", "))
}

fn joined(reasons: &[CannotSend]) -> String {
    let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    reasons.join("; ")
}
