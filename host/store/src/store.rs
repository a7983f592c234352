//! The interface of a store, and its answers.
//!
//! A trait, because an etcd that is shared with an orchestrator is the second store beside the
//! embedded one. `contract.rs` holds the tests that every store must pass.

use tokio::sync::watch::Receiver;

use crate::{Batch, Connection, Result, Revision, Watch};

#[cfg(test)]
pub(crate) mod contract;

/// A key-value store with keys in bytewise order.
///
/// Every call blocks until the store has answered, so it belongs on a thread that may block. Shared
/// by all threads; each call sees every batch that was acknowledged before it began.
pub trait Store: Send + Sync {
    /// Reads one key with its value and revisions; none when the key is absent.
    fn entry(&self, key: &str) -> Result<Option<Entry>>;

    /// Reads the value of one key; none when the key is absent.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.entry(key)?.map(|entry| entry.value))
    }

    /// Reads all keys that start with `prefix`, with their values, as they were at one moment.
    fn range(&self, prefix: &str) -> Result<Range>;

    /// Reads all keys that start with `prefix`, without moving their values.
    fn keys(&self, prefix: &str) -> Result<Keys>;

    /// Writes all of `batch` or nothing, durably, if all its conditions hold, and answers the
    /// revision of the batch. Conditions are checked against the state before the batch.
    ///
    /// # Errors
    /// [`Conflict`](crate::Error::Conflict) for the first condition that does not hold,
    /// [`TooLarge`](crate::Error::TooLarge), [`BatchTooLarge`](crate::Error::BatchTooLarge) and
    /// [`DuplicateKey`](crate::Error::DuplicateKey) for a batch that [`Batch::check`] refuses. A
    /// batch is never split: who has more to write asks [`Store::limits`] first.
    fn apply(&self, batch: &Batch) -> Result<Revision>;

    /// Watches every change of a key under `prefix` whose revision is greater than `after`, in
    /// order. All changes of a batch come together. Does not block.
    ///
    /// # Errors
    /// [`Compacted`](crate::Error::Compacted) when the store does not keep changes that far back,
    /// or `after` is not one of its revisions: read the range again and watch from its revision.
    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch>;

    /// The largest values and batches that this store takes.
    fn limits(&self) -> StoreLimits;

    /// The connection to what keeps the data, now and whenever it changes. The embedded store is
    /// always connected.
    fn connection(&self) -> Receiver<Connection>;
}

/// The largest values and batches that a store takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// The largest value, in bytes.
    pub value_bytes: usize,
    /// The most writes of one batch, and the most conditions.
    pub batch_writes: usize,
    /// The most bytes of one batch: keys and values of writes and conditions, and
    /// [`OPERATION_BYTES`](crate::OPERATION_BYTES) for each.
    pub batch_bytes: usize,
}

/// One key of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: Vec<u8>,
    /// The revision of the batch that put it when it was absent.
    pub created: Revision,
    /// The revision of the last batch that put it.
    ///
    /// Both are the default where an earlier release, which kept none, put it last.
    pub changed: Revision,
}

/// The keys under a prefix and their values, as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The keys with their values, in bytewise order of the keys.
    pub entries: Vec<Entry>,
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
