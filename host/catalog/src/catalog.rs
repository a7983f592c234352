//! The catalog: its parts, its lock, and its state for readers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kindsight_api::interpreters::{OutcomeStatus, Refusal};
use kindsight_interpreter::{Interpreter, Interpreters, SetMember};
use kindsight_model::{Digest, InterpreterName, LoadStep, Source};
use kindsight_store::Store;

use crate::circuit_breaker::Breaker;
use crate::settings;
use crate::state::{CatalogState, Entry, Version};
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
pub struct Catalog {
    pub(crate) options: CatalogOptions,
    pub(crate) store: CatalogStore,
    pub(crate) breaker: Breaker,
    inner: Mutex<Inner>,
}

/// The part under the lock.
#[derive(Default)]
pub(crate) struct Inner {
    pub(crate) state: CatalogState,
    /// Ready to judge, by digest: live versions, candidates, and those that can be rolled back to at once.
    pub(crate) loaded: HashMap<Digest, Arc<Interpreter>>,
    /// The state as it is stored, as far as this process knows.
    pub(crate) stored: Option<Vec<u8>>,
    /// The members of the published set.
    pub(crate) active: Vec<ActiveMember>,
}

/// Identity of a member of the published set: two sets of equal members judge alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActiveMember {
    name: InterpreterName,
    source: Source,
    digest: Digest,
    settings: Option<Arc<str>>,
}

impl From<&SetMember> for ActiveMember {
    fn from(member: &SetMember) -> Self {
        let by = member.interpreter.by();
        Self {
            name: by.name.clone(),
            source: member.source,
            digest: by.digest.clone(),
            settings: member.settings.clone(),
        }
    }
}

/// The reason why a stored component cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ComponentError {
    /// The store does not answer, or this host cannot compile now: the component may still be good.
    #[error("{0}")]
    Unavailable(String),
    /// It cannot be used any more.
    #[error("{0}")]
    Corrupt(String),
}

impl Catalog {
    pub(crate) fn new(options: CatalogOptions) -> Self {
        Self {
            store: CatalogStore::new(Arc::clone(&options.store)),
            breaker: Breaker::default(),
            options,
            inner: Mutex::default(),
        }
    }

    /// Every name with its entry, sorted; copied, so nothing waits while it is read.
    pub fn entries(&self) -> Vec<(InterpreterName, Entry)> {
        let inner = self.lock();
        let entries = inner.state.entries.iter();
        entries
            .map(|(name, entry)| (name.clone(), entry.clone()))
            .collect()
    }

    /// The entry of one name.
    pub fn entry(&self, name: &InterpreterName) -> Option<Entry> {
        self.lock().state.entries.get(name).cloned()
    }

    /// The interpreter of that digest, where it is live, a candidate, or was live just before.
    pub fn loaded(&self, digest: &Digest) -> Option<Arc<Interpreter>> {
        self.lock().loaded.get(digest).cloned()
    }

    /// The interpreters it publishes to.
    pub fn interpreters(&self) -> &Arc<Interpreters> {
        &self.options.interpreters
    }

    /// The time, in Unix milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        (self.options.clock)()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        // Changes are made on copies, so a panic leaves a consistent state.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// The members of the set that a state asks for. Everything in it is loaded.
    pub(crate) fn members(&self, state: &CatalogState) -> Result<Vec<SetMember>, Refusal> {
        let mut members = Vec::new();
        for (name, entry) in state.entries.iter().filter(|(_, it)| !it.is_disabled) {
            let Some((source, version)) = entry.effective() else {
                continue;
            };
            let interpreter = self.loaded.get(&version.digest).ok_or_else(|| {
                let digest = &version.digest;
                Refusal::Failed(format!("component {digest} of `{name}` is not loaded"))
            })?;
            if let Some(settings) = &entry.settings {
                settings::check(interpreter, settings).map_err(|why| {
                    Refusal::at(LoadStep::Published, format!("settings of `{name}`: {why}"))
                })?;
            }
            let settings = entry.settings.as_ref();
            members.push(SetMember {
                source,
                interpreter: Arc::clone(interpreter),
                settings: settings
                    .and_then(|it| serde_json::to_string(it).ok())
                    .map(Into::into),
            });
        }
        Ok(members)
    }

    /// The refusal of a name that is not known.
    pub(crate) fn not_found(&self) -> Refusal {
        let known = self.state.entries.keys().map(ToString::to_string);
        Refusal::NotFound {
            known: known.collect(),
        }
    }
}

impl Entry {
    /// The effective version, if it is the one of that digest.
    pub(crate) fn live(&self, digest: &Digest) -> Result<(Source, Version), Refusal> {
        let live = self.effective().filter(|(_, it)| it.digest == *digest);
        let live = live.map(|(source, it)| (source, it.clone()));
        live.ok_or_else(|| Refusal::Conflict(format!("{digest} is not live any more")))
    }

    /// Its status: live, disabled, or without a live version.
    pub(crate) fn status(&self) -> OutcomeStatus {
        match self.effective() {
            _ if self.is_disabled => OutcomeStatus::Disabled,
            Some(_) => OutcomeStatus::Live,
            None => OutcomeStatus::None,
        }
    }

    /// The end of a sentence that says which version another one replaces.
    pub(crate) fn replaced(&self) -> String {
        match self.effective() {
            Some((source, it)) => format!(", replacing {} from {source}", it.version),
            None => String::new(),
        }
    }
}
