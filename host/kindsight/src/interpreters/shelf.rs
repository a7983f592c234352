//! The catalog's shelf over the store.

use std::sync::Arc;

use kindsight_appcontext::{Components, Store};
use kindsight_interpreter::Digest;
use kindsight_interpreter::catalog::{Shelf, ShelfError};

/// Keeps the catalog where the `AppContext` is kept.
pub(crate) struct StoreShelf(Components);

impl StoreShelf {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self(Components::new(store))
    }
}

fn told<T>(outcome: kindsight_appcontext::Result<T>) -> Result<T, ShelfError> {
    // With its causes: the catalog hands on text.
    outcome.map_err(|error| ShelfError(format!("{:#}", anyhow::Error::from(error))))
}

impl Shelf for StoreShelf {
    fn book(&self) -> Result<Option<Vec<u8>>, ShelfError> {
        told(self.0.book())
    }

    fn write_book(&self, book: &[u8]) -> Result<(), ShelfError> {
        told(self.0.write_book(book))
    }

    fn components(&self) -> Result<Vec<String>, ShelfError> {
        told(self.0.digests()).map(|digests| digests.into_iter().collect())
    }

    fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ShelfError> {
        told(self.0.read(digest.as_str()))
    }

    fn keep(&self, digest: &Digest, component: &[u8]) -> Result<(), ShelfError> {
        told(self.0.keep(digest.as_str(), component))
    }

    fn drop_component(&self, digest: &Digest) -> Result<(), ShelfError> {
        told(self.0.forget(digest.as_str()))
    }
}
