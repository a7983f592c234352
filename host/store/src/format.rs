//! The version of a store's layout, written when the store is made and checked when it is opened.

use serde::{Deserialize, Serialize};

use crate::{Batch, Error, Result, Store};

/// The version of the layout that this release writes.
pub const FORMAT_VERSION: u64 = 1;

/// The key of the mark, a version as JSON.
const KEY: &str = "/kindsight/format/";

#[derive(Serialize, Deserialize)]
struct Format {
    version: u64,
}

/// Marks a new store with the version of this release, or checks the mark of an existing one.
///
/// # Errors
/// [`Error::UnknownVersion`] when another release made the store, [`Error::Unreadable`] when the
/// mark is damaged.
pub(crate) fn establish(store: &dyn Store) -> Result<()> {
    match store.get(KEY)? {
        Some(stored) => check(&stored),
        None => mark(store),
    }
}

fn mark(store: &dyn Store) -> Result<()> {
    let format = Format {
        version: FORMAT_VERSION,
    };
    let value = serde_json::to_vec(&format).map_err(|error| Error::Backend(Box::new(error)))?;
    match store.apply(&Batch::new().absent(KEY).put(KEY, value)) {
        // Another process marked it in between: then its mark counts.
        Err(Error::Conflict { .. }) => check(&store.get(KEY)?.unwrap_or_default()),
        done => done.map(drop),
    }
}

fn check(stored: &[u8]) -> Result<()> {
    let format: Format = serde_json::from_slice(stored).map_err(|error| Error::Unreadable {
        key: KEY.to_owned(),
        why: error.to_string(),
    })?;
    if format.version == FORMAT_VERSION {
        return Ok(());
    }
    Err(Error::UnknownVersion {
        key: KEY.to_owned(),
        found: format.version,
        known: FORMAT_VERSION,
    })
}
