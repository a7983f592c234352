//! The catalog's part of a store: its state, and components by digest.
//!
//! A component is stored in parts, because a store has a limit on values that is far below the size of
//! some components. Parts are written before any state speaks of them, so a partly written
//! component is never referenced; readers check its digest.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::Digest;
use kindsight_store::{Batch, Error, Result, Revision, Store, Watch};

/// Bytes of one part: below the limit of etcd on a request, 1.5 MiB.
const PART_BYTES_MAX: usize = 1024 * 1024;

/// The key of the state. It keeps the name that the first format had for it.
const STATE: &str = "/kindsight/interpreters/book/";
/// The prefix of components, by digest, each in parts.
const COMPONENTS: &str = "/kindsight/interpreters/components/";

/// The catalog's part of a store. Every call blocks until the store has answered.
pub(crate) struct CatalogStore {
    store: Arc<dyn Store>,
}

impl CatalogStore {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// The state as it was written last, if ever. Read before every change.
    pub(crate) fn state(&self) -> Result<Option<Vec<u8>>> {
        self.store.get(STATE)
    }

    /// The changes of the state after a revision.
    pub(crate) fn watch(&self, after: Revision) -> Result<Watch> {
        self.store.watch(STATE, after)
    }

    /// A revision to watch after: a state that is read later has every change up to it.
    pub(crate) fn revision(&self) -> Result<Revision> {
        Ok(self.store.keys(STATE)?.revision)
    }

    /// Replaces the state and drops components of which it does not speak any more, all or nothing, if
    /// the state still is the one `before`: this is the moment from which a change holds, also over a
    /// crash. Answers whether it was done; another host that shares the store may have been faster.
    pub(crate) fn exchange(
        &self,
        before: Option<&[u8]>,
        state: &[u8],
        dropped: &[Digest],
    ) -> Result<bool> {
        let batch = match before {
            Some(before) => Batch::new().equals(STATE, before),
            None => Batch::new().absent(STATE),
        };
        let mut batch = batch.put(STATE, state);
        for digest in dropped {
            batch = batch.delete_prefix(component_key(digest));
        }
        match self.store.apply(&batch) {
            Ok(_) => Ok(true),
            Err(Error::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The digests of the components that are stored.
    pub(crate) fn components(&self) -> Result<BTreeSet<Digest>> {
        let keys = self.store.keys(COMPONENTS)?.keys;
        let digest = |key: &String| {
            let rest = key.strip_prefix(COMPONENTS)?;
            rest.split('/').next()?.parse().ok()
        };
        Ok(keys.iter().filter_map(digest).collect())
    }

    /// The bytes stored under a digest, put together and unchecked; none where there are no parts.
    pub(crate) fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        let parts = self.store.range(&component_key(digest))?.entries;
        if parts.is_empty() {
            return Ok(None);
        }
        Ok(Some(parts.into_iter().flat_map(|(_, part)| part).collect()))
    }

    /// Stores a component, part by part. Called before the state speaks of it; one of which no state
    /// speaks is dropped at the next occasion.
    pub(crate) fn put_component(&self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        let component = component_key(digest);
        for (number, part) in bytes.chunks(PART_BYTES_MAX).enumerate() {
            let key = part_key(&component, number);
            self.store.apply(&Batch::new().put(key, part))?;
        }
        Ok(())
    }
}

/// The keys of one component: [`COMPONENTS`], its digest, the number of the part.
fn component_key(digest: &Digest) -> String {
    format!("{COMPONENTS}{digest}/")
}

/// The key of one part of a component; parts are read in the order of their keys.
fn part_key(component: &str, part: usize) -> String {
    format!("{component}{part:05}/")
}

#[cfg(test)]
mod tests {
    use kindsight_store::RedbStore;

    use super::*;

    fn store() -> CatalogStore {
        CatalogStore::new(Arc::new(RedbStore::in_memory().unwrap()))
    }

    #[test]
    fn a_component_comes_back_as_it_was_stored() {
        let store = store();
        let large: Vec<u8> = b"parts".repeat(PART_BYTES_MAX);
        let (one, other) = (Digest::of(&large), Digest::of(b"small"));
        assert_eq!(store.component(&one).unwrap(), None);
        store.put_component(&one, &large).unwrap();
        store.put_component(&other, b"small").unwrap();
        assert_eq!(store.component(&one).unwrap(), Some(large));
        let small = store.component(&other).unwrap();
        assert_eq!(small.as_deref(), Some(&b"small"[..]));
        let both: BTreeSet<Digest> = [one.clone(), other.clone()].into();
        assert_eq!(store.components().unwrap(), both);
        assert!(store.exchange(None, b"state", &[one]).unwrap());
        assert_eq!(store.components().unwrap(), [other].into());
    }

    #[test]
    fn a_state_replaces_the_one_before() {
        let store = store();
        let digest = Digest::of(b"component");
        assert_eq!(store.state().unwrap(), None);
        store.put_component(&digest, b"component").unwrap();
        let exchange = |before: Option<&[u8]>, state: &[u8]| {
            let dropped = std::slice::from_ref(&digest);
            let is_replaced = store.exchange(before, state, dropped).unwrap();
            (is_replaced, store.state().unwrap().unwrap_or_default())
        };
        let (one, two, three) = (b"one".to_vec(), b"two".to_vec(), b"three".to_vec());
        assert_eq!(exchange(Some(&two), &one), (false, Vec::new()));
        let is_there = store.component(&digest).unwrap().is_some();
        assert!(is_there, "all or nothing");
        assert_eq!(exchange(None, &one), (true, one.clone()));
        assert_eq!(exchange(None, &two), (false, one.clone()));
        assert_eq!(exchange(Some(&one), &two), (true, two.clone()));
        assert_eq!(exchange(Some(&one), &three), (false, two));
        assert_eq!(store.component(&digest).unwrap(), None);
    }
}
