//! The version of what a store holds, written when it is made and checked when it is opened.

use serde::{Deserialize, Serialize};

use crate::store::{Batch, Store};
use crate::{Error, Result, go_json, keys};

/// The layout this release writes.
pub const FORMAT_VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Format {
    version: u64,
}

/// Marks a store as ours, or checks that it is one this release understands.
///
/// # Errors
/// [`Error::UnknownVersion`] when another release made it, [`Error::Unreadable`] when the mark is
/// damaged.
pub(crate) fn establish(store: &dyn Store) -> Result<()> {
    match store.get(keys::FORMAT)? {
        Some(stored) => check(&stored),
        None => mark(store),
    }
}

fn mark(store: &dyn Store) -> Result<()> {
    let format = Format {
        version: FORMAT_VERSION,
    };
    let batch = Batch::new()
        .absent(keys::FORMAT)
        .put(keys::FORMAT, go_json::encode(&format)?);
    match store.apply(&batch) {
        // Another process marked it in between: then its mark counts.
        Err(Error::Conflict { .. }) => check(&store.get(keys::FORMAT)?.unwrap_or_default()),
        done => done,
    }
}

fn check(stored: &[u8]) -> Result<()> {
    let format: Format = serde_json::from_slice(stored).map_err(|error| unreadable(&error))?;
    if format.version == FORMAT_VERSION {
        return Ok(());
    }
    Err(Error::UnknownVersion {
        key: keys::FORMAT.to_owned(),
        found: format.version,
        known: FORMAT_VERSION,
    })
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::Unreadable {
        key: keys::FORMAT.to_owned(),
        why: error.to_string(),
    }
}
