//! The version of a store's layout, written when the store is made and checked when it is opened.

use serde::{Deserialize, Serialize};

use crate::{Batch, Error, Result, Store};

/// The version of the layout that this release writes. Version 2 added the revisions of keys.
pub const FORMAT_VERSION: u64 = 2;

/// The version of the layout that this release upgrades: version 2 without revisions.
const WITHOUT_REVISIONS: u64 = 1;

/// The key of the mark. Its value is the version as JSON.
const KEY: &str = "/kindsight/format/";

#[derive(Serialize, Deserialize)]
struct Format {
    version: u64,
}

/// Marks a new store with the version of this release, or checks the mark of an existing store.
/// Upgrades a store of the previous version, which earlier releases reject from then on.
///
/// # Errors
/// [`Error::UnknownVersion`] if another release made the store, [`Error::Unreadable`] if the mark
/// is damaged.
pub(crate) fn establish(store: &dyn Store) -> Result<()> {
    match store.get(KEY)? {
        Some(stored) => match read(&stored)? {
            WITHOUT_REVISIONS => mark(store, Batch::new().equals(KEY, stored)),
            version => check(version),
        },
        None => mark(store, Batch::new().absent(KEY)),
    }
}

/// Checks the mark of a store, if the store has one.
///
/// # Errors
/// The errors of [`establish`].
pub(crate) fn check_mark(store: &dyn Store) -> Result<()> {
    match store.get(KEY)? {
        Some(stored) => match read(&stored)? {
            WITHOUT_REVISIONS => Ok(()),
            version => check(version),
        },
        None => Ok(()),
    }
}

/// Returns whether a key is the key of the mark, which is never copied between stores.
pub(crate) fn is_mark(key: &str) -> bool {
    key == KEY
}

/// Returns whether the mark is under a prefix.
pub(crate) fn is_under(prefix: &str) -> bool {
    KEY.starts_with(prefix)
}

/// Writes the mark under a condition.
fn mark(store: &dyn Store, condition: Batch) -> Result<()> {
    let format = Format {
        version: FORMAT_VERSION,
    };
    let value = serde_json::to_vec(&format).map_err(|error| Error::Backend(Box::new(error)))?;
    match store.apply(&condition.put(KEY, value)) {
        // Another process marked the store in between, so its mark is checked.
        Err(Error::Conflict { .. }) => check(read(&store.get(KEY)?.unwrap_or_default())?),
        done => done.map(drop),
    }
}

fn read(stored: &[u8]) -> Result<u64> {
    let format: Result<Format, _> = serde_json::from_slice(stored);
    let format = format.map_err(|error| Error::Unreadable {
        key: KEY.to_owned(),
        why: error.to_string(),
    })?;
    Ok(format.version)
}

fn check(version: u64) -> Result<()> {
    if version == FORMAT_VERSION {
        return Ok(());
    }
    Err(Error::UnknownVersion {
        key: KEY.to_owned(),
        found: version,
        known: FORMAT_VERSION,
    })
}
