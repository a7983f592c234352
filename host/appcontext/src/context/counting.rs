//! A store for tests: it counts the ranges that are read, takes little at a time, and fails when told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use kindsight_store::{
    Batch, Connection, Entry, Error, Keys, Leased, Range, RedbStore, Result, Revision, Store,
    StoreLimits, Watch,
};
use tokio::sync::watch::Receiver;

type Hooks = Vec<(usize, Box<dyn FnOnce() + Send>)>;

/// A store over another one, which keeps the prefixes that were read since the last time.
pub(crate) struct Counting {
    store: RedbStore,
    limits: StoreLimits,
    ranges: Mutex<Vec<String>>,
    applied: AtomicUsize,
    applied_max: AtomicUsize,
    hooks: Mutex<Hooks>,
}

impl Counting {
    pub(crate) fn new(store: RedbStore) -> Self {
        Self {
            limits: store.limits(),
            store,
            ranges: Mutex::default(),
            applied: AtomicUsize::new(0),
            applied_max: AtomicUsize::new(usize::MAX),
            hooks: Mutex::default(),
        }
    }

    pub(crate) fn limited(self, limits: StoreLimits) -> Self {
        Self { limits, ..self }
    }

    /// Refuses every batch after so many.
    pub(crate) fn fail_after(&self, batches: usize) {
        self.applied_max.store(batches, Ordering::SeqCst);
    }

    /// Calls `hook` before the batch of this number, from one.
    pub(crate) fn on_batch(&self, number: usize, hook: impl FnOnce() + Send + 'static) {
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        hooks.push((number, Box::new(hook)));
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

    fn take_hook(&self, number: usize) -> Option<Box<dyn FnOnce() + Send>> {
        let mut hooks = self.hooks.lock().unwrap_or_else(PoisonError::into_inner);
        let at = hooks.iter().position(|counted| counted.0 == number)?;
        Some(hooks.swap_remove(at).1)
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
        let number = self.applied.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(hook) = self.take_hook(number) {
            hook();
        }
        if number > self.applied_max.load(Ordering::SeqCst) {
            let reason = "the test says so".to_owned();
            return Err(Error::Unavailable { reason });
        }
        batch.check(self.limits)?;
        self.store.apply(batch)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.store.watch(prefix, after)
    }

    fn lease(&self, name: &str) -> Result<Leased> {
        self.store.lease(name)
    }

    fn limits(&self) -> StoreLimits {
        self.limits
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}
