//! The index of the file: the values that it has, without their content.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;
use std::ops::Bound;
use std::sync::LazyLock;

use super::keys;

/// Hashes values, to recognize unchanged ones. Each process has its own seed, because clusters choose the values.
static VALUE_HASHER: LazyLock<foldhash::quality::RandomState> = LazyLock::new(Default::default);

/// A value that is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    hash: u64,
    /// Size of the key and the value, in bytes.
    pub(super) bytes: usize,
}

impl Entry {
    pub(super) fn of(key: &str, value: &[u8]) -> Self {
        Self {
            hash: VALUE_HASHER.hash_one(value),
            bytes: key.len() + value.len(),
        }
    }
}

/// The sizes of an application's transitions by their ids, in bytes.
pub(super) type TransitionSizes = BTreeMap<u64, u32>;

/// The values in the file. There may be a million transitions, and a transition never changes: the index has only its id
/// and its size.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// All values except transitions.
    values: BTreeMap<String, Entry>,
    /// The transitions of each application, by the prefix of its keys.
    transitions: BTreeMap<String, TransitionSizes>,
    /// Size of all values, in bytes.
    bytes: usize,
}

impl Contents {
    /// Notes that the file has another value under a key; `None` for no value.
    pub(super) fn set(&mut self, key: String, entry: Option<Entry>) {
        let before = self.bytes_of(&key).unwrap_or_default();
        let now = entry.map_or(0, |entry| entry.bytes);
        self.bytes = self.bytes.saturating_sub(before).saturating_add(now);
        match (keys::transition_of(&key), entry) {
            (Some((application, id)), _) => self.set_transition(application, id, entry),
            (None, Some(entry)) => {
                self.values.insert(key, entry);
            }
            (None, None) => {
                self.values.remove(&key);
            }
        }
    }

    fn set_transition(&mut self, application: &str, id: u64, entry: Option<Entry>) {
        if !self.transitions.contains_key(application) {
            self.transitions
                .insert(application.to_owned(), TransitionSizes::new());
        }
        let Some(sizes) = self.transitions.get_mut(application) else {
            return;
        };
        match entry {
            Some(entry) => sizes.insert(id, u32::try_from(entry.bytes).unwrap_or(u32::MAX)),
            None => sizes.remove(&id),
        };
        if sizes.is_empty() {
            self.transitions.remove(application);
        }
    }

    /// Returns whether the file has this value; false for each transition, whose content the index does not know.
    pub(super) fn has_same(&self, key: &str, entry: Entry) -> bool {
        self.values.get(key) == Some(&entry)
    }

    /// Size of the value under a key, in bytes; `None` if there is no value.
    pub(super) fn bytes_of(&self, key: &str) -> Option<usize> {
        let Some((application, id)) = keys::transition_of(key) else {
            return self.values.get(key).map(|entry| entry.bytes);
        };
        let size = self.transitions.get(application)?.get(&id)?;
        usize::try_from(*size).ok()
    }

    /// Size of all values, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The keys that begin with a prefix, without the keys of transitions.
    pub(super) fn keys<'c>(&'c self, prefix: &'c str) -> impl Iterator<Item = &'c String> {
        let range = (Bound::Included(prefix), Bound::Unbounded);
        let keys = self.values.range::<str, _>(range);
        let keys = keys.map(|(key, _)| key);
        keys.take_while(move |key| key.starts_with(prefix))
    }

    /// The transitions of an application, by the prefix of its keys; `None` if the file has none.
    pub(super) fn transitions(&self, application: &str) -> Option<&TransitionSizes> {
        self.transitions.get(application)
    }

    /// The applications with transitions, by the prefixes of their keys.
    pub(super) fn applications(&self) -> impl Iterator<Item = &String> {
        self.transitions.keys()
    }
}
