//! What is true now: the `AppContext` library over a store, and state records.
//!
//! clusters, lifecycle -> **appcontext** -> interpreter, status
//!
//! Under `/context/` the store holds exactly the layout that existing EMCO orchestrators write, so
//! their contexts are read as they are and ours are read by them. Everything of our own lives under
//! `/kindsight/`, with a version in every value. Keys are built and parsed in one file, `keys.rs`.
//!
//! A [`Store`] is a small ordered key-value store with atomic, conditional batches; [`RedbStore`]
//! is the embedded one. [`AppContexts`] creates, reads and updates contexts; [`Records`] keeps the
//! actions of deployment intent groups and clusters. All calls block until the store has
//! acknowledged: call them from threads that may block.
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

mod components;
mod context;
mod creation;
mod format;
mod go_json;
mod keys;
mod records;
mod redb_store;
mod snapshot;
mod store;

use std::path::PathBuf;

pub use components::Components;
pub use context::{AppContexts, Connectivity, Recorded, StatusChange};
pub use creation::{ContextMeta, NewApp, NewCluster, NewContext, NewResource};
pub use format::FORMAT_VERSION;
pub use keys::{NAME_BYTES_MAX, ResourceName};
pub use records::{Action, ClusterRecord, DigRecord, Listed, RECORD_VERSION, Records};
pub use redb_store::{CACHE_BYTES, RedbStore, VALUE_BYTES_MAX};
pub use snapshot::{AppSnapshot, ClusterSnapshot, ContextSnapshot, ResourceSnapshot};
pub use store::{Batch, Condition, Store, Write};

/// Why the store could not do what it was asked, split by what the caller does next.
///
/// An error of a write means that it was not acknowledged. It is then either there as a whole or
/// not at all.
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
    /// One batch writes the same key more than once: refuse the request it came from.
    #[error("`{key}` is written more than once")]
    Twice {
        /// The key.
        key: String,
    },
    /// The value is over the store's limit: refuse it, and say so where the user looks.
    #[error("value of {bytes} bytes for `{key}` is over the store's limit of {max} bytes")]
    TooLarge {
        /// Its key.
        key: String,
        /// Its size.
        bytes: usize,
        /// The limit of this store, from [`Store::value_bytes_max`].
        max: usize,
    },
    /// Somebody else was faster: read again and decide again. Nothing was written.
    #[error("`{key}` is not as expected")]
    Conflict {
        /// The key whose condition did not hold.
        key: String,
    },
    /// There is no room left: nothing was written. The store recovers when there is room again.
    #[error("no room left in the store")]
    Full(#[source] std::io::Error),
    /// Another process has the store open: stop it, or use another file.
    #[error("{} is in use by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be opened or made: check the folder and its permissions.
    #[error("failed to open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// This is not a store of ours, or a damaged one: use another file. Its content was not changed.
    #[error("{} is not a kindsight store: {why}", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        why: String,
    },
    /// Written by another release than this one, most likely a newer one: use that release.
    #[error("`{key}` has version {found}, this release knows {known}")]
    UnknownVersion {
        /// The key.
        key: String,
        /// The version it carries.
        found: u64,
        /// The version that is understood.
        known: u64,
    },
    /// The value of one of our own keys is damaged: this record cannot be used.
    #[error("`{key}` cannot be read: {why}")]
    Unreadable {
        /// The key.
        key: String,
        /// What is wrong with its value.
        why: String,
    },
    /// The store itself failed: try again later.
    #[error("the store failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What every call of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One value that could not be understood. Its neighbours are not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The key it stands under.
    pub key: String,
    /// Why.
    pub why: String,
}
