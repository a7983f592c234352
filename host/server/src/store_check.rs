//! A look at everything in a store, for operators.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, Records};
use kindsight_store::{Error as StoreError, Store};

/// The content of a store, by what reads it.
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

/// Reads everything in a store, and names what cannot be read. Writes nothing.
///
/// # Errors
/// The store fails, or lets the user not read everything.
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
            .extend(unreadable.map(|it| (it.key, it.why)));
    }
    let records = Records::new(Arc::clone(store));
    let (digs, clusters) = (
        records.digs().map_err(of_store)?,
        records.clusters().map_err(of_store)?,
    );
    checked.records = digs.records.len() + clusters.records.len();
    let unreadable = digs.unreadable.into_iter().chain(clusters.unreadable);
    checked
        .unreadable
        .extend(unreadable.map(|it| (it.key, it.why)));
    checked
        .unreadable
        .extend(kindsight_catalog::check_stored(Arc::clone(store))?);
    // A value that several contexts refer to is read with each of them.
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
