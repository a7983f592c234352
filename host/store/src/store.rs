//! The interface of a store, and what it answers.
//!
//! A trait, because there are two stores: the embedded one and the etcd that an orchestrator shares.
//! `contract.rs` holds the tests that each of them must pass.

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
    /// revision of the store with it. Conditions are judged by what was there before the batch.
    ///
    /// # Errors
    /// [`Conflict`](crate::Error::Conflict) names the first condition that does not hold,
    /// [`TooLarge`](crate::Error::TooLarge) and [`DuplicateKey`](crate::Error::DuplicateKey) say why no
    /// store applies the batch.
    fn apply(&self, batch: &Batch) -> Result<Revision>;

    /// Watches every change of a key under `prefix` whose revision is greater than `after`, in order.
    /// All changes of a batch come together. Does not block.
    ///
    /// # Errors
    /// [`Compacted`](crate::Error::Compacted) when the store does not keep changes that far back, or
    /// did not answer `after` since it was opened: read the range again and watch from its revision.
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
    /// watch after it misses nothing and may repeat something.
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
