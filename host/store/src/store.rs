//! The interface of a store, and its answers.
//!
//! It is a trait because there are two implementations: the embedded store, and an etcd that is
//! shared with an orchestrator. `contract.rs` contains the tests that every store must pass.

use tokio::sync::watch::Receiver;

use crate::{Batch, Connection, Lease, Leased, Result, Revision, WantedLease, Watch};

#[cfg(test)]
pub(crate) mod contract;

/// A key-value store with keys in bytewise order.
///
/// Every call blocks until the store has answered, so call it from a thread that may block. All
/// threads can share a store. Each call sees every batch that was acknowledged before the call
/// began.
pub trait Store: Send + Sync {
    /// Reads one key with its value and revisions. Returns `None` if the key is absent.
    fn entry(&self, key: &str) -> Result<Option<Entry>>;

    /// Reads the value of one key. Returns `None` if the key is absent.
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.entry(key)?.map(|entry| entry.value))
    }

    /// Reads all keys that start with `prefix`, with their values, as they were at one moment.
    fn range(&self, prefix: &str) -> Result<Range>;

    /// Reads all keys that start with `prefix`, without transferring their values.
    fn keys(&self, prefix: &str) -> Result<Keys>;

    /// Writes the complete `batch` durably if all its conditions hold, or else nothing. Returns the
    /// revision of the batch. Conditions are checked against the state before the batch.
    ///
    /// # Errors
    /// [`Conflict`](crate::Error::Conflict) for the first condition that does not hold,
    /// [`TooLarge`](crate::Error::TooLarge), [`BatchTooLarge`](crate::Error::BatchTooLarge) and
    /// [`DuplicateKey`](crate::Error::DuplicateKey) for a batch that [`Batch::check`] rejects. A
    /// store never splits a batch: if the data may be larger than one batch, check
    /// [`Store::limits`] first.
    fn apply(&self, batch: &Batch) -> Result<Revision>;

    /// Asks for the lease with a name: at most one program has it at a time. The name is part of a
    /// key.
    ///
    /// A store that no other program can open grants every lease, so its callers are not protected
    /// from each other.
    ///
    /// # Errors
    /// [`LeaseLost`](crate::Error::LeaseLost) if the store ended all leases of this program: ask
    /// again. Otherwise the errors of [`Store::apply`].
    fn lease(&self, name: &str) -> Result<Leased>;

    /// Asks for several leases in one batch: all of them, or none. Returns the leases in the order of
    /// the names, or `None` if another program has one of them.
    ///
    /// # Errors
    /// As [`Store::lease`], and [`BatchTooLarge`](crate::Error::BatchTooLarge) for more leases than
    /// [`StoreLimits::batch_writes`].
    fn lease_all(&self, wanted: &[WantedLease]) -> Result<Option<Vec<Lease>>> {
        let mut leases = Vec::with_capacity(wanted.len());
        for WantedLease { name, .. } in wanted {
            match self.lease(name)? {
                Leased::Granted(lease) => leases.push(lease),
                Leased::Held => return Ok(None),
            }
        }
        Ok(Some(leases))
    }

    /// Watches every change of a key under `prefix` whose revision is greater than `after`, in
    /// order. All changes of a batch are reported together. Does not block.
    ///
    /// # Errors
    /// [`Compacted`](crate::Error::Compacted) if the store does not keep changes that far back, or
    /// if `after` is not one of its revisions: read the range again and watch from its revision.
    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch>;

    /// The largest values and batches that this store accepts.
    fn limits(&self) -> StoreLimits;

    /// The connection to the data, with its current state and each change of it. The embedded store
    /// is always connected.
    fn connection(&self) -> Receiver<Connection>;
}

/// The largest values and batches that a store accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// The largest value, in bytes.
    pub value_bytes: usize,
    /// The maximum number of writes of one batch, and of its conditions.
    pub batch_writes: usize,
    /// The maximum number of bytes of one batch: the keys and values of writes and conditions, and
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
    /// The revision of the batch that put the key when it was absent.
    pub created: Revision,
    /// The revision of the last batch that put the key.
    ///
    /// Both revisions are the default if an earlier release, which kept no revisions, put the key
    /// last.
    pub changed: Revision,
}

/// The keys under a prefix and their values, as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The keys with their values, in bytewise order of the keys.
    pub entries: Vec<Entry>,
    /// The entries contain all batches up to this revision, and may contain newer ones. A watch
    /// after this revision therefore misses no change, but may report a change that was already
    /// read.
    pub revision: Revision,
}

/// The keys under a prefix, as they were at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// The keys, in bytewise order.
    pub keys: Vec<String>,
    /// The keys contain all batches up to this revision, as in [`Range::revision`].
    pub revision: Revision,
}
