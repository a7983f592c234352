//! Changes of the file that are not written yet.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_store::Batch;

use super::contents::{Contents, Entry, TransitionSizes};
use super::{REMEMBERED_BYTES_MAX, keys};

/// The present content of the file, with the changes to write.
pub(super) struct Pending<'f> {
    contents: &'f Contents,
    changes: BTreeMap<String, Option<(Entry, Vec<u8>)>>,
    /// The size of the file after the changes.
    bytes: usize,
    bytes_max: usize,
    /// True if something was not kept since the file is full.
    pub(super) is_full: bool,
}

impl<'f> Pending<'f> {
    /// No changes of a file with these values.
    pub(super) fn new(contents: &'f Contents) -> Self {
        Self {
            bytes: contents.bytes(),
            contents,
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
        if self.contents.has_same(&key, entry) {
            return;
        }
        let known = self.contents.bytes_of(&key);
        let others = self.bytes.saturating_sub(known.unwrap_or_default());
        if others.saturating_add(entry.bytes) > self.bytes_max {
            self.is_full = true;
            return self.delete(key);
        }
        self.bytes = others.saturating_add(entry.bytes);
        self.changes.insert(key, Some((entry, value)));
    }

    /// Deletes a value, if it is there.
    pub(super) fn delete(&mut self, key: String) {
        if let Some(known) = self.contents.bytes_of(&key) {
            self.bytes = self.bytes.saturating_sub(known);
            self.changes.insert(key, None);
        }
    }

    /// Deletes the values whose keys begin so, except these. Transitions remain.
    pub(super) fn retain(&mut self, prefix: &str, kept: &BTreeSet<String>) {
        let contents = self.contents;
        for key in contents.keys(prefix).filter(|key| !kept.contains(*key)) {
            self.delete(key.clone());
        }
    }

    /// Deletes the transitions of an application, by the prefix of its keys, except these.
    pub(super) fn retain_transitions(&mut self, application: &str, kept: &BTreeSet<u64>) {
        let ids = self.transitions(application).into_iter().flatten();
        for (id, _) in ids.filter(|(id, _)| !kept.contains(id)) {
            self.delete(keys::transition(application, *id));
        }
    }

    /// The transitions of an application in the file, by the prefix of its keys.
    pub(super) fn transitions(&self, application: &str) -> Option<&'f TransitionSizes> {
        self.contents.transitions(application)
    }

    /// Size of the value under a key of the file, in bytes; `None` if there is no value.
    pub(super) fn bytes(&self, key: &str) -> Option<usize> {
        self.contents.bytes_of(key)
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
