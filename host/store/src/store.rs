//! The interface of a store, and its answers.
//!
//! A trait, because an etcd that is shared with an orchestrator will be the second store beside the
//! embedded one. `contract.rs` holds the tests that every store must pass.

use crate::{Batch, Result, Revision, Watch};

#[cfg(test)]
pub(crate) mod contract;

/// A key-value store with keys in bytewise order.
///
/// Every call blocks until the store has answered, so it belongs on a thread that may block. Shared
/// by all threads; each call sees every batch that was acknowledged before it began.
pub trait Store: Send + Sync {
    /// Reads the value of one key; none when the key is absent.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>>;

    /// Reads all keys that start with `prefix`, with their values, as they were at one moment.
    fn range(&self, prefix: &str) -> Result<Range>;

    /// Reads all keys that start with `prefix`, without moving their values.
    fn keys(&self, prefix: &str) -> Result<Keys>;

    /// Writes all of `batch` or nothing, durably, if all its conditions hold, and answers the
    /// revision of the batch. Conditions are checked against the state before the batch.
    ///
    /// # Errors
    /// [`Conflict`](crate::Error::Conflict) for the first condition that does not hold,
    /// [`TooLarge`](crate::Error::TooLarge) and [`DuplicateKey`](crate::Error::DuplicateKey) for a
    /// batch that [`Batch::check`] refuses.
    fn apply(&self, batch: &Batch) -> Result<Revision>;

    /// Watches every change of a key under `prefix` whose revision is greater than `after`, in
    /// order. All changes of a batch come together. Does not block.
    ///
    /// # Errors
    /// [`Compacted`](crate::Error::Compacted) when the store does not keep changes that far back,
    /// or `after` is not one of its revisions: read the range again and watch from its revision.
    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch>;

    /// The largest value that this store takes, in bytes.
    fn value_bytes_max(&self) -> usize;
}

/// The keys under a prefix and their values, as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// Keys and values, in bytewise order of the keys.
    pub entries: Vec<(String, Vec<u8>)>,
    /// The revision up to which all batches are in the entries. Newer ones may be in them too, so a
    /// watch after it misses nothing and may report a change that was read already.
    pub revision: Revision,
}

/// The keys under a prefix, as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// The keys, in bytewise order.
    pub keys: Vec<String>,
    /// The revision up to which all batches are in the keys, as in [`Range::revision`].
    pub revision: Revision,
}
