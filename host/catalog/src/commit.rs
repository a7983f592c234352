//! Commits: from a changed entry to the published set.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_api::interpreters::{Outcome, OutcomeStatus, Refusal};
use kindsight_interpreter::{Interpreter, LoadError, Published, SetMember};
use kindsight_model::{CatalogAction, Digest, InterpreterName, LoadStep, Source, VersionOutcome};
use kindsight_store::chain;

use crate::catalog::{ActiveMember, Catalog, ComponentError, Inner};
use crate::state::{self, CatalogState, Entry, Event, Version, clip};

/// Components that one change drops: etcd takes 128 operations at a time.
const DROPPED_MAX: usize = 64;

/// A set that was assembled and is not published yet.
pub(crate) struct AssembledSet {
    active: Vec<ActiveMember>,
    /// None where the same members are published already.
    set: Option<Arc<Published>>,
}

impl Catalog {
    /// Makes one change of one entry: on a copy, tried as a set, stored, published.
    pub(crate) fn change(
        &self,
        name: &InterpreterName,
        action: CatalogAction,
        by: Option<Source>,
        change: impl FnOnce(&mut Entry) -> Result<(Option<Version>, String), Refusal>,
    ) -> Result<Outcome, Refusal> {
        self.follow()?;
        let mut inner = self.lock();
        let mut state = inner.state.clone();
        let entry = state.entries.get_mut(name);
        let entry = entry.ok_or_else(|| inner.not_found())?;
        let before = entry.clone();
        let (version, detail) = change(entry)?;
        let mut report = Outcome {
            name: name.clone(),
            action,
            digest: version.as_ref().map(|it| it.digest.clone()),
            version: version.as_ref().map(|it| it.version.clone()),
            status: entry.status(),
            detail,
        };
        if *entry == before {
            report.status = OutcomeStatus::Unchanged;
            return Ok(report);
        }
        entry.record(self.event(&report, by));
        self.commit(&mut inner, state)?;
        drop(inner);
        (self.options.on_swap)();
        Ok(report)
    }

    /// Logs a report, and makes the event of the history from it.
    pub(crate) fn event(&self, report: &Outcome, by: Option<Source>) -> Event {
        tracing::info!(
            interpreter.name = report.name.as_str(),
            action = report.action.as_str(),
            digest = report.digest.as_ref().map_or("", Digest::as_str),
            version = report.version.as_deref().unwrap_or_default(),
            "{}",
            report.detail
        );
        Event {
            time_ms: self.now_ms(),
            action: report.action,
            by,
            digest: report.digest.clone(),
            version: report.version.clone().unwrap_or_default(),
            outcome: clip(&report.detail),
        }
    }

    /// Makes a changed state the one that holds: as a set, in the store, in memory, in this order.
    ///
    /// # Errors
    /// Among others [`Refusal::Conflict`], where another host that shares the store was faster.
    pub(crate) fn commit(&self, inner: &mut Inner, mut state: CatalogState) -> Result<(), Refusal> {
        let entries = state.entries.values_mut();
        for source in entries.flat_map(|entry| entry.sources.values_mut()) {
            source.prune(self.options.limits.versions_kept_max);
        }
        self.load_live(inner, &state)?;
        let assembled = self.assemble(inner, &state)?;
        let bytes = state::write(&state).map_err(|error| Refusal::Failed(error.to_string()))?;
        let dropped = self.unneeded(&state);
        let is_stored = self
            .store
            .exchange(inner.stored.as_deref(), &bytes, &dropped)
            .map_err(|error| {
                Refusal::Failed(format!("the change was not stored: {}", chain(&error)))
            })?;
        if !is_stored {
            let what = "another host changed the interpreters at the same moment: try again";
            return Err(Refusal::Conflict(what.to_owned()));
        }
        inner.stored = Some(bytes);
        self.activate(inner, state, assembled);
        Ok(())
    }

    /// Assembles the set that a state asks for, without publishing it. Everything in it is loaded.
    pub(crate) fn assemble(
        &self,
        inner: &Inner,
        state: &CatalogState,
    ) -> Result<AssembledSet, Refusal> {
        let members = inner.members(state)?;
        let active: Vec<ActiveMember> = members.iter().map(ActiveMember::from).collect();
        let set = if active == inner.active {
            None
        } else {
            Some(self.prepare(members)?)
        };
        Ok(AssembledSet { active, set })
    }

    /// Publishes an assembled set, and makes its state the one that holds in this process. In memory
    /// stays what judges, waits, or was live just before.
    pub(crate) fn activate(&self, inner: &mut Inner, state: CatalogState, assembled: AssembledSet) {
        if let Some(set) = assembled.set {
            self.options.interpreters.install(set);
        }
        let outcomes = [
            VersionOutcome::Live,
            VersionOutcome::Candidate,
            VersionOutcome::Previous,
        ];
        let sources = state.sources();
        let near: BTreeSet<&Digest> = sources
            .flat_map(|(_, source)| outcomes.map(|outcome| source.with(outcome)))
            .flatten()
            .map(|version| &version.digest)
            .collect();
        inner.loaded.retain(|digest, _| near.contains(digest));
        inner.state = state;
        inner.active = assembled.active;
    }

    /// Loads the live versions that are not in memory any more, since they were live long ago.
    fn load_live(&self, inner: &mut Inner, state: &CatalogState) -> Result<(), Refusal> {
        for entry in state.entries.values() {
            let Some((source, version)) = entry.effective() else {
                continue;
            };
            if !inner.loaded.contains_key(&version.digest) {
                let interpreter = self
                    .load_stored(source, &version.digest)
                    .map_err(|error| Refusal::Failed(error.to_string()))?;
                inner.loaded.insert(version.digest.clone(), interpreter);
            }
        }
        Ok(())
    }

    /// Loads a component from the store, after its digest was checked.
    pub(crate) fn load_stored(
        &self,
        source: Source,
        digest: &Digest,
    ) -> Result<Arc<Interpreter>, ComponentError> {
        let corrupt = |what: String| ComponentError::Corrupt(format!("component {digest}: {what}"));
        let bytes = self.store.component(digest);
        let bytes = bytes.map_err(|error| ComponentError::Unavailable(chain(&error)))?;
        let bytes = bytes
            .ok_or_else(|| corrupt(format!("it is not stored any more; it came by {source}")))?;
        if Digest::of(&bytes) != *digest {
            return Err(corrupt("the stored bytes have another digest".to_owned()));
        }
        let loaded = self.options.interpreters.load(&bytes);
        loaded.map_err(|error| match error {
            // Not the component's fault: it stays, and is tried again at the next start.
            LoadError::Host(_) => ComponentError::Unavailable(error.with_step()),
            error => corrupt(error.with_step()),
        })
    }

    /// Puts members together as a set that is not published.
    pub(crate) fn prepare(&self, members: Vec<SetMember>) -> Result<Arc<Published>, Refusal> {
        let set = self.options.interpreters.prepare(members);
        set.map_err(|error| Refusal::at(LoadStep::Published, error.to_string()))
    }

    /// Stored components that a state does not name, or only as refused. Not all at once: a store
    /// limits what one change may do.
    fn unneeded(&self, state: &CatalogState) -> Vec<Digest> {
        let known: BTreeSet<&Digest> = state
            .versions()
            .filter(|version| version.outcome != VersionOutcome::Refused)
            .map(|version| &version.digest)
            .collect();
        // Where the store does not say, the next change asks again.
        let stored = self.store.components().unwrap_or_default();
        let dropped = stored.into_iter().filter(|digest| !known.contains(digest));
        dropped.take(DROPPED_MAX).collect()
    }
}
