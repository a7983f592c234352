//! Changes of the file that are not written yet.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_store::Batch;

use super::{Entry, REMEMBERED_BYTES_MAX};

/// The present content of the file, with the changes to write.
pub(super) struct Pending<'f> {
    entries: &'f BTreeMap<String, Entry>,
    changes: BTreeMap<String, Option<(Entry, Vec<u8>)>>,
    /// The size of the file after the changes.
    bytes: usize,
    bytes_max: usize,
    /// True if something was not kept since the file is full.
    pub(super) is_full: bool,
}

impl<'f> Pending<'f> {
    /// No changes of a file with these values.
    pub(super) fn new(entries: &'f BTreeMap<String, Entry>) -> Self {
        Self {
            bytes: entries.values().map(|it| it.bytes).sum(),
            entries,
            changes: BTreeMap::new(),
            bytes_max: REMEMBERED_BYTES_MAX,
            is_full: false,
        }
    }

    /// With another limit, for tests.
    #[cfg(test)]
    pub(super) fn limited(self, bytes_max: usize) -> Self {
        Self { bytes_max, ..self }
    }

    /// Sets a value, unless it is the same. One that has no place is not kept, and neither is its old value.
    pub(super) fn put(&mut self, key: String, value: Vec<u8>) {
        let entry = Entry::of(&key, &value);
        let known = self.entries.get(&key);
        if known == Some(&entry) {
            return;
        }
        let others = self.bytes.saturating_sub(known.map_or(0, |it| it.bytes));
        if others.saturating_add(entry.bytes) > self.bytes_max {
            self.is_full = true;
            return self.delete(key);
        }
        self.bytes = others.saturating_add(entry.bytes);
        self.changes.insert(key, Some((entry, value)));
    }

    /// Deletes a value, if it is there.
    pub(super) fn delete(&mut self, key: String) {
        if let Some(known) = self.entries.get(&key) {
            self.bytes = self.bytes.saturating_sub(known.bytes);
            self.changes.insert(key, None);
        }
    }

    /// Deletes the values whose keys begin so, except these.
    pub(super) fn retain(&mut self, prefix: &str, kept: &BTreeSet<String>) {
        for key in self.keys(prefix) {
            if !kept.contains(key) {
                self.delete(key.clone());
            }
        }
    }

    /// Returns whether the file has a value under a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Size of the value under a key of the file, in bytes; none if there is no value.
    pub(super) fn bytes(&self, key: &str) -> Option<usize> {
        self.entries.get(key).map(|entry| entry.bytes)
    }

    /// The keys in the file that begin so.
    pub(super) fn keys(&self, prefix: &str) -> Vec<&'f String> {
        let keys = self.entries.range(prefix.to_owned()..);
        let keys = keys.map(|(key, _)| key);
        keys.take_while(|key| key.starts_with(prefix)).collect()
    }

    /// Returns whether there is nothing to be written.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes as a batch, and what they make of the values in the file.
    pub(super) fn into_batch(self) -> (Batch, Vec<(String, Option<Entry>)>) {
        let mut batch = Batch::new();
        let mut entries = Vec::with_capacity(self.changes.len());
        for (key, change) in self.changes {
            let (entry, value) = change.unzip();
            batch = match value {
                Some(value) => batch.put(key.clone(), value),
                None => batch.delete(key.clone()),
            };
            entries.push((key, entry));
        }
        (batch, entries)
    }
}
