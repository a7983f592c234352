//! The `AppContext` library over a store, records of what was done, and a stream of their changes.
//!
//! clusters, lifecycle -> **appcontext** -> pipeline
//!
//! Under `/context/` the store holds exactly the layout that existing EMCO orchestrators write, so
//! their contexts are read as they are and ours are read by them. Everything of our own lives under
//! `/kindsight/`, with a version in every value. Keys are built and parsed in one file, `keys.rs`.
//!
//! [`AppContexts`] creates, reads and updates contexts; [`Records`] keeps the actions of deployment
//! intent groups and clusters; [`AppContextWatch`] tells which of both changed, whoever changed them.
//! All calls but the watch block until the store has answered: call them from threads that may block.
//!
//! # What is left out
//!
//! - The work queue and intermediate states of rsync (`rsync/…`, `/activecontext/`): ours live in
//!   the records. Such keys of another writer are left alone and ignored when reading.
//! - Status contexts, which an update of a running group uses (`statusappctxid/`, `reference/`): a
//!   context is read by itself.
//! - What the reference caches of readiness (`resourcesready/`, `resready/`, `ressuccess/`,
//!   `definition/`): the interpreters answer that from the bundle.
//! - Changing a context after it was created: apps, clusters and resources are written once, only
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
mod keys;
mod records;
mod snapshot;

pub use changes::{AppContextChanges, AppContextWatch};
pub use context::{AppContexts, Connectivity, ContextList, Recorded, StatusChange};
pub use creation::{ContextMeta, NewApp, NewCluster, NewContext, NewResource};
pub use keys::{NAME_BYTES_MAX, ResourceName};
pub use records::{Action, ClusterRecord, DigRecord, Listed, RECORD_VERSION, Records};
pub use snapshot::{AppSnapshot, ClusterSnapshot, ContextSnapshot, ResourceSnapshot};

/// The reasons why a context or a record cannot be read or written, split by what the caller does
/// next.
///
/// An error of a write means that it was not acknowledged. It is then there as a whole or not at
/// all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This name cannot be part of a key: refuse the request it came from.
    #[error("`{name}` is not {wanted}")]
    Name {
        /// The name as given.
        name: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// Written by another release than this one, most likely a newer one: use that release.
    #[error("`{key}` has version {found}, this release knows {known}")]
    UnknownVersion {
        /// The key of the record.
        key: String,
        /// The version it carries.
        found: u64,
        /// The version that is understood.
        known: u64,
    },
    /// The value of one of our own keys is damaged: this record cannot be used.
    #[error("`{key}` cannot be read: {why}")]
    Unreadable {
        /// The key of the record.
        key: String,
        /// What is wrong with its value.
        why: String,
    },
    /// A value is not JSON; no type of this crate is one.
    #[error("failed to write a value as JSON")]
    Encode(#[source] serde_json::Error),
    /// The store refused or failed: see what its error asks for.
    #[error(transparent)]
    Store(#[from] kindsight_store::Error),
}

/// The result of every call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One value that could not be understood. Its neighbours are not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The key it stands under.
    pub key: String,
    /// Why.
    pub why: String,
}
