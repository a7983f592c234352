//! Reports of monitors that are too large for one key.
//!
//! The complete report is kept in parts under `/kindsight/bundles/`. The key under `/context/` has an
//! excerpt without the largest items. A mark in the excerpt (the member `kindsight`) counts the missing
//! items and has the digest of the complete report. A report that another writer puts there has no
//! mark, so it is newer than the parts.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::Digest;
use kindsight_store::{Batch, Error as StoreError, Store, parts};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::keys::{self, ClusterKeys};
use crate::members::Members;
use crate::value::retried;
use crate::{Error, Recorded, Result, go_json};

/// The largest report that is kept under one key, in bytes as it is stored: an etcd takes requests of
/// 1.5 MiB, and a store may be copied to one.
pub const BUNDLE_STORED_BYTES_MAX: usize = 1024 * 1024;

/// The maximum size of the mark, in bytes.
const MARK_BYTES_MAX: usize = 4 * 1024;

/// The maximum number of lists that the mark names. A report has nine.
const LISTS_NAMED_MAX: usize = 16;
/// The longest name of a list in the mark, in characters.
const NAME_CHARS_MAX: usize = 64;

/// The member that is the mark.
const MARK: &str = "kindsight";
/// The beginning of a report with a mark.
const MARKED: &str = r#"{"kindsight":{"#;

/// The mark of an excerpt.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Mark {
    version: u64,
    /// The digest of the complete report.
    pub(crate) whole: Digest,
    /// The size of the complete report, in bytes.
    bytes: usize,
    /// The number of items that are left out, by the name of their list.
    pub(crate) dropped: BTreeMap<String, usize>,
}

impl Mark {
    /// Reads the mark of a report. Returns `None` for a complete report, and for a report of another writer.
    pub(crate) fn of(status_json: &str) -> Option<Self> {
        if !status_json.starts_with(MARKED) {
            return None;
        }
        let members: Members = serde_json::from_str(status_json).ok()?;
        members.get(MARK).ok().flatten()
    }

    /// The names of the lists with missing items.
    pub(crate) fn lists(&self) -> String {
        let names: Vec<&str> = self.dropped.keys().map(String::as_str).collect();
        names.join(", ")
    }
}

/// Records a report of a cluster, in one key or in parts.
pub(crate) fn record(store: &dyn Store, keys: &ClusterKeys, status_json: &str) -> Result<Recorded> {
    let (bytes, max) = (status_json.len(), parts::PARTS_MAX * parts::PART_BYTES_MAX);
    let (key, prefix) = (keys.bundle(), keys::bundles(keys.root()));
    if bytes > max {
        return Err(StoreError::TooLarge { key, bytes, max }.into());
    }
    let whole = go_json::encode(status_json)?;
    let fits = BUNDLE_STORED_BYTES_MAX.min(store.limits().value_bytes);
    let is_large = whole.len() > fits;
    let next = if is_large {
        go_json::encode(&trimmed(status_json, whole.len(), fits, &key)?)?
    } else {
        whole
    };
    let recorded = retried(&key, || {
        let stored = store.get(&key)?;
        if stored.as_deref() == Some(next.as_bytes()) {
            return Ok(Recorded::Unchanged);
        }
        let batch = Batch::new().present(keys.root()).put(&key, next.clone());
        let written = if is_large {
            parts::write(store, &prefix, status_json.as_bytes(), batch)
        } else if stored.is_some_and(|value| is_marked(&value)) {
            store.apply(&batch.delete_prefix(&prefix))
        } else {
            store.apply(&batch)
        };
        Ok(Recorded::Written(written?))
    });
    match recorded {
        Err(Error::Store(StoreError::Conflict { key })) if key == keys.root() => {
            Ok(Recorded::NotFound)
        }
        other => other,
    }
}

/// Reads the complete report of an excerpt. Returns `None` if it is absent, damaged or not permitted.
///
/// # Errors
/// [`StoreError::Unavailable`].
pub(crate) fn whole(store: &dyn Store, keys: &ClusterKeys, mark: &Mark) -> Result<Option<String>> {
    match parts::read(store, &keys::bundles(keys.root())) {
        Ok(Some(bytes)) if Digest::of(&bytes) == mark.whole => Ok(String::from_utf8(bytes).ok()),
        Err(error @ StoreError::Unavailable { .. }) => Err(error.into()),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Removes the parts of reports that are not current: their cluster was deleted, another writer replaced
/// the report, or the write was never completed.
pub(crate) fn sweep(store: &dyn Store) -> Result<usize> {
    let keys = store.keys(keys::BUNDLES)?.keys;
    let reports: BTreeMap<&str, String> = keys
        .iter()
        .filter_map(|key| keys::cluster_of_bundle(key))
        .collect();
    let mut swept = 0;
    for (prefix, cluster) in reports {
        let bundle = store.entry(&format!("{cluster}status/"))?;
        let batch = match &bundle {
            Some(bundle) if is_marked(&bundle.value) => continue,
            Some(bundle) => Batch::new().unchanged(&bundle.key, bundle.changed),
            None => Batch::new().absent(format!("{cluster}status/")),
        };
        match store.apply(&batch.delete_prefix(prefix)) {
            Ok(_) => swept += 1,
            // A newer one was written.
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(swept)
}

/// Returns whether a stored report has the member of our own.
fn is_marked(stored: &[u8]) -> bool {
    // As JSON text in a JSON string.
    stored.starts_with(br#""{\"kindsight\":{"#)
}

/// The report without its largest items, so that it fits as it is stored.
///
/// # Errors
/// [`StoreError::TooLarge`] for a text that is no JSON object.
fn trimmed(status_json: &str, stored_bytes: usize, max: usize, key: &str) -> Result<String> {
    let too_large = || StoreError::TooLarge {
        key: key.to_owned(),
        bytes: stored_bytes,
        max,
    };
    let members: Members = serde_json::from_str(status_json).map_err(|_| too_large())?;
    let mut lists = Vec::new();
    let mut sizes = Vec::new();
    for name in members.names() {
        let json = members.json(name).unwrap_or_default();
        let items = serde_json::from_str::<Vec<&RawValue>>(json).ok();
        for (at, item) in items.iter().flatten().enumerate() {
            // Without the quotes around it, and the comma behind it.
            let size = go_json::encode(item.get())?.len() - 2;
            sizes.push((size, lists.len(), at));
        }
        lists.push((name, json, items));
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let mut left_out = BTreeMap::<usize, BTreeSet<usize>>::new();
    let mut bytes = stored_bytes + MARK_BYTES_MAX;
    for (size, list, at) in sizes {
        if bytes <= max {
            break;
        }
        bytes = bytes.saturating_sub(size);
        left_out.entry(list).or_default().insert(at);
    }
    let dropped = lists.iter().enumerate().filter_map(|(number, list)| {
        let name: String = list.0.chars().take(NAME_CHARS_MAX).collect();
        Some((name, left_out.get(&number)?.len()))
    });
    let mut fitting = Members::default();
    fitting.push(
        MARK,
        &Mark {
            version: 1,
            whole: Digest::of(status_json.as_bytes()),
            bytes: status_json.len(),
            dropped: dropped.take(LISTS_NAMED_MAX).collect(),
        },
    )?;
    for (number, (name, json, items)) in lists.into_iter().enumerate() {
        match (items, left_out.get(&number)) {
            (Some(items), Some(left_out)) => {
                let kept = items.into_iter().enumerate();
                let kept = kept.filter(|(at, _)| !left_out.contains(at));
                fitting.push(name, &kept.map(|it| it.1).collect::<Vec<_>>())?;
            }
            // Members other than lists are small in a report.
            _ if name != MARK => fitting.push(
                name,
                serde_json::from_str::<&RawValue>(json).map_err(Error::NotJson)?,
            )?,
            _ => {}
        }
    }
    let text = go_json::encode(&fitting)?;
    if go_json::encode(&text)?.len() > max {
        return Err(too_large().into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests;
