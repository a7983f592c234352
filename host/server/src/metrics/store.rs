//! A store whose calls are timed.

use std::sync::Arc;
use std::time::Instant;

use kindsight_store::{
    Batch, Connection, Entry, Error, Keys, Lease, Leased, Range, Result, Revision, Store,
    StoreLimits, WantedLease, Watch,
};
use tokio::sync::watch::Receiver;

use super::Recorded;

/// A wrapper around a store that records the time and the outcome of each call.
struct MeteredStore {
    store: Arc<dyn Store>,
    name: &'static str,
    recorded: Recorded,
}

/// Wraps a store so that its calls are recorded under this name.
pub(crate) fn metered(
    store: Arc<dyn Store>,
    name: &'static str,
    recorded: &Recorded,
) -> Arc<dyn Store> {
    Arc::new(MeteredStore {
        store,
        name,
        recorded: recorded.clone(),
    })
}

impl MeteredStore {
    fn timed<T>(
        &self,
        operation: &'static str,
        call: impl FnOnce(&dyn Store) -> Result<T>,
    ) -> Result<T> {
        let began = Instant::now();
        let result = call(&*self.store);
        // Regular answers: another writer was faster, or owns the data.
        let has_failed = !matches!(
            result,
            Ok(_) | Err(Error::Conflict { .. } | Error::LeaseLost { .. })
        );
        let call = (self.name, operation);
        self.recorded.called(call, began.elapsed(), has_failed);
        result
    }
}

impl Store for MeteredStore {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.timed("get", |store| store.entry(key))
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        self.timed("get", |store| store.get(key))
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.timed("range", |store| store.range(prefix))
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.timed("keys", |store| store.keys(prefix))
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        self.timed("apply", |store| store.apply(batch))
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.store.watch(prefix, after)
    }

    fn lease(&self, name: &str) -> Result<Leased> {
        self.timed("lease", |store| store.lease(name))
    }

    fn lease_all(&self, wanted: &[WantedLease]) -> Result<Option<Vec<Lease>>> {
        self.timed("lease", |store| store.lease_all(wanted))
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}
