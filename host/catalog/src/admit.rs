//! Admission of components: from bytes to a live version or a candidate.

use std::sync::Arc;

use kindsight_api::interpreters::{Outcome, OutcomeStatus, Refusal};
use kindsight_interpreter::{Interpreter, LoadError};
use kindsight_model::{CatalogAction, Digest, LoadStep, Source, VersionOutcome};
use kindsight_store::chain;

use crate::catalog::Catalog;
use crate::incoming::IncomingComponent;
use crate::state::{Entry, NAMES_MAX, SourceVersions, Version};

impl Catalog {
    /// Loads a component, up to live or to candidate. Compiles where it was not seen before: takes up to
    /// a minute, and blocks.
    ///
    /// The same bytes again change nothing. A version that was rolled back from is not taken from the
    /// directory again; sent by hand it is another try.
    ///
    /// # Errors
    /// [`Refusal::Refused`] with the step; what is live is untouched then.
    pub fn admit(&self, component: &IncomingComponent) -> Result<Outcome, Refusal> {
        let digest = Digest::of(&component.bytes);
        match self.try_admit(component, &digest) {
            Err(Refusal::Refused { step, why }) => {
                self.record_refusal(component, &digest, step, &why);
                Err(Refusal::Refused { step, why })
            }
            outcome => outcome,
        }
    }

    fn try_admit(
        &self,
        component: &IncomingComponent,
        digest: &Digest,
    ) -> Result<Outcome, Refusal> {
        if let Some(expected) = component.expected.as_ref().filter(|it| *it != digest) {
            let why = format!("the digest of the bytes is {digest}, and {expected} was expected");
            return Err(Refusal::at(LoadStep::Received, why));
        }
        self.follow()?;
        if let Some(report) = self.unchanged(component, digest)? {
            return Ok(report);
        }
        let interpreter = self.options.interpreters.load(&component.bytes);
        let interpreter = interpreter.map_err(|error| match error {
            // Not the component's fault: nothing is held against it.
            LoadError::Host(_) => Refusal::Failed(error.with_step()),
            error => Refusal::at(error.step(), error.to_string()),
        })?;
        let name = &interpreter.by().name;
        if component.source == Source::Upload && *name != component.name {
            let why = format!(
                "it calls itself `{name}` and was sent as `{}`: send it under its own name",
                component.name
            );
            return Err(Refusal::at(LoadStep::Tried, why));
        }
        self.accept(component, &interpreter)
    }

    /// The report on bytes that are in place already; none where they are not. Refuses bytes of the
    /// directory that were rolled back from.
    fn unchanged(
        &self,
        component: &IncomingComponent,
        digest: &Digest,
    ) -> Result<Option<Outcome>, Refusal> {
        let inner = self.lock();
        // An upload under another name is refused further on, by what it calls itself.
        let entries = inner
            .state
            .entries
            .iter()
            .filter(|(name, _)| component.source != Source::Upload || **name == component.name);
        for (name, entry) in entries {
            let source = entry.sources.get(&component.source);
            let Some((source, version)) = source.and_then(|it| Some((it, it.of(digest)?))) else {
                continue;
            };
            let is_in_place = match version.outcome {
                VersionOutcome::Live => component.file == source.file,
                VersionOutcome::Candidate => component.is_candidate,
                VersionOutcome::RolledBack if component.source == Source::Directory => {
                    let why = format!(
                        "`{name}` was rolled back from these bytes ({}); upload them to try again",
                        version.why
                    );
                    return Err(Refusal::at(LoadStep::Received, why));
                }
                _ => false,
            };
            if is_in_place {
                let (version, outcome) = (&version.version, version.outcome);
                return Ok(Some(Outcome {
                    name: name.clone(),
                    action: CatalogAction::Load,
                    digest: Some(digest.clone()),
                    version: Some(version.clone()),
                    status: OutcomeStatus::Unchanged,
                    detail: format!("{name} {version} is {outcome} already: nothing changed"),
                }));
            }
        }
        Ok(None)
    }

    /// Makes a component that was loaded live, or a candidate.
    fn accept(
        &self,
        component: &IncomingComponent,
        interpreter: &Arc<Interpreter>,
    ) -> Result<Outcome, Refusal> {
        // Once more: compiling may have taken long.
        self.follow()?;
        let by = interpreter.by();
        let mut inner = self.lock();
        let mut state = inner.state.clone();
        if !state.make_space_for(&by.name) {
            let why = format!("there are {NAMES_MAX} names already, which is the limit");
            return Err(Refusal::at(LoadStep::Published, why));
        }
        let entry = state.entries.entry(by.name.clone()).or_default();
        let live = live_detail(entry, component.source, interpreter);
        let source = entry.sources.entry(component.source).or_default();
        if let Some(file) = other_file(source, component) {
            let why = format!(
                "`{file}` has the same name `{}`: leave one of them out",
                by.name
            );
            return Err(Refusal::at(LoadStep::Published, why));
        }
        // Under the lock: another change would drop a component of which no state speaks yet.
        let stored = self.store.put_component(&by.digest, &component.bytes);
        stored.map_err(|error| {
            Refusal::Failed(format!("the component was not stored: {}", chain(&error)))
        })?;
        source.file.clone_from(&component.file);
        let version = self.version(&by.digest, &by.version);
        let detail = if component.is_candidate {
            source.wait(version);
            format!(
                "{} {} is accepted and waits to be promoted",
                by.name, by.version
            )
        } else {
            source.go_live(version);
            live
        };
        let report = Outcome {
            status: if component.is_candidate {
                OutcomeStatus::Candidate
            } else {
                entry.status()
            },
            name: by.name.clone(),
            action: CatalogAction::Load,
            digest: Some(by.digest.clone()),
            version: Some(by.version.to_string()),
            detail,
        };
        entry.record(self.event(&report, Some(component.source)));
        // Taken out again by the next change where this one does not come to be.
        inner
            .loaded
            .insert(by.digest.clone(), Arc::clone(interpreter));
        self.commit(&mut inner, state)?;
        drop(inner);
        (self.options.on_swap)();
        Ok(report)
    }

    /// A version that came now; its outcome is set where it is put.
    fn version(&self, digest: &Digest, version: &str) -> Version {
        Version {
            digest: digest.clone(),
            version: version.to_owned(),
            outcome: VersionOutcome::Candidate,
            why: String::new(),
            received_ms: self.now_ms(),
        }
    }

    /// Remembers a refusal where people look: under its name, as far as that is known.
    fn record_refusal(
        &self,
        component: &IncomingComponent,
        digest: &Digest,
        step: LoadStep,
        why: &str,
    ) {
        let IncomingComponent { source, name, .. } = component;
        tracing::warn!(%source, %name, %digest, "interpreter refused: {step}: {why}");
        // Where that fails, storing the refusal does, and says so.
        let _ = self.follow();
        let mut inner = self.lock();
        let mut state = inner.state.clone();
        if !state.make_space_for(name) {
            return;
        }
        let entry = state.entries.entry(name.clone()).or_default();
        let versions = entry.sources.entry(*source).or_default();
        let why = format!("{step}: {why}");
        // What is live, or was, stays what it is: only that it came again was refused.
        let known = versions.of(digest);
        if known.is_none_or(|it| it.outcome == VersionOutcome::Refused) {
            versions.refuse(self.version(digest, ""), &why);
        }
        let report = Outcome {
            name: name.clone(),
            action: CatalogAction::Refuse,
            digest: Some(digest.clone()),
            version: None,
            status: entry.status(),
            detail: why,
        };
        entry.record(self.event(&report, Some(*source)));
        if let Err(error) = self.commit(&mut inner, state) {
            tracing::error!(%error, "a refusal was not stored");
        }
    }
}

/// The detail of a report that a version is live: which one it replaces, and which one hides it.
fn live_detail(entry: &Entry, source: Source, interpreter: &Interpreter) -> String {
    let by = interpreter.by();
    let mut higher = entry.sources.iter().rev();
    let hiding = higher.find(|(other, versions)| {
        **other > source && versions.with(VersionOutcome::Live).is_some()
    });
    match hiding {
        Some((hiding, _)) => format!(
            "{} {} is accepted; the version from {hiding} overrides it",
            by.name, by.version
        ),
        None => format!("{} {} is live{}", by.name, by.version, entry.replaced()),
    }
}

/// The other file that fills the directory's source already.
fn other_file<'s>(source: &'s SourceVersions, component: &IncomingComponent) -> Option<&'s str> {
    let file = source.file.as_deref()?;
    let is_there = component.file.as_deref() != Some(file) && !component.gone.contains(file);
    (is_there && source.with(VersionOutcome::Live).is_some()).then_some(file)
}
