//! Reconciling with the store: at the start, and when another host that shares the store has changed
//! the catalog.

use std::sync::Arc;

use kindsight_api::interpreters::Refusal;
use kindsight_interpreter::Interpreter;
use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome};
use kindsight_store::chain;

use crate::catalog::{Catalog, CatalogOptions, locked};
use crate::loading::ComponentError;
use crate::not_stored::not_stored;
use crate::settings::SettingsChecks;
use crate::snapshot::{AssembledSet, Loaded, Snapshot};
use crate::state::{CatalogState, Event, FORMAT, SourceVersions, StoredError, Version, clip};

/// The reason why the catalog could not be opened, or another host not be followed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store does not answer.
    #[error("read the catalog of interpreters")]
    Store(#[from] kindsight_store::Error),
    /// A stored value is damaged.
    #[error("the catalog of interpreters is damaged: `{key}`: {source}")]
    Damaged {
        /// The key of the value.
        key: String,
        /// Its problem.
        source: serde_json::Error,
    },
    /// A later release wrote it.
    #[error(
        "the catalog of interpreters has format {0}, this release reads up to {FORMAT}: use the release that wrote it, or a later one"
    )]
    Format(u32),
    /// The set that was assembled cannot be published.
    #[error("publish the interpreters: {0}")]
    Publish(#[from] Refusal),
    /// Other changes came in between all the time.
    #[error("the interpreters change faster than another host can be followed: try again")]
    Busy,
}

impl From<StoredError> for OpenError {
    fn from(error: StoredError) -> Self {
        match error {
            StoredError::Corrupt { key, source } => Self::Damaged { key, source },
            StoredError::Format(format) => Self::Format(format),
            StoredError::Store(error) => Self::Store(error),
        }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Store(error) => not_stored("the change", &error),
            // Whatever it is, the command is not to blame for it.
            error => Self::Failed(chain(&error)),
        }
    }
}

/// Times that opening or following tries again because others change the catalog meanwhile.
const TRIES: usize = 10;

/// A stored state as this process can follow it.
struct Reconciled {
    /// The stored state as it was read, and its head.
    base: Snapshot,
    state: CatalogState,
    loaded: Loaded,
}

impl Catalog {
    /// Opens the catalog over what is stored, and publishes it. Loads what is live. What cannot be loaded
    /// now stays as it is, and the version before it, or that of a lower source, judges meanwhile; only
    /// a component whose bytes are gone or damaged is refused, and its history says why.
    ///
    /// # Errors
    /// A store that does not answer, or holds what this release cannot read.
    pub fn open(options: CatalogOptions) -> Result<Self, OpenError> {
        let catalog = Self::new(options);
        let mut loaded = Loaded::new();
        for _ in 0..TRIES {
            let mut found = catalog.reconcile(&loaded)?;
            let assembled = catalog.assemble_reconciled(&mut found)?;
            loaded.clone_from(&found.loaded);
            let (head, before) = (&found.base.head, &found.base.state);
            let unneeded = catalog.unneeded(&found.state);
            let is_unchanged = found.state.is_stored_as(before) && unneeded.is_empty();
            let written = if is_unchanged && !head.is_legacy() {
                Some(head.clone())
            } else {
                let store = &catalog.store;
                store.exchange(head, before, &found.state, &unneeded)?
            };
            if let Some(head) = written {
                catalog.activate(found.state, found.loaded, head, assembled);
                return Ok(catalog);
            }
        }
        Err(OpenError::Busy)
    }

    /// Follows what another host that shares the store has changed since; returns whether there was
    /// something. Reads one value where there is nothing. Called when the store's watch says so, and
    /// before every change; writes nothing, so that hosts of different releases do not answer each other
    /// for ever.
    ///
    /// What is new is compiled with nothing locked but this: readers and other changes go on.
    ///
    /// # Errors
    /// A store that does not answer, or holds what this release cannot read; what is live stays.
    pub fn follow(&self) -> Result<bool, OpenError> {
        if self.snapshot().head.is(self.store.head()?.as_deref()) {
            return Ok(false);
        }
        let is_changed = self.follow_stored(false)?;
        if is_changed {
            tracing::info!("followed a change of the interpreters by another host");
        }
        Ok(is_changed)
    }

    /// Tries to load once more what this host could not load; returns whether something else judges now.
    /// Called every few minutes; does nothing where everything is loaded.
    ///
    /// # Errors
    /// As [`Self::follow`].
    pub fn retry_unavailable(&self) -> Result<bool, OpenError> {
        let snapshot = self.snapshot();
        let mut entries = snapshot.state.entries.values();
        if entries.all(|entry| entry.unavailable().next().is_none()) {
            return Ok(false);
        }
        let before = snapshot.active.clone();
        self.follow_stored(true)?;
        Ok(self.snapshot().active != before)
    }

    /// Makes the stored state the one that holds, if it is not; with `anew` even if it is.
    fn follow_stored(&self, anew: bool) -> Result<bool, OpenError> {
        let _following = locked(&self.following);
        let mut loaded = Loaded::new();
        for _ in 0..TRIES {
            let before = self.snapshot();
            if !anew && before.head.is(self.store.head()?.as_deref()) {
                // It was followed while this waited for its turn, or was a change of this host.
                return Ok(false);
            }
            loaded.extend(before.loaded.clone());
            let mut found = self.reconcile(&loaded)?;
            loaded.clone_from(&found.loaded);
            found.base.active.clone_from(&before.active);
            let assembled = self.assemble_reconciled(&mut found)?;
            let writer = self.writer();
            if !Arc::ptr_eq(&before, &self.snapshot()) {
                continue;
            }
            self.activate(found.state, found.loaded, found.base.head, assembled);
            drop(writer);
            (self.options.on_swap)();
            return Ok(true);
        }
        Err(OpenError::Busy)
    }

    /// The stored state as this process can follow it: with the interpreters of its binary, and with
    /// everything loaded that is to judge. May compile.
    fn reconcile(&self, known: &Loaded) -> Result<Reconciled, OpenError> {
        let (head, stored) = self.store.read()?;
        let mut state = stored.clone();
        state.forget_refused();
        let (built_in, now_ms) = (&self.options.built_in, self.now_ms());
        replace_built_in(&mut state, built_in, now_ms);
        let mut loaded = known.clone();
        let brought = built_in.iter();
        loaded.extend(brought.map(|it| (it.digest().clone(), Arc::clone(it))));
        self.load_all(&mut loaded, &mut state, now_ms)?;
        disable_misfits(&loaded, &self.checks, &mut state, now_ms);
        let base = Snapshot {
            state: stored,
            head,
            ..Snapshot::default()
        };
        Ok(Reconciled {
            base,
            state,
            loaded,
        })
    }

    /// Assembles what was reconciled. A version that stands in for one that cannot be loaded, and claims
    /// what another interpreter does by now, is left out.
    fn assemble_reconciled(&self, found: &mut Reconciled) -> Result<AssembledSet, OpenError> {
        let set = self.assemble(&found.base, &found.state, &found.loaded);
        let Err(refusal) = set else {
            return Ok(set?);
        };
        let why: Arc<str> = format!("it cannot stand in: {refusal}").into();
        for (_, entry) in found.state.edit_all() {
            for versions in entry.sources.values_mut() {
                let standing_in = versions.judging().cloned();
                if let Some(it) = standing_in.filter(|it| it.outcome != VersionOutcome::Live) {
                    versions.set_unavailable(&it.digest, Some(&why));
                }
            }
        }
        let now_ms = self.now_ms();
        self.load_all(&mut found.loaded, &mut found.state, now_ms)?;
        disable_misfits(&found.loaded, &self.checks, &mut found.state, now_ms);
        Ok(self.assemble(&found.base, &found.state, &found.loaded)?)
    }

    /// Loads everything that is to judge or waits. What is lost is refused, what cannot be loaded now is
    /// marked. A store that does not answer is an error instead.
    fn load_all(
        &self,
        loaded: &mut Loaded,
        state: &mut CatalogState,
        now_ms: i64,
    ) -> Result<(), OpenError> {
        let names: Vec<InterpreterName> = state.entries.keys().cloned().collect();
        for name in names {
            let is_loaded = |entry: &Arc<crate::state::Entry>| {
                let wanted = [VersionOutcome::Live, VersionOutcome::Candidate];
                let mut versions = entry.sources.values().flat_map(|it| &it.versions);
                versions.all(|it| !wanted.contains(&it.outcome) || loaded.contains_key(&it.digest))
            };
            if state.entries.get(&name).is_none_or(is_loaded) {
                continue;
            }
            let Some(entry) = state.edit(&name) else {
                continue;
            };
            let mut failures = Vec::new();
            for (source, versions) in &mut entry.sources {
                self.load_live(loaded, *source, versions, &mut failures)?;
                let candidate = versions.with(VersionOutcome::Candidate).cloned();
                if let Some(candidate) = candidate {
                    self.load_version(loaded, *source, versions, &candidate, &mut failures)?;
                }
            }
            for (version, why) in failures {
                let name = name.as_str();
                tracing::error!(interpreter.name = name, why, "a component is left out");
                entry.record(event(CatalogAction::Refuse, version, why, now_ms));
            }
        }
        Ok(())
    }

    /// Loads the live version; as long as that cannot be loaded, the one before it too.
    fn load_live(
        &self,
        loaded: &mut Loaded,
        source: Source,
        versions: &mut SourceVersions,
        failures: &mut Vec<(Version, String)>,
    ) -> Result<(), OpenError> {
        if let Some(live) = versions.with(VersionOutcome::Live).cloned() {
            self.load_version(loaded, source, versions, &live, failures)?;
            let is_lost = versions.with(VersionOutcome::Live).is_none();
            let previous = versions.with(VersionOutcome::Previous).cloned();
            if let Some(previous) = previous.filter(|_| is_lost) {
                versions.go_live(previous);
                return self.load_live(loaded, source, versions, failures);
            }
        }
        while let Some(stand_in) = versions.judging().cloned()
            && !loaded.contains_key(&stand_in.digest)
        {
            self.load_version(loaded, source, versions, &stand_in, failures)?;
        }
        Ok(())
    }

    /// Loads one version. It is marked where it cannot be loaded now, and refused where it is lost.
    fn load_version(
        &self,
        loaded: &mut Loaded,
        source: Source,
        versions: &mut SourceVersions,
        version: &Version,
        failures: &mut Vec<(Version, String)>,
    ) -> Result<(), OpenError> {
        let digest: &Digest = &version.digest;
        if loaded.contains_key(digest) {
            return Ok(());
        }
        match self.load_stored(source, digest) {
            Ok(interpreter) => {
                loaded.insert(digest.clone(), interpreter);
            }
            Err(ComponentError::Store(error)) => return Err(OpenError::Store(error)),
            Err(ComponentError::Lost(why)) => {
                versions.refuse(version.clone(), &why);
                failures.push((version.clone(), why));
            }
            Err(ComponentError::Unusable(why)) => {
                let version = &version.version;
                tracing::warn!(%digest, version, why, "a component cannot be loaded now; another judges meanwhile");
                versions.set_unavailable(digest, Some(&clip(&why).into()));
            }
        }
        Ok(())
    }
}

/// Disables what has settings that do not fit any more, because another version takes its place than
/// they were set for: one name must not keep the host from starting.
fn disable_misfits(
    loaded: &Loaded,
    checks: &SettingsChecks,
    state: &mut CatalogState,
    now_ms: i64,
) {
    let mut misfits = Vec::new();
    for (name, entry) in state.entries.iter().filter(|(_, it)| !it.is_disabled) {
        let version = entry.effective().map(|(_, it)| it.clone());
        let (Some(version), Some(settings)) = (version, &entry.settings) else {
            continue;
        };
        let interpreter = loaded.get(&version.digest);
        if let Some(Err(why)) = interpreter.map(|it| checks.check(it, settings)) {
            misfits.push((name.clone(), version, why));
        }
    }
    for (name, version, why) in misfits {
        tracing::error!(
            interpreter.name = name.as_str(),
            why,
            "disabled: its settings do not fit any more"
        );
        let outcome = format!("disabled, since its settings do not fit any more: {why}");
        let event = event(CatalogAction::Disable, version, clip(&outcome), now_ms);
        if let Some(entry) = state.edit(&name) {
            entry.is_disabled = true;
            entry.record(event);
        }
    }
}

/// An event that the host caused by itself.
fn event(action: CatalogAction, version: Version, outcome: String, now_ms: i64) -> Event {
    Event {
        time_ms: now_ms,
        action,
        by: None,
        digest: Some(version.digest),
        version: version.version,
        outcome,
    }
}

/// Has the built-in source hold what this binary brings and nothing else, but for what was rolled back
/// from.
fn replace_built_in(state: &mut CatalogState, built_in: &[Arc<Interpreter>], now_ms: i64) {
    let is_brought = |it: &Version| built_in.iter().any(|one| *one.digest() == it.digest);
    let others: Vec<InterpreterName> = state
        .entries
        .iter()
        .filter(|(_, entry)| {
            let source = entry.sources.get(&Source::BuiltIn);
            source.is_some_and(|it| !it.versions.iter().all(is_brought))
                || entry.sources.values().any(|it| it.versions.is_empty())
        })
        .map(|(name, _)| name.clone())
        .collect();
    for name in &others {
        let entry = state.edit_or_new(name);
        if let Some(source) = entry.sources.get_mut(&Source::BuiltIn) {
            source.versions.retain(is_brought);
        }
        entry.sources.retain(|_, it| !it.versions.is_empty());
    }
    for interpreter in built_in {
        let by = interpreter.by();
        let entry = state.entries.get(&by.name);
        let source = entry.and_then(|it| it.sources.get(&Source::BuiltIn));
        if source.is_some_and(|it| it.of(&by.digest).is_some()) {
            continue;
        }
        let entry = state.edit_or_new(&by.name);
        let source = entry.sources.entry(Source::BuiltIn).or_default();
        source.go_live(Version {
            digest: by.digest.clone(),
            version: by.version.to_string(),
            outcome: VersionOutcome::Live,
            why: String::new(),
            received_ms: now_ms,
            unavailable: None,
        });
    }
    state
        .entries
        .retain(|_, entry| !entry.sources.is_empty() || entry.settings.is_some());
}
