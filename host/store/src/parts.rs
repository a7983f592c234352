//! Values over the limit of a store, kept in parts.
//!
//! ```text
//! <prefix>current/            the pointer: which parts are the value
//! <prefix>parts/<number>/00000/
//! <prefix>parts/<number>/00001/
//! ```
//!
//! A writer first writes the parts, one batch each. Then one batch sets the pointer and deletes the
//! parts of the previous value. Readers therefore see either the old value or the new one. Each
//! batch is applied only while the pointer is still as the writer read it, so a writer that was
//! overtaken never changes the parts of the current value. If a writer ends early, the next write
//! deletes the parts that it left behind.

use serde::{Deserialize, Serialize};

use crate::{Batch, Entry, Error, Result, Revision, Store};

#[cfg(test)]
mod tests;

/// The largest part, in bytes. An etcd accepts requests of up to 1.5 MiB.
pub const PART_BYTES_MAX: usize = 1024 * 1024;

/// The maximum number of parts of one value. Each part is a condition of the batch that sets the
/// pointer.
pub const PARTS_MAX: usize = 100;

/// The end of the key of a pointer.
const CURRENT: &str = "current/";
/// The folder of parts.
const PARTS: &str = "parts/";

/// The value of a pointer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pointer {
    /// The number of this value: the number of the previous value plus one.
    number: u64,
    /// The number of its parts.
    parts: usize,
    /// The bytes of all parts.
    bytes: usize,
}

/// Writes a value below a prefix if the conditions of `condition` hold at that time, and applies
/// the writes of `condition` in the same batch that makes the value current. The prefix must end
/// with `/` and must not be used for anything else.
///
/// # Errors
/// [`Error::TooLarge`] for more than [`PARTS_MAX`] parts. [`Error::Conflict`] if a condition does
/// not hold or another writer was faster: the previous value stays current, and the next write
/// deletes the parts of this one. [`Error::Unreadable`] if the pointer is damaged.
pub fn write(store: &dyn Store, prefix: &str, value: &[u8], condition: Batch) -> Result<Revision> {
    let parts: Vec<&[u8]> = value.chunks(PART_BYTES_MAX).collect();
    if parts.len() > PARTS_MAX {
        return Err(Error::TooLarge {
            key: prefix.to_owned(),
            bytes: value.len(),
            max: PARTS_MAX * PART_BYTES_MAX,
        });
    }
    let key = format!("{prefix}{CURRENT}");
    let before = store.entry(&key)?;
    let old = before.as_ref().map(read_pointer).transpose()?;
    let pointer = Pointer {
        number: old.as_ref().map_or(0, |it| it.number) + 1,
        parts: parts.len(),
        bytes: value.len(),
    };
    let folder = folder(prefix, pointer.number);
    let not_overtaken = |batch: Batch| match &before {
        Some(before) => batch.unchanged(&key, before.changed),
        None => batch.absent(&key),
    };
    // These parts belong to a writer that ended early, or to a writer that this one has overtaken.
    if !store.keys(&folder)?.keys.is_empty() {
        store.apply(&not_overtaken(Batch::new().delete_prefix(&folder)))?;
    }
    let mut batch = not_overtaken(condition);
    for (number, part) in parts.into_iter().enumerate() {
        let part_key = format!("{folder}{number:05}/");
        let written = store.apply(&not_overtaken(Batch::new().put(&part_key, part)))?;
        batch = batch.unchanged(part_key, written);
    }
    if let Some(old) = old {
        batch = batch.delete_prefix(self::folder(prefix, old.number));
    }
    let pointer = serde_json::to_vec(&pointer).map_err(|error| Error::Backend(Box::new(error)))?;
    store.apply(&batch.put(&key, pointer))
}

/// Reads the value below a prefix, or `None` if there is no value.
///
/// # Errors
/// [`Error::Unreadable`] if the pointer is damaged or parts are missing.
pub fn read(store: &dyn Store, prefix: &str) -> Result<Option<Vec<u8>>> {
    assembled(prefix, &store.range(prefix)?.entries)
}

/// Assembles a value from the entries below its prefix, which must have been read at one moment.
/// Other entries may be among them.
///
/// # Errors
/// The errors of [`read`].
pub fn assembled(prefix: &str, entries: &[Entry]) -> Result<Option<Vec<u8>>> {
    let below = |begin: String| {
        let from = entries.partition_point(move |entry| entry.key < begin);
        entries.get(from..).unwrap_or_default()
    };
    let key = format!("{prefix}{CURRENT}");
    let current = below(key.clone()).first().filter(|entry| entry.key == key);
    let Some(pointer) = current.map(read_pointer).transpose()? else {
        return Ok(None);
    };
    let folder = folder(prefix, pointer.number);
    let parts = below(folder.clone()).iter();
    let parts = parts.take_while(|entry| entry.key.starts_with(&folder));
    // Parts of a slower writer with a longer value may follow them.
    let parts: Vec<&Entry> = parts.take(pointer.parts).collect();
    let value: Vec<u8> = parts
        .iter()
        .flat_map(|part| part.value.iter().copied())
        .collect();
    if (parts.len(), value.len()) == (pointer.parts, pointer.bytes) {
        return Ok(Some(value));
    }
    let (found, bytes) = (parts.len(), value.len());
    Err(Error::Unreadable {
        key,
        why: format!(
            "{found} parts with {bytes} bytes were found, expected {} parts with {} bytes",
            pointer.parts, pointer.bytes
        ),
    })
}

/// The prefix of the parts with a number.
fn folder(prefix: &str, number: u64) -> String {
    format!("{prefix}{PARTS}{number}/")
}

fn read_pointer(entry: &Entry) -> Result<Pointer> {
    serde_json::from_slice(&entry.value).map_err(|error| Error::Unreadable {
        key: entry.key.clone(),
        why: error.to_string(),
    })
}
