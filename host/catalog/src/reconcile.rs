//! Reconciles with the store: at the start, and when another host that shares the store has changed
//! the catalog.

mod this_host;

use std::sync::Arc;

use kindsight_api::interpreters::Refusal;
use kindsight_model::{CatalogAction, Digest, InterpreterName, Source, VersionOutcome};
use kindsight_store::chain;

use crate::catalog::{Catalog, CatalogOptions, locked};
use crate::loading::ComponentError;
use crate::not_stored::not_stored;
use crate::snapshot::{AssembledSet, Loaded, Snapshot};
use crate::state::{CatalogState, FORMAT, SourceVersions, StoredError, Version, clip};

pub(crate) use self::this_host::RefusedSettings;
use self::this_host::{declare_configured, disable_misfits, event, replace_built_in};

/// The reason why the catalog could not be opened, or another host could not be followed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store does not answer.
    #[error("failed to read the catalog of interpreters")]
    Store(#[from] kindsight_store::Error),
    /// A stored value is damaged.
    #[error("the catalog of interpreters is damaged: `{key}`: {source}")]
    Damaged {
        /// The key of the value.
        key: String,
        /// The problem of the value.
        source: serde_json::Error,
    },
    /// A later release wrote the catalog.
    #[error(
        "the catalog of interpreters has format {0}, this release supports up to {FORMAT}: use the release that wrote it, or a later one"
    )]
    Format(u32),
    /// The assembled set cannot be published.
    #[error("failed to publish the interpreters: {0}")]
    Publish(#[from] Refusal),
    /// Other changes were made during each attempt.
    #[error("the interpreters changed repeatedly while another host was followed: try again")]
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
            // The command did not cause this error.
            error => Self::Failed(chain(&error)),
        }
    }
}

/// Maximum number of attempts to open or follow while others change the catalog.
const TRIES: usize = 10;

/// A stored state, adapted to this process.
struct Reconciled {
    /// The stored state as it was read, with its head.
    base: Snapshot,
    state: CatalogState,
    loaded: Loaded,
}

impl Catalog {
    /// Opens the catalog from its stored data, and publishes it. Loads the live versions. A version
    /// that cannot be loaded at present is kept, and the previous version, or the version of a
    /// lower source, judges instead. Only a component whose bytes are missing or damaged is
    /// refused, with the reason in its history.
    ///
    /// # Errors
    /// If the store does not answer, or contains data that this release cannot read.
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
                store.exchange(head, before, &found.state, &unneeded, &[])?
            };
            if let Some(head) = written {
                catalog.activate(found.state, found.loaded, head, assembled);
                return Ok(catalog);
            }
        }
        Err(OpenError::Busy)
    }

    /// Follows the changes of another host that shares the store. Returns whether there were any.
    /// If there were none, reads only one value. Called when the store's watch reports a change,
    /// and before every change. Writes nothing, so that hosts of different releases do not respond
    /// to each other's writes without end.
    ///
    /// New components are compiled without any other lock: readers and other changes continue.
    ///
    /// # Errors
    /// If the store does not answer, or contains data that this release cannot read. Live
    /// interpreters are kept.
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

    /// Tries again to load the versions that this host could not load. Returns whether a different
    /// version judges now. Called every few minutes. Does nothing if everything is loaded.
    ///
    /// # Errors
    /// The errors of [`Self::follow`].
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

    /// Makes the stored state the present one if it is not, or always with `is_forced`.
    pub(crate) fn follow_stored(&self, is_forced: bool) -> Result<bool, OpenError> {
        let _following = locked(&self.following);
        let mut loaded = Loaded::new();
        for _ in 0..TRIES {
            let before = self.snapshot();
            if !is_forced && before.head.is(self.store.head()?.as_deref()) {
                // Another thread followed it while this one waited for the lock, or it was a change
                // of this host.
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

    /// The stored state, adapted to this process: with the interpreters of its binary, and with all
    /// live versions loaded. May compile.
    fn reconcile(&self, known: &Loaded) -> Result<Reconciled, OpenError> {
        let (head, stored) = self.store.read()?;
        let mut state = stored.clone();
        state.forget_refused();
        let (built_in, now_ms) = (&self.options.built_in, self.now_ms());
        replace_built_in(&mut state, built_in, now_ms);
        self.signatures.mark(&mut state);
        let mut loaded = known.clone();
        let brought = built_in.iter();
        loaded.extend(
            brought.map(|interpreter| (interpreter.digest().clone(), Arc::clone(interpreter))),
        );
        self.load_all(&mut loaded, &mut state, now_ms)?;
        let refused = declare_configured(&loaded, &self.checks, &self.options.settings, &mut state);
        for refused in refused {
            self.note_refused_settings(refused);
        }
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

    /// Assembles the reconciled state. If a version replaces one that cannot be loaded, but claims
    /// the Kinds of another interpreter, it is excluded.
    fn assemble_reconciled(&self, found: &mut Reconciled) -> Result<AssembledSet, OpenError> {
        let set = self.assemble(&found.base, &found.state, &found.loaded);
        let Err(refusal) = set else {
            return Ok(set?);
        };
        let why: Arc<str> = format!("it cannot replace the live version: {refusal}").into();
        for (_, entry) in found.state.edit_all() {
            for versions in entry.sources.values_mut() {
                let substitute = versions.judging().cloned();
                let substitute =
                    substitute.filter(|version| version.outcome != VersionOutcome::Live);
                if let Some(version) = substitute {
                    versions.set_unavailable(&version.digest, Some(&why));
                }
            }
        }
        let now_ms = self.now_ms();
        self.load_all(&mut found.loaded, &mut found.state, now_ms)?;
        disable_misfits(&found.loaded, &self.checks, &mut found.state, now_ms);
        Ok(self.assemble(&found.base, &found.state, &found.loaded)?)
    }

    /// Loads all live versions and candidates. Lost components are refused, and components that
    /// cannot be loaded at present are marked. If the store does not answer, returns an error
    /// instead.
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
                let mut sources = entry.sources.values();
                sources.all(|source| {
                    let wanted = wanted.map(|outcome| source.with(outcome)).into_iter();
                    let mut wanted = wanted.chain([source.judging()]).flatten();
                    wanted.all(|version| loaded.contains_key(&version.digest))
                })
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
                tracing::error!(interpreter.name = name, why, "a component is excluded");
                entry.record(event(CatalogAction::Refuse, version, why, now_ms));
            }
        }
        Ok(())
    }

    /// Loads the live version. While it cannot be loaded, loads the previous version too.
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
            let previous = versions.previous().cloned();
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

    /// Loads one version, unless this host must not use it. Marks it if it cannot be loaded at
    /// present, and refuses it if it is lost.
    fn load_version(
        &self,
        loaded: &mut Loaded,
        source: Source,
        versions: &mut SourceVersions,
        version: &Version,
        failures: &mut Vec<(Version, String)>,
    ) -> Result<(), OpenError> {
        let digest: &Digest = &version.digest;
        if loaded.contains_key(digest) || version.unavailable.is_some() {
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
                tracing::warn!(%digest, version, why, "a component cannot be loaded at present; another version judges instead");
                versions.set_unavailable(digest, Some(&clip(&why).into()));
            }
        }
        Ok(())
    }
}
