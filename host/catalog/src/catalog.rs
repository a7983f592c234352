//! The catalog: its parts, its locks, and its state for readers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use kindsight_interpreter::{Interpreter, Interpreters, LogRate};
use kindsight_model::{Digest, InterpreterName};
use kindsight_store::Store;
use serde_json::{Map, Value};

use crate::artifact::RequiredSignatures;
use crate::circuit_breaker::Breaker;
use crate::refused::{RefusedComponent, RefusedLog};
use crate::settings::SettingsChecks;
use crate::snapshot::Snapshot;
use crate::state::Entry;
use crate::store::CatalogStore;
use crate::version_trial::KnownObjects;

/// Limits that an operator can set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogLimits {
    /// Maximum number of versions of each name and source that are kept for a rollback.
    pub versions_kept_max: usize,
    /// Minimum number of different inputs, or of objects, within the last minute at which the
    /// circuit breaker trips.
    pub breaker_calls_min: u64,
    /// Number of faults per hundred different inputs, or per hundred objects, of the last minute at
    /// which the circuit breaker trips. 0 disables it.
    pub breaker_fault_percent: u64,
    /// Maximum number of known objects on which a new version may fail although the live version
    /// has a verdict on them. A version that fails on more is refused.
    pub promote_faults_max: u64,
    /// True to refuse a component with the version of other bytes that are live, or with an older
    /// version. Otherwise, it is accepted with a warning.
    pub refuses_old_versions: bool,
}

impl Default for CatalogLimits {
    fn default() -> Self {
        Self {
            versions_kept_max: 5,
            breaker_calls_min: 10,
            breaker_fault_percent: 50,
            promote_faults_max: 0,
            refuses_old_versions: false,
        }
    }
}

/// The time, in Unix milliseconds.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// The options with which a catalog is opened.
pub struct CatalogOptions {
    /// The interpreters that the catalog publishes.
    pub interpreters: Arc<Interpreters>,
    /// Stores the state and the components of the catalog. Hosts that share a store share the
    /// catalog.
    pub store: Arc<dyn Store>,
    /// The interpreters inside this binary.
    pub built_in: Vec<Arc<Interpreter>>,
    /// The objects on which new versions are tried.
    pub known_objects: Box<dyn KnownObjects>,
    /// Settings that the configuration declares, by name.
    pub settings: BTreeMap<InterpreterName, Map<String, Value>>,
    /// Limits.
    pub limits: CatalogLimits,
    /// The clock for the times of changes.
    pub clock: Clock,
    /// Called after every swap, without a lock.
    pub on_swap: Box<dyn Fn() + Send + Sync>,
}

/// All interpreters of a host. Only the catalog publishes them. There is one per process, shared by
/// the API, the watched directory and the background tasks.
///
/// Readers use the published snapshot and never wait. Only one writer at a time has the writers'
/// lock, for the milliseconds of a write to the store. All slower work (compiling, trying,
/// validating settings) is done before, without a lock.
pub struct Catalog {
    pub(crate) options: CatalogOptions,
    pub(crate) store: CatalogStore,
    pub(crate) breaker: Breaker,
    /// Only locked to clone or exchange the pointer.
    snapshot: RwLock<Arc<Snapshot>>,
    writer: Mutex<()>,
    /// Locked while a change of another host is loaded, so that it is loaded only once.
    pub(crate) following: Mutex<()>,
    /// Components that are being stored and are not part of any state yet, with the number of their
    /// uploads.
    pub(crate) incoming: Mutex<BTreeMap<Digest, usize>>,
    pub(crate) checks: SettingsChecks,
    pub(crate) signatures: RequiredSignatures,
    pub(crate) refused: RefusedLog,
    /// The rate of the log lines about refused components.
    pub(crate) refusal_lines: LogRate,
    /// The rate of the log lines about refused commands.
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
            signatures: RequiredSignatures::default(),
            refused: RefusedLog::default(),
            refusal_lines: LogRate::default(),
            command_lines: LogRate::default(),
        }
    }

    /// The present entries of all names, sorted.
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

    /// The interpreter with this digest, if it is live, a candidate, or the previous live version.
    pub fn loaded(&self, digest: &Digest) -> Option<Arc<Interpreter>> {
        self.snapshot().loaded.get(digest).cloned()
    }

    /// Live versions and candidates that this server cannot use at present, as text, by name.
    /// Called on requests; never waits.
    pub fn unavailable_notes(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let entries = snapshot.state.entries.iter();
        let notes = entries.flat_map(|(name, entry)| {
            let versions = entry.unavailable();
            versions.map(move |(version, why)| {
                format!("{name} {} cannot be loaded: {why}", version.version)
            })
        });
        notes.collect()
    }

    /// The components that this process refused last, newest first.
    pub fn refused(&self) -> Vec<RefusedComponent> {
        self.refused.newest_first()
    }

    /// The interpreters that the catalog publishes.
    pub fn interpreters(&self) -> &Arc<Interpreters> {
        &self.options.interpreters
    }

    /// The time, in Unix milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        (self.options.clock)()
    }

    /// The present snapshot of the catalog. Never waits.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        let snapshot = self.snapshot.read();
        Arc::clone(&snapshot.unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes this snapshot visible to readers. Only for the writer with the lock.
    pub(crate) fn publish(&self, snapshot: Snapshot) {
        let mut published = self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *published = Arc::new(snapshot);
    }

    /// Takes the writers' lock. It must not be held while anything is compiled, tried or validated.
    pub(crate) fn writer(&self) -> MutexGuard<'_, ()> {
        locked(&self.writer)
    }
}

/// Locks a mutex whose value is valid even after a panic.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
