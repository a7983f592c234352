//! A store that counts the ranges that are read.

use std::sync::{Mutex, PoisonError};

use kindsight_store::{
    Batch, Connection, Entry, Keys, Range, RedbStore, Result, Revision, Store, StoreLimits, Watch,
};
use tokio::sync::watch::Receiver;

/// A store over another one, which keeps the prefixes that were read since the last time.
pub(crate) struct Counting {
    store: RedbStore,
    ranges: Mutex<Vec<String>>,
}

impl Counting {
    pub(crate) fn new(store: RedbStore) -> Self {
        let ranges = Mutex::default();
        Self { store, ranges }
    }

    /// The prefixes of all ranges since the last call.
    pub(crate) fn take_ranges(&self) -> Vec<String> {
        let mut ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut ranges)
    }

    fn count(&self, prefix: &str) {
        let mut ranges = self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        ranges.push(prefix.to_owned());
    }
}

impl Store for Counting {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.count(key);
        self.store.entry(key)
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.count(prefix);
        self.store.range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.count(prefix);
        self.store.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        self.store.apply(batch)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.store.watch(prefix, after)
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}
