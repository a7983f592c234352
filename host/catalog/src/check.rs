//! A check of all data of a catalog in a store, for operators.

use std::sync::Arc;

use kindsight_model::Digest;
use kindsight_store::{Error, Store, chain};

use crate::state::StoredError;
use crate::store::CatalogStore;

/// Reads the state of the catalog in a store and every component, and returns the unreadable ones:
/// their keys with the reasons, as fragments of sentences. Compiles nothing.
///
/// # Errors
/// The errors of the store.
pub fn check_stored(store: Arc<dyn Store>) -> Result<Vec<(String, String)>, Error> {
    let store = CatalogStore::new(store);
    let mut unreadable = Vec::new();
    match store.read() {
        Ok(_) => {}
        Err(StoredError::Store(error)) => return Err(error),
        Err(StoredError::Corrupt { key, source }) => unreadable.push((key, chain(&source))),
        Err(error @ StoredError::Format(_)) => {
            let why = format!("it has {error}, which this release does not support");
            unreadable.push((CatalogStore::head_key().to_owned(), why));
        }
    }
    for digest in store.components()? {
        let bytes = store.component(&digest)?.unwrap_or_default();
        if Digest::of(&bytes) != digest {
            let why = format!("its {} bytes have a different digest", bytes.len());
            unreadable.push((CatalogStore::key_of(&digest), why));
        }
    }
    Ok(unreadable)
}
