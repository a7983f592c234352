//! A store that fails on request, or stops as if the process were killed.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use kindsight_model::Digest;
use kindsight_store::{
    Batch, Connection, Entry, Error, Keys, Leased, Range, RedbStore, Result, Revision, Store,
    StoreLimits, Watch, Write,
};
use tokio::sync::watch::Receiver;

/// The key of the catalog's head, which every change replaces.
const HEAD: &str = "/kindsight/interpreters/book/";
/// The prefix of names.
const NAMES: &str = "/kindsight/interpreters/names/";
/// The prefix of components.
const COMPONENTS: &str = "/kindsight/interpreters/components/";

/// Called after a component was stored.
pub(crate) type Hook = Box<dyn FnOnce() + Send>;

/// A part of the store that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Failing {
    ReadState,
    WriteState,
    ListComponents,
    ReadComponents,
    WriteComponents,
}

/// A real store in memory, with injected failures.
pub(crate) struct FailingStore {
    store: RedbStore,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    writes: usize,
    writes_max: Option<usize>,
    failing: BTreeSet<Failing>,
    after_component: Option<Hook>,
    before_change: Option<Hook>,
}

/// The catalog's stored data, which outlives a process.
#[derive(Clone, Default)]
pub(crate) struct Kept {
    pub(crate) head: Option<Vec<u8>>,
    /// Values by key.
    pub(crate) names: BTreeMap<String, Vec<u8>>,
    pub(crate) components: BTreeMap<Digest, Vec<u8>>,
}

impl Default for FailingStore {
    fn default() -> Self {
        Self {
            store: RedbStore::in_memory().expect("a store in memory"),
            state: Mutex::default(),
        }
    }
}

impl FailingStore {
    /// A store over the data of another.
    pub(crate) fn over(kept: Kept) -> Arc<Self> {
        let store = Self::default();
        let mut batch = Batch::new();
        if let Some(head) = kept.head {
            batch = batch.put(HEAD, head);
        }
        for (key, value) in kept.names {
            batch = batch.put(key, value);
        }
        for (digest, component) in kept.components {
            batch = batch.put(format!("{COMPONENTS}{digest}/00000/"), component);
        }
        store.store.apply(&batch).expect("it is written");
        Arc::new(store)
    }

    /// The catalog's data in it.
    pub(crate) fn kept(&self) -> Kept {
        let parts = self.store.range(COMPONENTS).expect("it is read").entries;
        let mut components: BTreeMap<Digest, Vec<u8>> = BTreeMap::new();
        for part in parts {
            let digest = part.key.trim_start_matches(COMPONENTS).split('/').next();
            let digest = digest.and_then(|text| text.parse().ok()).expect("a digest");
            components.entry(digest).or_default().extend(part.value);
        }
        Kept {
            head: self.store.get(HEAD).expect("it is read"),
            names: self.names().into_iter().collect(),
            components,
        }
    }

    fn names(&self) -> Vec<(String, Vec<u8>)> {
        let names = self.store.range(NAMES).expect("it is read").entries;
        names
            .into_iter()
            .map(|entry| (entry.key, entry.value))
            .collect()
    }

    /// Makes those calls fail until `mend`.
    pub(crate) fn fail(&self, failing: Failing) {
        self.lock().failing.insert(failing);
    }

    /// Ends all failures.
    pub(crate) fn mend(&self) {
        self.lock().failing.clear();
    }

    /// Keeps the first `max` writes, and none after them.
    pub(crate) fn stop_after(&self, max: usize) {
        self.lock().writes_max = Some(max);
    }

    /// Number of writes so far, including failed writes.
    pub(crate) fn writes(&self) -> usize {
        self.lock().writes
    }

    /// Returns whether it has stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        let state = self.lock();
        state.writes_max.is_some_and(|max| state.writes > max)
    }

    /// Sets what is called when the next component is stored.
    pub(crate) fn after_component(&self, hook: Hook) {
        self.lock().after_component = Some(hook);
    }

    /// Sets what is called right before the next write of the state.
    pub(crate) fn before_state(&self, hook: Hook) {
        self.lock().before_change = Some(hook);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    fn read(&self, failing: Failing) -> Result<()> {
        if self.lock().failing.contains(&failing) {
            return Err(Error::Backend("the disk does not answer".into()));
        }
        Ok(())
    }
}

fn is_component(batch: &Batch) -> bool {
    let mut writes = batch.writes().iter();
    writes.any(|write| matches!(write, Write::Put { key, .. } if key.starts_with(COMPONENTS)))
}

impl Store for FailingStore {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.read(Failing::ReadState)?;
        self.store.entry(key)
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.read(if prefix == NAMES {
            Failing::ReadState
        } else {
            Failing::ReadComponents
        })?;
        self.store.range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.read(Failing::ListComponents)?;
        self.store.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        let is_component = is_component(batch);
        let failing = if is_component {
            Failing::WriteComponents
        } else {
            Failing::WriteState
        };
        let before = self.lock().before_change.take_if(|_| !is_component);
        if let Some(before) = before {
            before();
        }
        let hook = {
            let mut state = self.lock();
            state.writes += 1;
            let is_stopped = state.writes_max.is_some_and(|max| state.writes > max);
            if is_stopped || state.failing.contains(&failing) {
                return Err(Error::Full(io::ErrorKind::StorageFull.into()));
            }
            state.after_component.take_if(|_| is_component)
        };
        let revision = self.store.apply(batch)?;
        if let Some(hook) = hook {
            hook();
        }
        Ok(revision)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.store.watch(prefix, after)
    }

    fn lease(&self, name: &str) -> Result<Leased> {
        self.store.lease(name)
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}
