//! The catalog's part of a store: a head, a value for each name, and components by digest.
//!
//! Every change compares and replaces the head in the same batch as the values of the changed
//! names. If two hosts make a change at the same time, one of them reads again.
//!
//! A component is stored in parts, because a store has a limit on values that is far below the size
//! of some components. Parts are written before any state refers to them, so a partly written
//! component is never referenced. Readers check its digest.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{Digest, InterpreterName};
use kindsight_store::{Batch, Error, Result, Revision, Store, Watch};

use crate::state::{
    CatalogState, Entry, FORMAT, Head, StoredError, read_entry, read_legacy, write_entry,
};

/// Maximum size of one part, in bytes, below etcd's limit for a request, 1.5 MiB.
const PART_BYTES_MAX: usize = 1024 * 1024;

/// The key of the head. Earlier releases stored the complete state there, and refuse the present
/// format.
const HEAD: &str = "/kindsight/interpreters/book/";
/// The prefix of entries, by name.
const NAMES: &str = "/kindsight/interpreters/names/";
/// The prefix of components, by digest. Each component is stored in parts.
const COMPONENTS: &str = "/kindsight/interpreters/components/";

/// Maximum number of names in one write. With the head and [`DROPPED_MAX`] components, it stays
/// below the 128 operations that etcd accepts. A change of more names, for example after an update
/// of the binary, takes several writes, each with the head.
const NAMES_PER_WRITE_MAX: usize = 32;
/// Maximum number of components that a write removes.
const DROPPED_MAX: usize = 64;
/// Maximum size of the entries of one write beyond its first entry, in bytes, below etcd's limit
/// for a request.
const WRITE_BYTES_MAX: usize = 1024 * 1024;
/// Maximum number of attempts to read while another host changes the catalog.
const READ_TRIES: usize = 10;

/// The stored head, with its format.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StoredHead {
    bytes: Option<Vec<u8>>,
    generation: u64,
    /// True if the value of the head is a complete state of an earlier release.
    is_legacy: bool,
}

impl StoredHead {
    /// Returns whether an earlier release wrote it.
    pub(crate) fn is_legacy(&self) -> bool {
        self.is_legacy
    }

    /// Returns whether these are the stored bytes.
    pub(crate) fn is(&self, bytes: Option<&[u8]>) -> bool {
        self.bytes.as_deref() == bytes
    }

    /// A batch that is applied only if this is still the head.
    fn batch(&self) -> Batch {
        match &self.bytes {
            Some(bytes) => Batch::new().equals(HEAD, bytes.as_slice()),
            None => Batch::new().absent(HEAD),
        }
    }

    /// The head after a change that makes these writes.
    fn next(&self, written: &[NameWrite]) -> serde_json::Result<Self> {
        let mut whole = self.bytes.clone().unwrap_or_default();
        for (key, value) in written {
            whole.extend_from_slice(key.as_bytes());
            whole.extend_from_slice(value.as_deref().unwrap_or_default());
        }
        let generation = self.generation + 1;
        let head = Head {
            format: FORMAT,
            generation,
            digest: Some(Digest::of(&whole)),
        };
        Ok(Self {
            bytes: Some(serde_json::to_vec(&head)?),
            generation,
            is_legacy: false,
        })
    }
}

/// The key of a name, and its new value, or `None` to remove it.
type NameWrite = (String, Option<Vec<u8>>);

/// The catalog's part of a store. Every call blocks until the store has answered.
pub(crate) struct CatalogStore {
    store: Arc<dyn Store>,
}

impl CatalogStore {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    /// The key of the head.
    pub(crate) fn head_key() -> &'static str {
        HEAD
    }

    /// The prefix of the parts of a component.
    pub(crate) fn key_of(digest: &Digest) -> String {
        component_key(digest)
    }

    /// The bytes of the head, if the catalog was ever written. Read before every change.
    pub(crate) fn head(&self) -> Result<Option<Vec<u8>>> {
        self.store.get(HEAD)
    }

    /// The head, and the state that belongs to it.
    ///
    /// # Errors
    /// If the store does not answer, or contains data that this release cannot read.
    pub(crate) fn read(&self) -> Result<(StoredHead, CatalogState), StoredError> {
        let mut tries = READ_TRIES;
        loop {
            let bytes = self.head()?;
            let Some(bytes) = bytes else {
                return Ok((StoredHead::default(), CatalogState::default()));
            };
            let corrupt = |key: &str, source| StoredError::Corrupt {
                key: key.to_owned(),
                source,
            };
            let head = Head::read(&bytes).map_err(|error| corrupt(HEAD, error))?;
            let stored = StoredHead {
                generation: head.generation,
                is_legacy: head.is_legacy(),
                bytes: Some(bytes),
            };
            if head.format != FORMAT {
                let bytes = stored.bytes.as_deref().unwrap_or_default();
                let state = read_legacy(head.format, bytes).map_err(|error| match error {
                    Some(error) => corrupt(HEAD, error),
                    None => StoredError::Format(head.format),
                })?;
                return Ok((stored, state));
            }
            let names = self.store.range(NAMES)?.entries;
            tries -= 1;
            // The two values were read one after the other.
            if tries > 0 && !stored.is(self.head()?.as_deref()) {
                continue;
            }
            let mut state = CatalogState::default();
            for stored in names {
                let (key, value) = (stored.key, stored.value);
                let name = key.strip_prefix(NAMES).unwrap_or_default();
                let name = name.trim_end_matches('/').parse();
                let entry = read_entry(&value).map_err(|error| corrupt(&key, error))?;
                if let Ok(name) = name {
                    state.entries.insert(name, entry);
                }
            }
            return Ok((stored, state));
        }
    }

    /// The changes of the head after a revision.
    pub(crate) fn watch(&self, after: Revision) -> Result<Watch> {
        self.store.watch(HEAD, after)
    }

    /// A revision after which a watch can begin: a state that is read later contains every change
    /// up to it.
    pub(crate) fn revision(&self) -> Result<Revision> {
        Ok(self.store.keys(HEAD)?.revision)
    }

    /// Writes the entries of a state that differ from the previous state, and removes components
    /// that the state no longer refers to, if `head` is still the head and no other host has removed
    /// an `incoming` component. From this moment, a change of one name is in effect, even after a
    /// crash. Returns the new head, or `None` if another host that shares the store was faster.
    pub(crate) fn exchange(
        &self,
        head: &StoredHead,
        before: &CatalogState,
        after: &CatalogState,
        dropped: &[Digest],
        incoming: &[Digest],
    ) -> Result<Option<StoredHead>> {
        let invalid = |error: serde_json::Error| Error::Backend(Box::new(error));
        // Removes the partial result of an earlier attempt to convert a state of an earlier
        // release.
        if head.is_legacy && !self.applied(&head.batch().delete_prefix(NAMES))? {
            return Ok(None);
        }
        let nothing = CatalogState::default();
        let before = if head.is_legacy { &nothing } else { before };
        let mut writes = chunks(written(before, after).map_err(invalid)?);
        let last = writes.pop().unwrap_or_default();
        let mut head = head.clone();
        for names in writes {
            // The names of an earlier format become valid with their last write.
            let next = if head.is_legacy {
                head.clone()
            } else {
                head.next(&names).map_err(invalid)?
            };
            if !self.write(&head, &next, names, &[], incoming)? {
                return Ok(None);
            }
            head = next;
        }
        let next = head.next(&last).map_err(invalid)?;
        let is_written = self.write(&head, &next, last, dropped, incoming)?;
        Ok(is_written.then_some(next))
    }

    fn write(
        &self,
        head: &StoredHead,
        next: &StoredHead,
        names: Vec<NameWrite>,
        dropped: &[Digest],
        incoming: &[Digest],
    ) -> Result<bool> {
        let mut batch = head.batch();
        // The first part is written first, and all parts are removed together.
        for digest in incoming {
            batch = batch.present(part_key(&component_key(digest), 0));
        }
        if next != head {
            batch = batch.put(HEAD, next.bytes.clone().unwrap_or_default());
        }
        for (key, value) in names {
            batch = match value {
                Some(value) => batch.put(key, value),
                None => batch.delete(key),
            };
        }
        for digest in dropped.iter().take(DROPPED_MAX) {
            batch = batch.delete_prefix(component_key(digest));
        }
        self.applied(&batch)
    }

    /// Removes an unreferenced component, if `head` is still the head.
    pub(crate) fn discard(&self, head: &StoredHead, digest: &Digest) -> Result<bool> {
        self.applied(&head.batch().delete_prefix(component_key(digest)))
    }

    fn applied(&self, batch: &Batch) -> Result<bool> {
        match self.store.apply(batch) {
            Ok(_) => Ok(true),
            Err(Error::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The digests of the stored components.
    pub(crate) fn components(&self) -> Result<BTreeSet<Digest>> {
        let keys = self.store.keys(COMPONENTS)?.keys;
        let digest = |key: &String| {
            let rest = key.strip_prefix(COMPONENTS)?;
            rest.split('/').next()?.parse().ok()
        };
        Ok(keys.iter().filter_map(digest).collect())
    }

    /// The bytes that are stored under a digest, assembled but not checked, or `None` if there are
    /// no parts.
    pub(crate) fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>> {
        let parts = self.store.range(&component_key(digest))?.entries;
        if parts.is_empty() {
            return Ok(None);
        }
        Ok(Some(
            parts.into_iter().flat_map(|part| part.value).collect(),
        ))
    }

    /// Stores a component, part by part. Called before the state refers to it. A component to which
    /// no state refers is removed later.
    pub(crate) fn put_component(&self, digest: &Digest, bytes: &[u8]) -> Result<()> {
        let component = component_key(digest);
        for (number, part) in bytes.chunks(PART_BYTES_MAX).enumerate() {
            let key = part_key(&component, number);
            self.store.apply(&Batch::new().put(key, part))?;
        }
        Ok(())
    }
}

/// The writes for the entries that differ.
fn written(before: &CatalogState, after: &CatalogState) -> serde_json::Result<Vec<NameWrite>> {
    let is_gone = |name: &InterpreterName| !after.entries.contains_key(name);
    let gone = before.entries.keys().filter(|name| is_gone(name));
    let mut written: Vec<NameWrite> = gone.map(|name| (name_key(name), None)).collect();
    for (name, entry) in &after.entries {
        let old = before.entries.get(name);
        if old.is_some_and(|old| Arc::ptr_eq(old, entry)) {
            continue;
        }
        let bytes = write_entry(entry)?;
        let old = old.map(|old: &Arc<Entry>| write_entry(old)).transpose()?;
        if old.is_none_or(|old| old != bytes) {
            written.push((name_key(name), Some(bytes)));
        }
    }
    Ok(written)
}

/// The writes in groups that a store accepts at once; at least one group.
fn chunks(written: Vec<NameWrite>) -> Vec<Vec<NameWrite>> {
    let mut parts = Vec::new();
    let (mut part, mut bytes) = (Vec::new(), 0);
    for write in written {
        let size = write.1.as_ref().map_or(0, Vec::len);
        let is_full = part.len() >= NAMES_PER_WRITE_MAX || bytes + size > WRITE_BYTES_MAX;
        if is_full && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
        bytes += size;
        part.push(write);
    }
    parts.push(part);
    parts
}

/// The key of the entry of a name.
fn name_key(name: &InterpreterName) -> String {
    format!("{NAMES}{name}/")
}

/// The prefix of the keys of one component: [`COMPONENTS`] and its digest, before the number of the
/// part.
fn component_key(digest: &Digest) -> String {
    format!("{COMPONENTS}{digest}/")
}

/// The key of one part of a component. Parts are read in the order of their keys.
fn part_key(component: &str, part: usize) -> String {
    format!("{component}{part:05}/")
}

#[cfg(test)]
mod tests {
    use kindsight_store::RedbStore;

    use super::*;

    fn store() -> CatalogStore {
        CatalogStore::new(Arc::new(RedbStore::in_memory().unwrap()))
    }

    #[test]
    fn a_component_is_read_as_it_was_stored() {
        let store = store();
        let large: Vec<u8> = b"parts".repeat(PART_BYTES_MAX);
        let (one, other) = (Digest::of(&large), Digest::of(b"small"));
        assert_eq!(store.component(&one).unwrap(), None);
        store.put_component(&one, &large).unwrap();
        store.put_component(&other, b"small").unwrap();
        assert_eq!(store.component(&one).unwrap(), Some(large));
        let small = store.component(&other).unwrap();
        assert_eq!(small.as_deref(), Some(&b"small"[..]));
        let both: BTreeSet<Digest> = [one.clone(), other.clone()].into();
        assert_eq!(store.components().unwrap(), both);
        let (head, empty) = (StoredHead::default(), CatalogState::default());
        let dropped = store.exchange(&head, &empty, &empty, &[one], &[]);
        assert!(dropped.unwrap().is_some());
        assert_eq!(store.components().unwrap(), [other].into());
    }

    fn state(names: impl IntoIterator<Item = (&'static str, bool)>) -> CatalogState {
        let entries = names.into_iter().map(|(name, is_disabled)| {
            let entry = Entry {
                is_disabled,
                ..Entry::default()
            };
            (name.parse().unwrap(), Arc::new(entry))
        });
        CatalogState {
            entries: entries.collect(),
        }
    }

    #[test]
    fn a_change_writes_only_the_changed_names_and_the_head() {
        let store = store();
        let (empty, one) = (CatalogState::default(), state([("a", false), ("b", false)]));
        let two = state([("a", true), ("b", false)]);
        let none = StoredHead::default();
        let first = store
            .exchange(&none, &empty, &one, &[], &[])
            .unwrap()
            .unwrap();
        assert_eq!(store.read().unwrap(), (first.clone(), one.clone()));
        let revision = store.revision().unwrap();
        let second = store
            .exchange(&first, &one, &two, &[], &[])
            .unwrap()
            .unwrap();
        assert_eq!(store.read().unwrap(), (second.clone(), two.clone()));
        let late = store.exchange(&first, &one, &empty, &[], &[]).unwrap();
        assert_eq!(late, None, "another host was faster");
        assert_eq!(store.read().unwrap(), (second.clone(), two.clone()));
        let third = store
            .exchange(&second, &two, &empty, &[], &[])
            .unwrap()
            .unwrap();
        assert_eq!(store.read().unwrap(), (third.clone(), empty));
        assert_eq!(third.generation, 3);
        assert!(revision < store.revision().unwrap());
    }

    #[test]
    fn a_change_of_many_names_takes_writes_that_etcd_would_take() {
        let value = |bytes| Some(vec![0; bytes]);
        let many = (0..100).map(|number| (number.to_string(), value(1)));
        let parts = chunks(many.collect());
        assert_eq!(parts.len(), 4);
        let large = (0..3).map(|number| (number.to_string(), value(WRITE_BYTES_MAX)));
        assert_eq!(chunks(large.collect()).len(), 3);
        assert_eq!(chunks(Vec::new()).len(), 1, "the head is written");
    }

    /// If a process ends during the conversion, the state of the earlier release remains.
    #[test]
    fn a_state_of_an_earlier_release_is_moved_at_the_first_change() {
        let store = store();
        let legacy = br#"{"format":2,"entries":{"a":{"sources":{}},"b":{"sources":{}}}}"#;
        let left = Batch::new()
            .put(HEAD, legacy.as_slice())
            .put(format!("{NAMES}left/"), "{}");
        store.store.apply(&left).unwrap();
        let (head, before) = store.read().unwrap();
        assert!(head.is_legacy);
        assert_eq!(before, state([("a", false), ("b", false)]));
        let after = state([("a", true), ("b", false)]);
        let head = store.exchange(&head, &before, &after, &[], &[]).unwrap();
        assert_eq!(store.read().unwrap(), (head.unwrap(), after));
        let head = store.head().unwrap().unwrap();
        let text = String::from_utf8_lossy(&head);
        assert!(
            text.starts_with(r#"{"format":3,"generation":1,"digest":"sha256:"#),
            "earlier releases refuse it: {text}"
        );
    }
}
