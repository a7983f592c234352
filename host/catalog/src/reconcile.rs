//! Reconciling with the store: at the start, and when another host that shares the store has changed
//! the catalog.

use std::sync::Arc;

use kindsight_api::interpreters::Refusal;
use kindsight_interpreter::Interpreter;
use kindsight_model::{CatalogAction, Source, VersionOutcome};
use kindsight_store::chain;

use crate::catalog::{Catalog, CatalogOptions, ComponentError, Inner};
use crate::settings;
use crate::state::{self, CatalogState, Event, FORMAT, SourceVersions, StoredError, Version, clip};

/// The reason why the catalog could not be opened, or another host not be followed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store does not answer.
    #[error("read the catalog of interpreters")]
    Store(#[from] kindsight_store::Error),
    /// A stored component cannot be read now.
    #[error("read the interpreters of the catalog: {0}")]
    Component(String),
    /// The stored state is damaged.
    #[error("the catalog of interpreters is damaged: {0}")]
    Damaged(serde_json::Error),
    /// A later release wrote it.
    #[error(
        "the catalog of interpreters has format {0}, this release reads up to {FORMAT}: use the release that wrote it, or a later one"
    )]
    Format(u32),
    /// The set that was assembled cannot be published.
    #[error("publish the interpreters: {0}")]
    Publish(#[from] Refusal),
}

impl From<StoredError> for OpenError {
    fn from(error: StoredError) -> Self {
        match error {
            StoredError::Corrupt(error) => Self::Damaged(error),
            StoredError::Format(format) => Self::Format(format),
        }
    }
}

impl From<OpenError> for Refusal {
    fn from(error: OpenError) -> Self {
        // Whatever it is, the command is not to blame for it.
        Self::Failed(chain(&error))
    }
}

/// Times that opening tries again because other hosts that share the store change it meanwhile.
const OPEN_TRIES: usize = 10;

impl Catalog {
    /// Opens the catalog over what is stored, and publishes it. Loads what is live; a component that
    /// cannot be loaded any more is left out, and its history says why.
    ///
    /// # Errors
    /// A store that does not answer, or holds what this release cannot read.
    pub fn open(options: CatalogOptions) -> Result<Self, OpenError> {
        let catalog = Self::new(options);
        let mut tries = OPEN_TRIES;
        loop {
            let mut inner = catalog.lock();
            inner.stored = catalog.store.state()?;
            let state = catalog.reconcile(&mut inner)?;
            tries -= 1;
            match catalog.commit(&mut inner, state) {
                Err(Refusal::Conflict(_)) if tries > 0 => {}
                outcome => {
                    drop(inner);
                    return outcome.map(|()| catalog).map_err(OpenError::Publish);
                }
            }
        }
    }

    /// Follows what another host that shares the store has changed since; returns whether there was
    /// something. Reads one value where there is nothing. Called when the store's watch says so, and
    /// before every change; writes nothing, so that hosts of different releases do not answer each other
    /// for ever.
    ///
    /// What is new is compiled with the lock held, for some tenths of a second: other commands wait,
    /// queries do not.
    ///
    /// # Errors
    /// A store that does not answer, or holds what this release cannot read; what is live stays.
    pub fn follow(&self) -> Result<bool, OpenError> {
        let mut inner = self.lock();
        let stored = self.store.state()?;
        if stored == inner.stored {
            return Ok(false);
        }
        let before = std::mem::replace(&mut inner.stored, stored);
        if let Err(error) = self.follow_stored(&mut inner) {
            inner.stored = before;
            return Err(error);
        }
        drop(inner);
        tracing::info!("followed a change of the interpreters by another host");
        (self.options.on_swap)();
        Ok(true)
    }

    fn follow_stored(&self, inner: &mut Inner) -> Result<(), OpenError> {
        let state = self.reconcile(inner)?;
        let assembled = self.assemble(inner, &state)?;
        self.activate(inner, state, assembled);
        Ok(())
    }

    /// The stored state as this process can follow it: with the interpreters of its binary, and with
    /// everything loaded that is to judge.
    fn reconcile(&self, inner: &mut Inner) -> Result<CatalogState, OpenError> {
        let mut state = match &inner.stored {
            None => CatalogState::default(),
            Some(bytes) => state::read(bytes)?,
        };
        let (built_in, now_ms) = (&self.options.built_in, self.now_ms());
        replace_built_in(&mut state, built_in, now_ms);
        let loaded = built_in.iter();
        let loaded = loaded.map(|it| (it.digest().clone(), Arc::clone(it)));
        inner.loaded.extend(loaded);
        self.load_all(inner, &mut state, now_ms)?;
        disable_misfits(inner, &mut state, now_ms);
        Ok(state)
    }

    /// Loads everything that is to judge or waits; what cannot be loaded is refused. A store that does
    /// not answer is an error instead: what is refused is dropped from it.
    fn load_all(
        &self,
        inner: &mut Inner,
        state: &mut CatalogState,
        now_ms: i64,
    ) -> Result<(), OpenError> {
        for (name, entry) in &mut state.entries {
            let mut failures = Vec::new();
            for (source, versions) in &mut entry.sources {
                for outcome in [VersionOutcome::Live, VersionOutcome::Candidate] {
                    self.load_source(inner, *source, versions, outcome, &mut failures)?;
                }
            }
            for (version, why) in failures {
                tracing::error!(
                    interpreter.name = name.as_str(),
                    why,
                    "a component is left out"
                );
                entry.record(event(CatalogAction::Refuse, version, why, now_ms));
            }
        }
        Ok(())
    }

    /// Loads the version of that outcome; as long as it cannot be loaded, the one before it.
    fn load_source(
        &self,
        inner: &mut Inner,
        source: Source,
        versions: &mut SourceVersions,
        outcome: VersionOutcome,
        failures: &mut Vec<(Version, String)>,
    ) -> Result<(), OpenError> {
        while let Some(version) = versions.with(outcome).cloned() {
            if inner.loaded.contains_key(&version.digest) {
                return Ok(());
            }
            match self.load_stored(source, &version.digest) {
                Ok(interpreter) => {
                    inner.loaded.insert(version.digest, interpreter);
                    return Ok(());
                }
                Err(ComponentError::Unavailable(why)) => return Err(OpenError::Component(why)),
                Err(ComponentError::Corrupt(why)) => {
                    versions.refuse(version.clone(), &why);
                    failures.push((version, why));
                }
            }
            if outcome == VersionOutcome::Live
                && let Some(previous) = versions.with(VersionOutcome::Previous).cloned()
            {
                versions.go_live(previous);
            }
        }
        Ok(())
    }
}

/// Disables what has settings that do not fit any more, because another version takes its place than
/// they were set for: one name must not keep the host from starting.
fn disable_misfits(inner: &Inner, state: &mut CatalogState, now_ms: i64) {
    for (name, entry) in state.entries.iter_mut().filter(|(_, it)| !it.is_disabled) {
        let version = entry.effective().map(|(_, it)| it.clone());
        let (Some(version), Some(settings)) = (version, &entry.settings) else {
            continue;
        };
        let interpreter = inner.loaded.get(&version.digest);
        let Some(Err(why)) = interpreter.map(|it| settings::check(it, settings)) else {
            continue;
        };
        tracing::error!(
            interpreter.name = name.as_str(),
            why,
            "disabled: its settings do not fit any more"
        );
        entry.is_disabled = true;
        let outcome = format!("disabled, since its settings do not fit any more: {why}");
        let event = event(CatalogAction::Disable, version, clip(&outcome), now_ms);
        entry.record(event);
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
    for entry in state.entries.values_mut() {
        if let Some(source) = entry.sources.get_mut(&Source::BuiltIn) {
            let is_brought = |it: &Version| built_in.iter().any(|one| *one.digest() == it.digest);
            source.versions.retain(is_brought);
        }
        entry.sources.retain(|_, it| !it.versions.is_empty());
    }
    for interpreter in built_in {
        let by = interpreter.by();
        let entry = state.entries.entry(by.name.clone()).or_default();
        let source = entry.sources.entry(Source::BuiltIn).or_default();
        if source.of(&by.digest).is_none() {
            source.go_live(Version {
                digest: by.digest.clone(),
                version: by.version.to_string(),
                outcome: VersionOutcome::Live,
                why: String::new(),
                received_ms: now_ms,
            });
        }
    }
    state
        .entries
        .retain(|_, entry| !entry.sources.is_empty() || entry.settings.is_some());
}
