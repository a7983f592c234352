//! The version of a store's layout, written when the store is made and checked when it is opened.

use serde::{Deserialize, Serialize};

use crate::{Batch, Error, Result, Store};

/// The version of the layout that this release writes: since 2, with the revisions of keys.
pub const FORMAT_VERSION: u64 = 2;

/// The version of the layout that is taken over: the same without revisions.
const WITHOUT_REVISIONS: u64 = 1;

/// The key of the mark, a version as JSON.
const KEY: &str = "/kindsight/format/";

#[derive(Serialize, Deserialize)]
struct Format {
    version: u64,
}

/// Marks a new store with the version of this release, or checks the mark of an existing one. One of
/// the version before is taken over, and refused by earlier releases from then on.
///
/// # Errors
/// [`Error::UnknownVersion`] when another release made the store, [`Error::Unreadable`] when the
/// mark is damaged.
pub(crate) fn establish(store: &dyn Store) -> Result<()> {
    match store.get(KEY)? {
        Some(stored) => match read(&stored)? {
            WITHOUT_REVISIONS => mark(store, Batch::new().equals(KEY, stored)),
            version => check(version),
        },
        None => mark(store, Batch::new().absent(KEY)),
    }
}

/// Checks the mark of a store that has one.
///
/// # Errors
/// As [`establish`].
pub(crate) fn check_mark(store: &dyn Store) -> Result<()> {
    match store.get(KEY)? {
        Some(stored) => match read(&stored)? {
            WITHOUT_REVISIONS => Ok(()),
            version => check(version),
        },
        None => Ok(()),
    }
}

/// Tells whether a key is that of the mark, which belongs to its store alone.
pub(crate) fn is_mark(key: &str) -> bool {
    key == KEY
}

/// Tells whether the mark is under a prefix.
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
        // Another process marked it in between: then its mark counts.
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
