//! A shelf in memory that fails, or stops as a process does that is killed, where a test says so.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use kindsight_catalog::{Shelf, ShelfError};
use kindsight_model::Digest;

/// What is called after a component was kept.
pub(crate) type Hook = Box<dyn FnOnce() + Send>;

/// What is kept, and what goes wrong.
#[derive(Default)]
pub(crate) struct Memory(Mutex<State>);

#[derive(Default)]
struct State {
    kept: Kept,
    writes: usize,
    writes_max: Option<usize>,
    failing: BTreeSet<&'static str>,
    after_keeping: Option<Hook>,
}

/// What outlives a process.
#[derive(Clone, Default)]
pub(crate) struct Kept {
    pub(crate) book: Option<Vec<u8>>,
    pub(crate) components: BTreeMap<Digest, Vec<u8>>,
}

impl Memory {
    /// A shelf that holds what another held.
    pub(crate) fn over(kept: Kept) -> Arc<Self> {
        let state = State {
            kept,
            ..State::default()
        };
        Arc::new(Self(Mutex::new(state)))
    }

    /// What it holds.
    pub(crate) fn kept(&self) -> Kept {
        self.lock().kept.clone()
    }

    /// Calls of that name fail until `mend`.
    pub(crate) fn fail(&self, call: &'static str) {
        self.lock().failing.insert(call);
    }

    /// Nothing fails any more.
    pub(crate) fn mend(&self) {
        self.lock().failing.clear();
    }

    /// The first `max` writes are kept, and none after them.
    pub(crate) fn stop_after(&self, max: usize) {
        self.lock().writes_max = Some(max);
    }

    /// Writes so far, those that failed included.
    pub(crate) fn writes(&self) -> usize {
        self.lock().writes
    }

    /// Whether it has stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        let state = self.lock();
        state.writes_max.is_some_and(|max| state.writes > max)
    }

    /// What is done when the next component was kept.
    pub(crate) fn after_keeping(&self, hook: Hook) {
        self.lock().after_keeping = Some(hook);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no panic")
    }

    fn write<T>(
        &self,
        call: &'static str,
        write: impl FnOnce(&mut Kept) -> T,
    ) -> Result<T, ShelfError> {
        let mut state = self.lock();
        state.writes += 1;
        let is_stopped = state.writes_max.is_some_and(|max| state.writes > max);
        if is_stopped || state.failing.contains(call) {
            return Err(ShelfError("the disk is full".to_owned()));
        }
        Ok(write(&mut state.kept))
    }

    fn read<T>(&self, call: &str, read: impl FnOnce(&Kept) -> T) -> Result<T, ShelfError> {
        let state = self.lock();
        if state.failing.contains(call) {
            return Err(ShelfError("the disk does not answer".to_owned()));
        }
        Ok(read(&state.kept))
    }
}

impl Shelf for Memory {
    fn book(&self) -> Result<Option<Vec<u8>>, ShelfError> {
        self.read("book", |kept| kept.book.clone())
    }

    fn exchange_book(
        &self,
        before: Option<&[u8]>,
        book: &[u8],
        dropped: &[Digest],
    ) -> Result<bool, ShelfError> {
        self.write("exchange_book", |kept| {
            let is_before = kept.book.as_deref() == before;
            if is_before {
                kept.book = Some(book.to_vec());
                let is_kept = |digest: &Digest| !dropped.contains(digest);
                kept.components.retain(|digest, _| is_kept(digest));
            }
            is_before
        })
    }

    fn components(&self) -> Result<Vec<Digest>, ShelfError> {
        self.read("components", |kept| {
            kept.components.keys().cloned().collect()
        })
    }

    fn component(&self, digest: &Digest) -> Result<Option<Vec<u8>>, ShelfError> {
        self.read("component", |kept| kept.components.get(digest).cloned())
    }

    fn keep(&self, digest: &Digest, component: &[u8]) -> Result<(), ShelfError> {
        self.write("keep", |kept| {
            kept.components.insert(digest.clone(), component.to_vec());
        })?;
        let hook = self.lock().after_keeping.take();
        if let Some(hook) = hook {
            hook();
        }
        Ok(())
    }
}
