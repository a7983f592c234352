//! Copies of data sets from one store to another.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Batch, Entry, Error, Result, Revision, Store, format, lease};

#[cfg(test)]
mod tests;

/// The maximum number of keys that an error names.
const KEYS_NAMED_MAX: usize = 10;

/// The number of key segments that form a group: all keys under `/context/<id>/` are read in one
/// range.
const GROUP_PARTS: usize = 3;

/// The result of a copy that was made and verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copied {
    /// The number of keys that were written.
    pub written: usize,
    /// The number of keys that the target already had, with the same values.
    pub were_there: usize,
    /// The bytes of all values.
    pub bytes: usize,
}

/// The reason why a copy was not made, or was not completed.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The source failed.
    #[error("failed to read from the source")]
    Source(#[source] Error),
    /// The target failed, or another program is writing to it.
    #[error("failed to write to the target")]
    Target(#[source] Error),
    /// The target already has keys. Nothing was written.
    #[error("the target is not empty, it has {count} keys such as `{key}`")]
    NotEmpty {
        /// The number of its keys.
        count: usize,
        /// One of them.
        key: String,
    },
    /// Some of the source's values are larger than the target accepts. Nothing was written.
    #[error("values over the target's limit of {max} bytes: {}", keys.join(", "))]
    TooLarge {
        /// The limit.
        max: usize,
        /// Some of their keys.
        keys: Vec<String>,
    },
    /// Some keys have different values in the target: they had them before the copy, which did not
    /// change them, or another program changed them during the copy.
    #[error("the target differs from the source in: {}", keys.join(", "))]
    Differs {
        /// Some of the keys.
        keys: Vec<String>,
    },
}

/// Visits all keys under a prefix with their values, in order. Reads one group of keys at a time.
///
/// # Errors
/// The errors of the store and of `visit`.
pub fn walk<E: From<Error>>(
    store: &dyn Store,
    prefix: &str,
    mut visit: impl FnMut(Entry) -> Result<(), E>,
) -> Result<(), E> {
    let keys = store.keys(prefix)?.keys;
    for group in groups(prefix, &keys) {
        for entry in store.range(&group)?.entries {
            visit(entry)?;
        }
    }
    Ok(())
}

/// Copies all keys under a prefix in their order of creation, then compares both stores. Never
/// changes a key of the target: the target must have no keys under the prefix or, with
/// `into_existing`, no key with a different value. Calls `progress` before each key, with the number of processed keys and
/// the number of all keys.
///
/// The source must not change during the copy. If other programs may write to it, open it with
/// [`open_existing`](crate::open_existing).
///
/// # Errors
/// [`CopyError`]. Use `into_existing` to complete a copy that was interrupted.
pub fn copy(
    from: &dyn Store,
    to: &dyn Store,
    prefix: &str,
    into_existing: bool,
    mut progress: impl FnMut(usize, usize),
) -> Result<Copied, CopyError> {
    let there = to.keys(prefix).map_err(CopyError::Target)?.keys;
    let there: BTreeSet<String> = there.into_iter().filter(|key| !is_left_out(key)).collect();
    if let Some(key) = there.first().filter(|_| !into_existing) {
        return Err(CopyError::NotEmpty {
            count: there.len(),
            key: key.clone(),
        });
    }
    let order = creation_order(from, to, prefix)?;
    let mut copied = Copied::default();
    let mut copier = Copier {
        to,
        batch: Batch::new(),
        created: Revision::default(),
        differing: Vec::new(),
    };
    let total = order.len();
    for (position, (_, key)) in order.into_iter().enumerate() {
        progress(position, total);
        // A key that was deleted since the listing no longer belongs to the data set.
        let Some(entry) = from.entry(&key).map_err(CopyError::Source)? else {
            continue;
        };
        copied.bytes += entry.value.len();
        if there.contains(&key) {
            copied.were_there += 1;
            copier.compare(&entry)?;
        } else {
            copied.written += 1;
            copier.add(entry)?;
        }
    }
    copier.flush()?;
    differs(copier.differing)?;
    verify(from, to, prefix)?;
    Ok(copied)
}

/// The keys of the source, in their order of creation.
fn creation_order(
    from: &dyn Store,
    to: &dyn Store,
    prefix: &str,
) -> Result<Vec<(Revision, String)>, CopyError> {
    let max = to.limits().value_bytes;
    let (mut order, mut large) = (Vec::new(), Vec::new());
    walk(from, prefix, |entry| {
        if entry.value.len() > max {
            large.push(entry.key);
        } else if !is_left_out(&entry.key) {
            order.push((entry.created, entry.key));
        }
        Ok::<_, Error>(())
    })
    .map_err(CopyError::Source)?;
    if !large.is_empty() {
        large.truncate(KEYS_NAMED_MAX);
        return Err(CopyError::TooLarge { max, keys: large });
    }
    order.sort_unstable();
    Ok(order)
}

/// Writes entries in batches as large as the target accepts. Only keys of one revision share a
/// batch, so that the copy keeps the order of creation.
struct Copier<'s> {
    to: &'s dyn Store,
    batch: Batch,
    /// The revision that created the keys of the batch.
    created: Revision,
    differing: Vec<String>,
}

impl Copier<'_> {
    fn compare(&mut self, entry: &Entry) -> Result<(), CopyError> {
        let stored = self.to.get(&entry.key).map_err(CopyError::Target)?;
        if stored.as_ref() != Some(&entry.value) {
            self.differing.push(entry.key.clone());
        }
        Ok(())
    }

    fn add(&mut self, entry: Entry) -> Result<(), CopyError> {
        let limits = self.to.limits();
        let one = || {
            Batch::new()
                .absent(&entry.key)
                .put(&entry.key, entry.value.as_slice())
        };
        let is_full = self.batch.writes().len() >= limits.batch_writes
            || self.batch.bytes() + one().bytes() > limits.batch_bytes;
        if is_full || self.created != entry.created {
            self.flush()?;
        }
        self.created = entry.created;
        let batch = std::mem::take(&mut self.batch);
        self.batch = batch.absent(&entry.key).put(entry.key, entry.value);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CopyError> {
        let batch = std::mem::take(&mut self.batch);
        if !batch.writes().is_empty() {
            self.to.apply(&batch).map_err(CopyError::Target)?;
        }
        Ok(())
    }
}

/// Returns whether a key belongs to its store: the mark of the layout, and the leases of programs.
fn is_left_out(key: &str) -> bool {
    format::is_mark(key) || lease::is_lease(key)
}

/// Compares the values of both stores under a prefix. The target may have additional keys.
fn verify(from: &dyn Store, to: &dyn Store, prefix: &str) -> Result<(), CopyError> {
    let keys = from.keys(prefix).map_err(CopyError::Source)?.keys;
    let mut differing = Vec::new();
    for group in groups(prefix, &keys) {
        let copied = to.range(&group).map_err(CopyError::Target)?.entries;
        let copied: BTreeMap<String, Vec<u8>> = copied
            .into_iter()
            .map(|entry| (entry.key, entry.value))
            .collect();
        let entries = from.range(&group).map_err(CopyError::Source)?.entries;
        let other = entries.into_iter().filter(|entry| {
            !is_left_out(&entry.key) && copied.get(&entry.key) != Some(&entry.value)
        });
        differing.extend(other.map(|it| it.key));
    }
    differs(differing)
}

fn differs(mut keys: Vec<String>) -> Result<(), CopyError> {
    keys.truncate(KEYS_NAMED_MAX);
    if keys.is_empty() {
        return Ok(());
    }
    Err(CopyError::Differs { keys })
}

/// The prefixes that cover all of these keys, in order and without duplicates.
fn groups(prefix: &str, keys: &[String]) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for key in keys {
        let slashes = key.match_indices('/').map(|(at, _)| at + 1);
        let end = slashes.take(GROUP_PARTS).last().unwrap_or(key.len());
        let end = end.max(prefix.len());
        let group = key.get(..end).unwrap_or(key);
        if groups
            .last()
            .is_none_or(|last| !key.starts_with(last.as_str()))
        {
            groups.push(group.to_owned());
        }
    }
    groups
}
