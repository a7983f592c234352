//! What the catalog of interpreters keeps in the store: its book, and components by digest.
//!
//! A component is kept in parts, because a store has a limit on values that is far below the size of
//! some components. Parts are written before any book speaks of them, so half a component is one that
//! nobody asks for; who reads one checks its digest.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_store::{Batch, Error, Store};

/// Bytes of one part: below the limit of etcd on a request, 1.5 MiB.
const PART_BYTES_MAX: usize = 1024 * 1024;

/// The key of the book.
const INTERPRETER_BOOK: &str = "/kindsight/interpreters/book/";
/// The prefix of components, by digest, each in parts.
const COMPONENTS: &str = "/kindsight/interpreters/components/";

/// The catalog's part of a store. Cheap to clone; every call blocks until the store has answered.
#[derive(Clone)]
pub(crate) struct Components {
    store: Arc<dyn Store>,
}

impl Components {
    /// Those of `store`.
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// The book as it was written last, if ever.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) fn book(&self) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.store.get(INTERPRETER_BOOK)?)
    }

    /// Replaces the book and forgets components, in one step, if the book still is the one `before`.
    /// Answers whether it was; another host that shares the store may have replaced it.
    ///
    /// # Errors
    /// When the store fails, the book is over its limit on values, or a digest is none.
    pub(crate) fn exchange_book(
        &self,
        before: Option<&[u8]>,
        book: &[u8],
        forgotten: &[&str],
    ) -> anyhow::Result<bool> {
        let batch = match before {
            Some(before) => Batch::new().equals(INTERPRETER_BOOK, before),
            None => Batch::new().absent(INTERPRETER_BOOK),
        };
        let mut batch = batch.put(INTERPRETER_BOOK, book);
        for digest in forgotten {
            batch = batch.delete_prefix(component_key(digest)?);
        }
        match self.store.apply(&batch) {
            Ok(_) => Ok(true),
            Err(Error::Conflict { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The digests of which there are parts.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) fn digests(&self) -> anyhow::Result<BTreeSet<String>> {
        let keys = self.store.keys(COMPONENTS)?.keys;
        let digest = |key: &String| {
            let rest = key.strip_prefix(COMPONENTS)?;
            Some(rest.split('/').next()?.to_owned())
        };
        Ok(keys.iter().filter_map(digest).collect())
    }

    /// The bytes kept under a digest, put together and unchecked; none where there are no parts.
    ///
    /// # Errors
    /// When the store fails, or `digest` is none.
    pub(crate) fn read(&self, digest: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let parts = self.store.range(&component_key(digest)?)?.entries;
        if parts.is_empty() {
            return Ok(None);
        }
        Ok(Some(parts.into_iter().flat_map(|(_, part)| part).collect()))
    }

    /// Keeps a component, part by part; what was there under its digest is replaced.
    ///
    /// # Errors
    /// When the store fails, or `digest` is none.
    pub(crate) fn keep(&self, digest: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let component = component_key(digest)?;
        for (number, part) in bytes.chunks(PART_BYTES_MAX).enumerate() {
            let key = part_key(&component, number);
            self.store.apply(&Batch::new().put(key, part))?;
        }
        Ok(())
    }
}

/// The keys of one component: [`COMPONENTS`], its digest, the number of the part.
fn component_key(digest: &str) -> anyhow::Result<String> {
    let is_digest = |char: char| char.is_ascii_alphanumeric() || char == ':';
    anyhow::ensure!(
        !digest.is_empty() && digest.chars().all(is_digest),
        "`{digest}` is not a digest: `sha256:` and 64 hex digits"
    );
    Ok(format!("{COMPONENTS}{digest}/"))
}

/// The key of one part of a component; parts are read in the order of their keys.
fn part_key(component: &str, part: usize) -> String {
    format!("{component}{part:05}/")
}

#[cfg(test)]
mod tests {
    use kindsight_store::RedbStore;

    use super::*;

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
        let is_replaced = components.exchange_book(None, b"book", &["sha256:a"]);
        assert!(is_replaced.unwrap());
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
        components.keep("sha256:a", b"component").unwrap();
        let exchange = |before: Option<&[u8]>, book: &[u8]| {
            let forgotten = &["sha256:a"];
            let is_replaced = components.exchange_book(before, book, forgotten).unwrap();
            (is_replaced, components.book().unwrap().unwrap_or_default())
        };
        let (one, two, three) = (b"one".to_vec(), b"two".to_vec(), b"three".to_vec());
        assert_eq!(exchange(Some(&two), &one), (false, Vec::new()));
        assert!(
            components.read("sha256:a").unwrap().is_some(),
            "all or nothing"
        );
        assert_eq!(exchange(None, &one), (true, one.clone()));
        assert_eq!(exchange(None, &two), (false, one.clone()));
        assert_eq!(exchange(Some(&one), &two), (true, two.clone()));
        assert_eq!(exchange(Some(&one), &three), (false, two));
        assert_eq!(components.read("sha256:a").unwrap(), None);
    }
}
