//! Values over the limit of a store, kept in parts.
//!
//! ```text
//! <prefix>current/            the pointer: which parts are the value
//! <prefix>parts/<number>/00000/
//! <prefix>parts/<number>/00001/
//! ```
//!
//! Parts are written first, one batch each, and count from the moment at which one batch sets the
//! pointer and takes the parts of before away. Readers see the old value or the new one. Each batch is
//! applied only while the pointer is as the writer read it: one that was overtaken touches nothing of the
//! value that became current meanwhile. What a writer that ended early left behind goes with the next
//! write.

use serde::{Deserialize, Serialize};

use crate::{Batch, Entry, Error, Result, Revision, Store};

#[cfg(test)]
mod tests;

/// The largest part, in bytes: an etcd takes requests of 1.5 MiB.
pub const PART_BYTES_MAX: usize = 1024 * 1024;

/// The most parts of one value: each is a condition of the batch that sets the pointer.
pub const PARTS_MAX: usize = 100;

/// The end of the key of a pointer.
const CURRENT: &str = "current/";
/// The folder of parts.
const PARTS: &str = "parts/";

/// The value of a pointer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Pointer {
    /// The number of this value; that of the one before and one more.
    number: u64,
    /// The number of its parts.
    parts: usize,
    /// The bytes of all parts.
    bytes: usize,
}

/// Writes a value below a prefix, which ends with `/` and is nothing else's, if the conditions of
/// `condition` hold when it becomes current; the writes of `condition` are made with it.
///
/// # Errors
/// [`Error::TooLarge`] for more than [`PARTS_MAX`] parts, [`Error::Conflict`] where a condition does not
/// hold or another writer was faster: the value of before is the current one, and what was written of
/// this one goes with the next. [`Error::Unreadable`] where the pointer is damaged.
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
    // Of a writer that ended early, or that will find that another was faster.
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

/// Reads the value below a prefix; none where there is none.
///
/// # Errors
/// [`Error::Unreadable`] where the pointer is damaged or parts are missing.
pub fn read(store: &dyn Store, prefix: &str) -> Result<Option<Vec<u8>>> {
    assembled(prefix, &store.range(prefix)?.entries)
}

/// Puts a value together from the entries below its prefix, which were read at one moment; other
/// entries may be among them.
///
/// # Errors
/// As [`read`].
pub fn assembled(prefix: &str, entries: &[Entry]) -> Result<Option<Vec<u8>>> {
    let below = |begin: String| {
        let from = entries.partition_point(move |it| it.key < begin);
        entries.get(from..).unwrap_or_default()
    };
    let key = format!("{prefix}{CURRENT}");
    let current = below(key.clone()).first().filter(|it| it.key == key);
    let Some(pointer) = current.map(read_pointer).transpose()? else {
        return Ok(None);
    };
    let folder = folder(prefix, pointer.number);
    let parts = below(folder.clone()).iter();
    let parts = parts.take_while(|it| it.key.starts_with(&folder));
    // Behind them may be some of a slower writer, whose value was to be longer.
    let parts: Vec<&Entry> = parts.take(pointer.parts).collect();
    let value: Vec<u8> = parts
        .iter()
        .flat_map(|it| it.value.iter().copied())
        .collect();
    if (parts.len(), value.len()) == (pointer.parts, pointer.bytes) {
        return Ok(Some(value));
    }
    let (found, bytes) = (parts.len(), value.len());
    Err(Error::Unreadable {
        key,
        why: format!(
            "{found} parts with {bytes} bytes are there, of {} with {}",
            pointer.parts, pointer.bytes
        ),
    })
}

/// The key below which the parts with a number are.
fn folder(prefix: &str, number: u64) -> String {
    format!("{prefix}{PARTS}{number}/")
}

fn read_pointer(entry: &Entry) -> Result<Pointer> {
    serde_json::from_slice(&entry.value).map_err(|error| Error::Unreadable {
        key: entry.key.clone(),
        why: error.to_string(),
    })
}
