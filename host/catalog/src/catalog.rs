//! The catalog: its parts, its locks, and its state for readers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use kindsight_interpreter::{Interpreter, Interpreters, LogRate};
use kindsight_model::{Digest, InterpreterName};
use kindsight_store::Store;

use crate::circuit_breaker::Breaker;
use crate::refused::{RefusedComponent, RefusedLog};
use crate::settings::SettingsChecks;
use crate::snapshot::Snapshot;
use crate::state::Entry;
use crate::store::CatalogStore;

/// Limits that an operator may set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogLimits {
    /// Versions of each name and source that can be rolled back to.
    pub versions_kept_max: usize,
    /// Different inputs within the last minute below which the circuit breaker does not trip.
    pub breaker_calls_min: u64,
    /// Faults among calls with a hundred different inputs of the last minute at which the circuit breaker
    /// trips; 0 turns it off.
    pub breaker_fault_percent: u64,
}

impl Default for CatalogLimits {
    fn default() -> Self {
        Self {
            versions_kept_max: 5,
            breaker_calls_min: 10,
            breaker_fault_percent: 50,
        }
    }
}

/// The time, in Unix milliseconds.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// Everything a catalog is opened with.
pub struct CatalogOptions {
    /// The interpreters it publishes to.
    pub interpreters: Arc<Interpreters>,
    /// Keeps its state and its components. Hosts that share one share the catalog.
    pub store: Arc<dyn Store>,
    /// The interpreters of this binary.
    pub built_in: Vec<Arc<Interpreter>>,
    /// Limits.
    pub limits: CatalogLimits,
    /// Dates changes.
    pub clock: Clock,
    /// Called after every swap, with nothing locked.
    pub on_swap: Box<dyn Fn() + Send + Sync>,
}

/// All interpreters of a host; nothing else publishes them. One per process, shared by the API, the
/// watched directory and the background tasks.
///
/// Readers take the published snapshot and wait for nobody. Of the writers one at a time has the lock
/// of writers, for the milliseconds of a write to the store; whatever takes longer (compiling, trying,
/// validating settings) is done before, with nothing locked.
pub struct Catalog {
    pub(crate) options: CatalogOptions,
    pub(crate) store: CatalogStore,
    pub(crate) breaker: Breaker,
    /// Locked to clone or exchange the pointer, no longer.
    snapshot: RwLock<Arc<Snapshot>>,
    writer: Mutex<()>,
    /// Held while a change of another host is loaded: once is enough.
    pub(crate) following: Mutex<()>,
    /// Components that are being stored, of which no state speaks yet, and by how many.
    pub(crate) incoming: Mutex<BTreeMap<Digest, usize>>,
    pub(crate) checks: SettingsChecks,
    pub(crate) refused: RefusedLog,
    /// Of refused components.
    pub(crate) refusal_lines: LogRate,
    /// Of refused commands.
    pub(crate) command_lines: LogRate,
}

impl Catalog {
    pub(crate) fn new(options: CatalogOptions) -> Self {
        Self {
            store: CatalogStore::new(Arc::clone(&options.store)),
            breaker: Breaker::default(),
            options,
            snapshot: RwLock::default(),
            writer: Mutex::default(),
            following: Mutex::default(),
            incoming: Mutex::default(),
            checks: SettingsChecks::default(),
            refused: RefusedLog::default(),
            refusal_lines: LogRate::default(),
            command_lines: LogRate::default(),
        }
    }

    /// Every name with its entry, sorted, as they are now.
    pub fn entries(&self) -> Vec<(InterpreterName, Arc<Entry>)> {
        let snapshot = self.snapshot();
        let entries = snapshot.state.entries.iter();
        entries
            .map(|(name, entry)| (name.clone(), Arc::clone(entry)))
            .collect()
    }

    /// The entry of one name.
    pub fn entry(&self, name: &InterpreterName) -> Option<Arc<Entry>> {
        self.snapshot().state.entries.get(name).cloned()
    }

    /// The interpreter of that digest, where it is live, a candidate, or was live just before.
    pub fn loaded(&self, digest: &Digest) -> Option<Arc<Interpreter>> {
        self.snapshot().loaded.get(digest).cloned()
    }

    /// Versions that should judge or wait and cannot be loaded on this server now, in words, by name.
    /// Called on requests; waits for nobody.
    pub fn unavailable_notes(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let entries = snapshot.state.entries.iter();
        let notes = entries.flat_map(|(name, entry)| {
            let versions = entry.unavailable();
            versions.map(move |(it, why)| format!("{name} {} cannot be loaded: {why}", it.version))
        });
        notes.collect()
    }

    /// The components that were refused last, the newest first; of this process alone.
    pub fn refused(&self) -> Vec<RefusedComponent> {
        self.refused.newest_first()
    }

    /// The interpreters it publishes to.
    pub fn interpreters(&self) -> &Arc<Interpreters> {
        &self.options.interpreters
    }

    /// The time, in Unix milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        (self.options.clock)()
    }

    /// The catalog as it is now. Waits for nobody.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        let snapshot = self.snapshot.read();
        Arc::clone(&snapshot.unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes this the catalog that readers see. For the one writer.
    pub(crate) fn publish(&self, snapshot: Snapshot) {
        let mut published = self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *published = Arc::new(snapshot);
    }

    /// The lock of writers. Never held while something is compiled, tried or validated.
    pub(crate) fn writer(&self) -> MutexGuard<'_, ()> {
        locked(&self.writer)
    }
}

/// A lock whose value is whole after a panic too.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
