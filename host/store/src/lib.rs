//! A key-value store: ordered keys, ranges, conditional batches, and watches from a revision.
//!
//! appcontext, catalog -> **store** -> one file, or an etcd
//!
//! [`Store`] is the interface. [`RedbStore`] is the embedded implementation in one file.
//! [`EtcdStore`] is the implementation in an etcd that other programs share. [`open`] opens either
//! of them by its address. The crates that use a store define its keys and values. The only key of
//! this crate is the mark with the version of the layout. Calls block until the store has answered,
//! so call them from threads that may block. Only [`Watch::next`] is async.
//!
//! A reader that follows a store reads a [`Range`] and then the [`Watch`] after the range's
//! [`Revision`]. The watch reports the keys that changed, with their values. After
//! [`Error::Compacted`], the reader starts again with a range.
//!
//! The build generates the etcd client with `protoc`. In this workspace, `.cargo/config.toml` uses
//! the `protoc` of the crate `protoc-bin-vendored`. To build this crate in another workspace,
//! install `protoc` or set `PROTOC`.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod address;
mod batch;
mod change_log;
mod changes;
mod connection;
mod copy;
mod etcd;
mod format;
mod lease;
pub mod parts;
mod read_only;
mod redb_store;
mod revision;
mod store;
mod watch;

use std::path::PathBuf;

pub use address::{AddressError, StoreAddress, open, open_existing};
pub use batch::{Batch, Condition, OPERATION_BYTES, Write};
pub use change_log::{CHANGES_KEPT_MAX, VALUES_KEPT_BYTES_MAX};
pub use changes::{Change, ChangeKind, Changes};
pub use connection::Connection;
pub use copy::{Copied, CopyError, copy, walk};
pub use etcd::{
    ETCD_BATCH_BYTES_MAX, ETCD_BATCH_WRITES_MAX, ETCD_VALUE_BYTES_MAX, EtcdOptions, EtcdStore,
};
pub use format::FORMAT_VERSION;
pub use lease::{EndedLeases, Expiry, LEASES_PREFIX, Lease, Leased, WantedLease, end_leases};
pub use read_only::{ReadOnly, read_only};
pub use redb_store::{BATCH_BYTES_MAX, BATCH_WRITES_MAX, CACHE_BYTES, RedbStore, VALUE_BYTES_MAX};
pub use revision::Revision;
pub use store::{Entry, Keys, Range, Store, StoreLimits};
pub use watch::Watch;

/// Errors of a store, split by what the caller does next.
///
/// An error of [`Store::apply`] means that the batch was not acknowledged. A batch is always
/// applied completely or not at all. After [`Error::OutcomeUnknown`] and [`Error::Backend`], it may
/// have been applied. After any other error, it was not applied.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// One batch writes the same key more than once: reject the request that caused it.
    #[error("`{key}` is written more than once")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// The value is over the store's limit: reject the value, and report the reason to the user.
    #[error("value of {bytes} bytes for `{key}` is over the store's limit of {max} bytes")]
    TooLarge {
        /// The key of the value.
        key: String,
        /// The size of the value.
        bytes: usize,
        /// The limit of this store, from [`Store::limits`].
        max: usize,
    },
    /// The batch is over a limit of the store: write it in several batches, in an order in which no
    /// reader sees a partial result.
    #[error("a batch with {found} {what}, one of them `{key}`, is over the store's limit of {max}")]
    BatchTooLarge {
        /// One of its keys.
        key: String,
        /// The measure that is over its limit: `writes`, `conditions` or `bytes`.
        what: &'static str,
        /// The amount in the batch.
        found: usize,
        /// The limit of this store, from [`Store::limits`].
        max: usize,
    },
    /// The store accepts no writes from this program: write to another store.
    #[error("the store is open for reading only")]
    ReadOnly,
    /// The store rejects the credentials, or the user lacks a permission: use other credentials, or
    /// grant the permission.
    #[error("the store denied access: {reason}")]
    Denied {
        /// The reason, as a fragment of a sentence.
        reason: String,
    },
    /// The store does not watch the changes under the prefix of a watch: open it with a wider
    /// prefix.
    #[error("changes under `{prefix}` are not watched, only changes under `{watched}`")]
    NotWatched {
        /// The prefix of the watch.
        prefix: String,
        /// The prefix that the store was opened with.
        watched: String,
    },
    /// The store could not be reached, and nothing was written: try again later.
    #[error("the store cannot be reached: {reason}")]
    Unavailable {
        /// The reason, as a fragment of a sentence.
        reason: String,
    },
    /// It is unknown whether the batch was applied, and it could not be read back: read the keys
    /// before the next write.
    #[error("`{key}` may have been written or not: {reason}")]
    OutcomeUnknown {
        /// One of the keys of the batch.
        key: String,
        /// The reason, as a fragment of a sentence.
        reason: String,
    },
    /// A condition does not hold, because another writer was faster: read the keys and decide
    /// again. Nothing was written.
    #[error("`{key}` is not in the expected state")]
    Conflict {
        /// The key of the condition.
        key: String,
    },
    /// The lease of this writer has ended, and another program may own the data: stop, and ask for
    /// the lease again. Nothing was written.
    #[error("the lease `{key}` has ended")]
    LeaseLost {
        /// The key of the lease.
        key: String,
    },
    /// Changes up to the revision `oldest` are no longer kept: read the range again, and watch from
    /// its revision.
    #[error("changes up to revision {oldest} are no longer kept")]
    Compacted {
        /// The oldest revision that a watch can begin after.
        oldest: Revision,
    },
    /// The store no longer has its keys at the revision at which they are read: open the store
    /// again, and read everything at a later revision.
    #[error("etcd compacted revision {revision}, so its keys can no longer be read")]
    RevisionCompacted {
        /// The revision.
        revision: Revision,
    },
    /// The store was dropped, so a watch can receive nothing more: stop.
    #[error("the store is closed")]
    Closed,
    /// No disk space is left: free some. The store recovers automatically when space is available.
    #[error("no space left for the store")]
    Full(#[source] std::io::Error),
    /// Another process has the store open: stop it, or use another file.
    #[error("{} is in use by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be opened or created: check the folder and its permissions.
    #[error("failed to open {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a kindsight store, or is damaged: use another file. The content of the file
    /// was not changed.
    #[error("{} is not a kindsight store: {why}", path.display())]
    ForeignStore {
        /// The file.
        path: PathBuf,
        /// The content that was found instead.
        why: String,
    },
    /// The store has the layout of another release, most likely of a newer one: use that release.
    #[error(
        "`{key}` has version {found}, this release supports versions up to {known}: use the release that wrote it, or restore a backup that an earlier release made"
    )]
    UnknownVersion {
        /// The key of the mark.
        key: String,
        /// The version of the layout.
        found: u64,
        /// The version that this release supports.
        known: u64,
    },
    /// The mark of the store's layout is damaged: use another store.
    #[error("`{key}` cannot be read: {why}")]
    Unreadable {
        /// The key of the mark.
        key: String,
        /// The reason, as a fragment of a sentence.
        why: String,
    },
    /// The store itself failed: try again later.
    #[error("the store failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Formats an error with its causes in one line, for logs and for texts that contain no error
/// value.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// The result of every call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
