//! Shadow runs: the sets that are compared, and the record of the result.

use std::sync::Arc;

use kindsight_api::interpreters::{Refusal, ShadowBase, ShadowRun};
use kindsight_interpreter::{Interpreter, Published};
use kindsight_model::{Digest, InterpreterName, Source};

use crate::catalog::Catalog;
use crate::commit::Edit;
use crate::promote::no_candidate;
use crate::snapshot::{Loaded, Snapshot};
use crate::state::{CatalogState, Entry, Version};

/// Two sets for a shadow run.
#[derive(Debug)]
pub struct Shadow {
    /// The present set, or the same set with the built-in version of the name.
    pub before: Arc<Published>,
    /// The set with the candidate.
    pub after: Arc<Published>,
    /// The live version of the name in this set, if there is one.
    pub live: Option<Version>,
    /// The candidate, the component of the request, or the live version if it is compared with the
    /// built-in one.
    pub candidate: Version,
}

impl Catalog {
    /// The published set, and the same set with the candidate in its place, for a shadow run. Never
    /// waits, except for up to two seconds if the run has new settings.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] without a candidate; [`Refusal::Refused`] if the
    /// settings do not fit the candidate.
    pub fn shadow(&self, name: &InterpreterName, run: &ShadowRun) -> Result<Shadow, Refusal> {
        let base = self.snapshot();
        let entry = base.state.entries.get(name);
        let entry = entry.ok_or_else(|| base.not_found())?;
        let tried = shadowed(name, entry, run.base)?;
        self.sets(&base, name, run, tried, &base.loaded)
    }

    /// The same as [`shadow`](Self::shadow) for a component that is not in the catalog, and with
    /// the present settings of its name. The catalog does not change. Never waits, except for up to
    /// two seconds if its schema was not yet checked with these settings.
    ///
    /// # Errors
    /// [`Refusal::Refused`] if the present settings do not fit the component, or another interpreter
    /// has one of its Kinds.
    pub fn shadow_component(
        &self,
        interpreter: &Arc<Interpreter>,
        base: ShadowBase,
    ) -> Result<Shadow, Refusal> {
        let run = ShadowRun {
            base,
            settings: None,
        };
        let base = self.snapshot();
        let by = interpreter.by();
        let mut loaded = base.loaded.clone();
        loaded.insert(by.digest.clone(), Arc::clone(interpreter));
        let tried = (Source::Upload, self.version(&by.digest, &by.version));
        self.sets(&base, &by.name, &run, tried, &loaded)
    }

    /// The set of the base of a run, and the present set with the version that it tries.
    fn sets(
        &self,
        base: &Snapshot,
        name: &InterpreterName,
        run: &ShadowRun,
        (source, candidate): (Source, Version),
        loaded: &Loaded,
    ) -> Result<Shadow, Refusal> {
        let mut before = base.state.clone();
        if run.base == ShadowBase::BuiltIn {
            only_built_in(&mut before, name);
        }
        let live = before.entries.get(name).and_then(|entry| {
            let (_, version) = entry.effective()?;
            Some(version.clone())
        });
        let mut after = base.state.clone();
        let entry = after.edit_or_new(name);
        entry.is_disabled = false;
        if let Some(settings) = &run.settings {
            entry.settings = Some(settings.clone());
        }
        let versions = entry.sources.entry(source).or_default();
        versions.go_live(candidate.clone());
        let set_of = |state| self.prepare(base.members(state, loaded, &self.checks)?);
        Ok(Shadow {
            before: set_of(&before)?,
            after: set_of(&after)?,
            live,
            candidate,
        })
    }

    /// Records the number of faults in the shadow run of a candidate, so that a promotion knows it.
    /// A version that is no candidate any more is left alone.
    ///
    /// # Errors
    /// Among others [`Refusal::Unavailable`], if the store does not answer.
    pub fn note_shadow(
        &self,
        name: &InterpreterName,
        digest: &Digest,
        faults: u64,
    ) -> Result<(), Refusal> {
        self.transact(Loaded::new(), |_, _, state| {
            let is_noted = |entry: &Entry| {
                let candidate = entry.candidate().map(|(_, version)| version);
                candidate.is_none_or(|candidate| {
                    candidate.digest != *digest || candidate.shadow_faults == faults
                })
            };
            if state.entries.get(name).is_none_or(|entry| is_noted(entry)) {
                return Ok(Edit::Unchanged(()));
            }
            let sources = state.edit(name).map(|entry| entry.sources.values_mut());
            let versions = sources
                .into_iter()
                .flatten()
                .flat_map(|source| &mut source.versions);
            for version in versions.filter(|version| version.digest == *digest) {
                version.shadow_faults = faults;
            }
            Ok(Edit::Changed(()))
        })
    }
}

/// The version that a shadow run tries: the candidate or, compared with the built-in version, the
/// live version.
fn shadowed(
    name: &InterpreterName,
    entry: &Entry,
    base: ShadowBase,
) -> Result<(Source, Version), Refusal> {
    let live = || entry.effective().filter(|_| base == ShadowBase::BuiltIn);
    let tried = entry.candidate().or_else(live);
    let (source, version) = tried.ok_or_else(|| no_candidate(name))?;
    if let Some(why) = &version.unavailable {
        let why = format!("the candidate of `{name}` cannot be loaded now: {why}");
        return Err(Refusal::Conflict(why));
    }
    Ok((source, version.clone()))
}

/// Removes the versions of a name that are not built in.
fn only_built_in(state: &mut CatalogState, name: &InterpreterName) {
    if let Some(entry) = state.edit(name) {
        entry.sources.retain(|source, _| *source == Source::BuiltIn);
        entry.is_disabled = false;
        // They are settings of the versions that are removed.
        entry.settings = None;
    }
}
