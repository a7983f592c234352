//! A check of all values in a store, for operators.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, Records, RegisteredClusters};
use kindsight_store::{Error as StoreError, Store};

/// Counts of the content of a store, and its unreadable values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckedStore {
    /// The number of keys.
    pub keys: usize,
    /// The bytes of all values.
    pub bytes: usize,
    /// The number of contexts.
    pub contexts: usize,
    /// The number of records of deployment intent groups and clusters.
    pub records: usize,
    /// The keys whose values cannot be read, with the reasons as fragments of sentences.
    pub unreadable: Vec<(String, String)>,
}

/// Reads all values in a store and lists the unreadable ones. Does not write.
///
/// # Errors
/// The store fails, or the user has no permission to read all keys.
pub fn check_store(store: &Arc<dyn Store>) -> Result<CheckedStore, StoreError> {
    let mut checked = CheckedStore::default();
    kindsight_store::walk(&**store, "/", |entry| {
        checked.keys += 1;
        checked.bytes += entry.value.len();
        Ok::<_, StoreError>(())
    })?;
    let contexts = AppContexts::new(Arc::clone(store));
    for id in contexts.list().map_err(of_store)?.ids {
        checked.contexts += 1;
        let snapshot = contexts.read(&id).map_err(of_store)?;
        let unreadable = snapshot.into_iter().flat_map(|it| it.unreadable);
        checked
            .unreadable
            .extend(unreadable.map(|value| (value.key, value.why)));
    }
    let records = Records::new(Arc::clone(store));
    let listed = records.list().map_err(of_store)?;
    checked.records = listed.records.len();
    let unreadable = listed.unreadable.into_iter();
    checked
        .unreadable
        .extend(unreadable.map(|value| (value.key, value.why)));
    checked
        .unreadable
        .extend(kindsight_catalog::check_stored(Arc::clone(store))?);
    let registered = RegisteredClusters::new(Arc::clone(store)).list();
    let unreadable = registered.map_err(of_store)?.unreadable.into_iter();
    checked
        .unreadable
        .extend(unreadable.map(|value| (value.key, value.why)));
    // A value that several contexts refer to is listed once for each context.
    checked.unreadable.sort();
    checked.unreadable.dedup();
    Ok(checked)
}

/// The error of the store below another.
fn of_store(error: kindsight_appcontext::Error) -> StoreError {
    match error {
        kindsight_appcontext::Error::Store(error) => error,
        error => StoreError::Backend(Box::new(error)),
    }
}
