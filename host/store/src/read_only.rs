//! A store that accepts no writes.

use std::sync::Arc;

use tokio::sync::watch::Receiver;

use crate::{
    Batch, Connection, Entry, Error, Keys, Leased, Range, Result, Revision, Store, StoreLimits,
    Watch,
};

/// A wrapper around a store that rejects every write, even an empty batch.
pub struct ReadOnly<S> {
    store: S,
}

/// Wraps a store so that nothing is written to it.
pub fn read_only(store: Arc<dyn Store>) -> Arc<dyn Store> {
    Arc::new(ReadOnly { store })
}

impl<S> ReadOnly<S> {
    /// Wraps a store.
    pub fn new(store: S) -> Self {
        Self { store }
    }
}

impl<S: AsRef<dyn Store> + Send + Sync> Store for ReadOnly<S> {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.store.as_ref().entry(key)
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.store.as_ref().range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.store.as_ref().keys(prefix)
    }

    fn apply(&self, _: &Batch) -> Result<Revision> {
        Err(Error::ReadOnly)
    }

    fn lease(&self, _: &str) -> Result<Leased> {
        Err(Error::ReadOnly)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.store.as_ref().watch(prefix, after)
    }

    fn limits(&self) -> StoreLimits {
        self.store.as_ref().limits()
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.as_ref().connection()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RedbStore;

    #[test]
    fn existing_keys_are_read_and_every_write_is_rejected() {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
        store.apply(&Batch::new().put("/t/a/", "1")).unwrap();
        let before = store.range("").unwrap();
        let read_only = read_only(Arc::clone(&store));
        assert_eq!(read_only.get("/t/a/").unwrap(), Some(b"1".to_vec()));
        for batch in [
            Batch::new(),
            Batch::new().put("/t/b/", ""),
            Batch::new().delete("/t/a/"),
        ] {
            assert!(matches!(read_only.apply(&batch), Err(Error::ReadOnly)));
        }
        assert_eq!(store.range("").unwrap(), before);
        assert_eq!(read_only.range("").unwrap(), before);
    }
}
