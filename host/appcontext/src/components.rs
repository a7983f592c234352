//! What the catalog of interpreters keeps in the store: its book, and components by digest.
//!
//! A component is kept in parts, because a store has a limit on values that is far below the size of
//! some components. Parts are written before any book speaks of them, so half a component is one that
//! nobody asks for; who reads one checks its digest.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::store::{Batch, Store};
use crate::{Result, keys};

/// Bytes of one part: below the limit of etcd on a request, 1.5 MiB.
const PART_BYTES_MAX: usize = 1024 * 1024;

/// The catalog's part of a store. Cheap to clone; every call blocks until the store has answered.
#[derive(Clone)]
pub struct Components {
    store: Arc<dyn Store>,
}

impl Components {
    /// Those of `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// The book as it was written last, if ever.
    ///
    /// # Errors
    /// When the store fails.
    pub fn book(&self) -> Result<Option<Vec<u8>>> {
        self.store.get(keys::INTERPRETER_BOOK)
    }

    /// Replaces the book in one step.
    ///
    /// # Errors
    /// When the store fails, or the book is over its limit on values.
    pub fn write_book(&self, book: &[u8]) -> Result<()> {
        let batch = Batch::new().put(keys::INTERPRETER_BOOK, book);
        self.store.apply(&batch)
    }

    /// The digests of which there are parts.
    ///
    /// # Errors
    /// When the store fails.
    pub fn digests(&self) -> Result<BTreeSet<String>> {
        let keys = self.store.keys(keys::COMPONENTS)?;
        let digest = |key: &String| {
            let rest = key.strip_prefix(keys::COMPONENTS)?;
            Some(rest.split('/').next()?.to_owned())
        };
        Ok(keys.iter().filter_map(digest).collect())
    }

    /// The bytes kept under a digest, put together and unchecked; none where there are no parts.
    ///
    /// # Errors
    /// When the store fails, or `digest` is none.
    pub fn read(&self, digest: &str) -> Result<Option<Vec<u8>>> {
        let parts = self.store.list(&keys::component(digest)?)?;
        if parts.is_empty() {
            return Ok(None);
        }
        Ok(Some(parts.into_iter().flat_map(|(_, part)| part).collect()))
    }

    /// Keeps a component, part by part; what was there under its digest is replaced.
    ///
    /// # Errors
    /// When the store fails, or `digest` is none.
    pub fn keep(&self, digest: &str, bytes: &[u8]) -> Result<()> {
        let component = keys::component(digest)?;
        for (number, part) in bytes.chunks(PART_BYTES_MAX).enumerate() {
            let key = keys::component_part(&component, number);
            self.store.apply(&Batch::new().put(key, part))?;
        }
        Ok(())
    }

    /// Forgets a component; one that is not there is fine.
    ///
    /// # Errors
    /// When the store fails, or `digest` is none.
    pub fn forget(&self, digest: &str) -> Result<()> {
        let component = keys::component(digest)?;
        self.store.apply(&Batch::new().delete_prefix(component))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RedbStore;

    #[test]
    fn a_component_comes_back_as_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = RedbStore::open(&folder.path().join("store.redb")).unwrap();
        let components = Components::new(Arc::new(store));
        assert_eq!(components.read("sha256:a").unwrap(), None);
        let large: Vec<u8> = b"parts".repeat(PART_BYTES_MAX);
        components.keep("sha256:a", &large).unwrap();
        components.keep("sha256:ab", b"small").unwrap();
        assert_eq!(components.read("sha256:a").unwrap(), Some(large));
        assert_eq!(
            components.read("sha256:ab").unwrap().as_deref(),
            Some(&b"small"[..])
        );
        assert_eq!(
            components.digests().unwrap(),
            ["sha256:a", "sha256:ab"].map(str::to_owned).into()
        );
        components.forget("sha256:a").unwrap();
        assert_eq!(
            components.digests().unwrap(),
            ["sha256:ab".to_owned()].into()
        );
        assert!(components.read("../x").is_err());
    }

    #[test]
    fn a_book_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let store = RedbStore::open(&folder.path().join("store.redb")).unwrap();
        let components = Components::new(Arc::new(store));
        assert_eq!(components.book().unwrap(), None);
        components.write_book(b"one").unwrap();
        components.write_book(b"two").unwrap();
        assert_eq!(components.book().unwrap().as_deref(), Some(&b"two"[..]));
    }
}
