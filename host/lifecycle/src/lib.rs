//! Lifecycle of deployment intent groups: create, approve, instantiate, update, roll back, terminate, stop, delete; and of
//! the network intents of clusters: create, apply, terminate, delete. Both have records, contents, contexts and sequences
//! of one form; only [`Situation`] distinguishes them.
//!
//! ```text
//! request ─▶ Groups ──appends an action──▶ records ─▶ Sequence ─▶ Sender ─▶ clusters
//!                                                        │
//!                                                        └─statuses─▶ context ─▶ pipeline
//! ```
//!
//! [`Situation`] is the state machine. [`Groups`] decides with it and appends each action to the record, by
//! compare-and-swap, before anything is done. [`Sequence`] does the work that the record asks for, step by step, and
//! writes the results of a few steps together into the context. After a restart, it continues with the first step without
//! a stored result. A [`Sender`] repeats a step without a further effect.
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
mod history;
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

use kindsight_model::{ContextId, RecordSubject};

pub use differences::{DIFFERENCES_MAX, differences};
pub use draft::{
    APP_CLUSTERS_MAX, APP_DEPENDENCIES_MAX, APP_MANIFESTS_MAX, APPS_MAX, Draft, DraftApp,
    DraftDependency, DraftProblem, DraftResourceDependency, GROUP_RESOURCES_MAX,
    GROUP_SENT_BYTES_MAX, NETWORK_GROUP, RESOURCE_DEPENDENCIES_MAX, WAIT_SECONDS_MAX,
};
pub use groups::{
    ACTIONS_MAX, Command, ContentCondition, Group, Groups, RESOURCE_PROBLEMS_MAX, ResourceProblem,
    Stored,
};
pub use history::ACTIONS_KEPT;
pub use kindsight_appcontext::{AskedWork, IntentCondition};
pub use preparation::{NotPrepared, Preparation};
pub use preview::{DRY_RUN_RESOURCES_MAX, DryRun, PlannedChange, PlannedResource};
pub use readiness::Readiness;
pub use sender::{
    Applied, CannotSend, Change, Deletion, InstalledDefinition, Preview, SendError, Sender,
    SentDefinition, SentResource, SentStatus, Target,
};
pub use sequence::{INSTANCES_KEPT, Outcome, Sequence};
pub use state::{Action, Next, Refusal, Situation};
pub use work::{CREATED, Job};

/// Errors of actions and sequences, divided by the reaction of the caller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The draft has problems: correct it.
    #[error("the content is not valid")]
    Invalid(Vec<DraftProblem>),
    /// There is no such group, or the cluster has no network intents.
    #[error("{}", absent(.0))]
    NotFound(RecordSubject),
    /// The subject was recorded without an intent, by another orchestrator or an earlier release: it cannot be changed
    /// here.
    #[error("the {0} is read-only: its record was not created through this interface")]
    ReadOnly(RecordSubject),
    /// The context does not exist.
    #[error("there is no AppContext {0}")]
    NoContext(ContextId),
    /// The revision does not exist, or is not kept any more.
    #[error("there is no revision {revision}; {}", known_revisions(.known))]
    NoRevision {
        /// The revision.
        revision: i64,
        /// The revisions that exist.
        known: Vec<i64>,
    },
    /// The action is not possible in the state of the subject.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The caller has seen another content: read the group again.
    #[error("the content of the group is another one: its tag is {0}")]
    OtherContent(String),
    /// Resources cannot be sent to these clusters; nothing was sent.
    #[error("{}", joined(.0))]
    CannotSend(Vec<CannotSend>),
    /// The record has the maximum number of actions: delete it and create it again.
    #[error("the record has {ACTIONS_MAX} actions; delete it and create it again")]
    ActionsMax,
    /// Other callers changed the subject in every attempt: try again.
    #[error("the {0} was changed by others at the same time; try again")]
    Contended(RecordSubject),
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

fn absent(subject: &RecordSubject) -> String {
    match subject {
        RecordSubject::Cluster(_) => format!("the {subject} has no network intents"),
        RecordSubject::Group(_) | RecordSubject::LogicalCloud(_) => {
            format!("there is no {subject}")
        }
    }
}

fn known_revisions(known: &[i64]) -> String {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    format!("kept revisions: {}", known.join(", "))
}

fn joined(reasons: &[CannotSend]) -> String {
    let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    reasons.join("; ")
}
