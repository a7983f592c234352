//! The `AppContext` library over a store, the records of actions, and a stream of changes.
//!
//! clusters, lifecycle -> **appcontext** -> pipeline
//!
//! The keys under `/context/` have exactly the layout that EMCO orchestrators write, so their
//! contexts are read as they are and ours are read by them. Everything of our own is under
//! `/kindsight/`, with a version in every value. Keys are built and parsed in one file, `keys.rs`.
//!
//! [`AppContexts`] creates, reads and updates contexts; [`Records`] keeps the actions of deployment
//! intent groups and clusters; [`AppContextWatch`] reports which of them changed, by any writer.
//! All calls but the watch block until the store has answered: call them from threads that may
//! block.
//!
//! # Parts of the reference that are left out
//!
//! - The work queue and intermediate states of rsync (`rsync/…`, `/activecontext/`): ours are in
//!   the records. Such keys of another writer are left alone and not read.
//! - Status contexts, which an update of a running group uses (`statusappctxid/`, `reference/`): a
//!   context is read by itself.
//! - Cached readiness (`resourcesready/`, `resready/`, `ressuccess/`, `definition/`): interpreters
//!   judge that from the bundle.
//! - Changes of a context after it was created: apps, clusters and resources are written once, only
//!   states and statuses change.
//! - Dependencies other than "go at once", hooks, and approval sub-resources.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod changes;
mod context;
mod creation;
mod go_json;
mod instruction;
mod keys;
mod members;
mod meta;
mod records;
mod snapshot;
mod status;

pub use changes::{AppContextChanges, AppContextWatch};
pub use context::{AppContexts, ContextList, Recorded, StatusChange};
pub use creation::{NewApp, NewCluster, NewContext, NewResource};
pub use instruction::{
    AppDependency, AppOrder, AppsDependency, DependsOn, GO, Instruction, ResourceDependency,
    ResourceOrder,
};
pub use keys::{RESOURCE_NAME_BYTES_MAX, ResourceName};
pub use members::Members;
pub use meta::ContextMeta;
pub use records::{Action, ClusterRecord, DigRecord, Listed, RECORD_VERSION, Records};
pub use snapshot::{
    AppSnapshot, ClusterSnapshot, ContextSnapshot, REFERENCES_MAX, ResourceSnapshot,
};
pub use status::Connectivity;

/// Errors of contexts and records, split by what the caller does next.
///
/// An error of a write means that it was not acknowledged. It is then there as a whole or not at
/// all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name cannot be part of a key: refuse the request that it came from.
    #[error("`{name}` is not {expected}")]
    Name {
        /// The name as given.
        name: String,
        /// The kind of name that is expected, with its rules.
        expected: &'static str,
    },
    /// The record was written by another release, most likely a newer one: use that release.
    #[error("`{key}` has version {found}, this release knows {known}")]
    UnknownVersion {
        /// The key of the record.
        key: String,
        /// The version it carries.
        found: u64,
        /// The version that is understood.
        known: u64,
    },
    /// The record is damaged: it cannot be used.
    #[error("`{key}` cannot be read: {why}")]
    Unreadable {
        /// The key of the record.
        key: String,
        /// The reason, as a fragment of a sentence.
        why: String,
    },
    /// JSON cannot express a value, which no type of this crate leads to: report a bug.
    #[error("failed to write a value as JSON")]
    Encode(#[source] serde_json::Error),
    /// The store refused or failed: do what its error asks for.
    #[error(transparent)]
    Store(#[from] kindsight_store::Error),
}

/// The result of every call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A stored value that could not be understood. Its neighbours are not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The key of the value.
    pub key: String,
    /// The reason, as a fragment of a sentence.
    pub why: String,
}
