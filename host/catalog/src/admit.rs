//! Admits components: from their bytes to a live version or a candidate.

use std::sync::Arc;

use kindsight_api::interpreters::{LiveCondition, Outcome, OutcomeStatus, Refusal};
use kindsight_interpreter::Interpreter;
use kindsight_model::{CatalogAction, Digest, InterpreterName, LoadStep, Source, VersionOutcome};
use kindsight_store::Error as StoreError;

use crate::catalog::Catalog;
use crate::commit::{Edit, log};
use crate::conditional;
use crate::incoming::IncomingComponent;
use crate::not_stored::not_stored;
use crate::snapshot::Loaded;
use crate::state::{CatalogState, Entry, NAMES_MAX, SourceVersions, Version};
use crate::takeover::lost_kinds;
use crate::version_order;

impl Catalog {
    /// Loads a component until it is live or a candidate. Blocks, and takes up to two minutes if the
    /// component must be compiled.
    ///
    /// The same bytes again change nothing. A version that was rolled back is not admitted again from
    /// a directory or a registry, but an upload is a new attempt.
    ///
    /// # Errors
    /// [`Refusal::Refused`] with the step. Live versions are not affected.
    pub fn admit(&self, component: &IncomingComponent) -> Result<Outcome, Refusal> {
        self.admit_when(&LiveCondition::Any, component)
    }

    pub(crate) fn admit_when(
        &self,
        condition: &LiveCondition,
        component: &IncomingComponent,
    ) -> Result<Outcome, Refusal> {
        let digest = Digest::of(&component.bytes);
        match self.try_admit(condition, component, &digest) {
            Err(Refusal::Refused { step, why }) => {
                self.record_refusal(component, &digest, step, &why);
                Err(Refusal::Refused { step, why })
            }
            outcome => outcome,
        }
    }

    fn try_admit(
        &self,
        condition: &LiveCondition,
        component: &IncomingComponent,
        digest: &Digest,
    ) -> Result<Outcome, Refusal> {
        if let Some(expected) = component
            .expected
            .as_ref()
            .filter(|expected| *expected != digest)
        {
            let why = format!("the digest of the bytes is {digest}, but {expected} was expected");
            return Err(Refusal::at(LoadStep::Received, why));
        }
        self.follow()?;
        // Checked before the slow part. The condition is checked again when the change is made.
        if let Some(name) = &component.name {
            conditional::check(condition, self.entry(name).as_deref())?;
        }
        if let Some(report) = self.unchanged(component, digest)? {
            return Ok(report);
        }
        let interpreter = self.load_bytes(&component.bytes)?;
        let name = &interpreter.by().name;
        if let Some(expected) = component.name.as_ref().filter(|expected| *expected != name) {
            let why = format!(
                "its name is `{name}`, but it was sent as `{expected}`: send it under its own name"
            );
            return Err(Refusal::at(LoadStep::Tried, why));
        }
        // A component of the catalogue ranks below a built-in one, and so replaces none.
        if !component.replaces_built_in && component.source > Source::BuiltIn {
            self.refuse_lost_kinds(component.source, &interpreter)?;
        }
        let note = self.try_incoming(component, &interpreter)?;
        self.accept(condition, component, &interpreter, &note)
    }

    /// Refuses a component with the name of a built-in interpreter if it does not judge all Kinds
    /// of that interpreter.
    fn refuse_lost_kinds(&self, source: Source, interpreter: &Interpreter) -> Result<(), Refusal> {
        let name = &interpreter.by().name;
        let mut built_in = self.options.built_in.iter();
        let built_in = built_in.find(|candidate| candidate.by().name == *name);
        let Some(lost) = built_in.and_then(|built_in| lost_kinds(built_in, interpreter)) else {
            return Ok(());
        };
        let how = match source {
            Source::Directory | Source::Registry => "start the server with `--replace-built-in`",
            _ => "send it with `--replace-built-in` (`?replace=true`)",
        };
        let why = format!(
            "`{name}` is the name of a built-in interpreter, but this component does not judge its {lost}, so a more general interpreter would judge them: give it another name, or {how} to replace the built-in interpreter"
        );
        Err(Refusal::at(LoadStep::Published, why))
    }

    /// The report on bytes that are already in place, or `None` if they are not. Refuses bytes that
    /// were rolled back, unless they were uploaded.
    fn unchanged(
        &self,
        component: &IncomingComponent,
        digest: &Digest,
    ) -> Result<Option<Outcome>, Refusal> {
        let snapshot = self.snapshot();
        // An upload under a different name is refused later, because of the name in its
        // description.
        let entries = snapshot.state.entries.iter().filter(|(name, _)| {
            component
                .name
                .as_ref()
                .is_none_or(|expected| expected == *name)
        });
        for (name, entry) in entries {
            let source = entry.sources.get(&component.source);
            let Some((source, version)) =
                source.and_then(|source| Some((source, source.of(digest)?)))
            else {
                continue;
            };
            // If the version could not be loaded, it is loaded again.
            let is_in_place = version.unavailable.is_none();
            let is_in_place = match version.outcome {
                VersionOutcome::Live => is_in_place && component.file == source.file,
                VersionOutcome::Candidate => is_in_place && component.is_candidate,
                VersionOutcome::RolledBack if component.source != Source::Upload => {
                    let why = format!(
                        "these bytes of `{name}` were rolled back ({}); upload them to try again",
                        version.why
                    );
                    return Err(Refusal::at(LoadStep::Received, why));
                }
                _ => false,
            };
            if is_in_place && self.has_declared(name, entry, component) {
                let (version, outcome) = (&version.version, version.outcome);
                let disabled = match outcome {
                    VersionOutcome::Live => entry.disabled(),
                    _ => "",
                };
                return Ok(Some(Outcome {
                    name: name.clone(),
                    action: CatalogAction::Load,
                    digest: Some(digest.clone()),
                    version: Some(version.clone()),
                    status: OutcomeStatus::Unchanged,
                    detail: format!(
                        "{name} {version} is {outcome} already: nothing changed{disabled}"
                    ),
                    takes: Vec::new(),
                }));
            }
        }
        Ok(None)
    }

    /// Makes a loaded component live, or a candidate. The report ends with `note`.
    fn accept(
        &self,
        condition: &LiveCondition,
        component: &IncomingComponent,
        interpreter: &Arc<Interpreter>,
        note: &str,
    ) -> Result<Outcome, Refusal> {
        let by = interpreter.by();
        // Stored before any state refers to it, and before the writers' lock is taken, because it
        // may be large.
        let incoming = self.expect_component(&by.digest);
        let stored = self.store.put_component(&by.digest, &component.bytes);
        // No state refers to it, so it makes no difference whether it was written.
        let stored = stored.map_err(|error| match error {
            StoreError::OutcomeUnknown { reason, .. } => {
                not_stored("the component", &StoreError::Unavailable { reason })
            }
            error => not_stored("the component", &error),
        });
        let accepted = stored.and_then(|()| {
            let loaded = Loaded::from([(by.digest.clone(), Arc::clone(interpreter))]);
            self.transact(loaded, |base, _, state| {
                let entry = base.state.entries.get(&by.name);
                conditional::check(condition, entry.map(Arc::as_ref))?;
                let vacated = self.vacate(state, component, &by.name);
                let mut report = self.accept_into(state, component, interpreter)?;
                report.detail.extend(vacated);
                report.detail.push_str(note);
                let entry = state.edit_or_new(&by.name);
                if component.is_candidate || entry.is_judging(component.source, &by.digest) {
                    report.takes = self.takeovers(component.source, interpreter);
                }
                entry.record(self.event(&report, Some(component.source)));
                Ok(Edit::Changed(report))
            })
        });
        if accepted.is_err() {
            incoming.discard();
        }
        accepted.inspect(log)
    }

    /// Removes the versions that the component's file filled under other names, because the file
    /// contains another component now. Else they would hold the Kinds that it claims. Returns the
    /// end of a sentence for each of these names.
    pub(crate) fn vacate(
        &self,
        state: &mut CatalogState,
        component: &IncomingComponent,
        name: &InterpreterName,
    ) -> Vec<String> {
        let Some(file) = &component.file else {
            return Vec::new();
        };
        let filled = state.entries.iter();
        let others = filled.filter(|(other, entry)| {
            *other != name && entry.file(component.source) == Some(file.as_str())
        });
        let others: Vec<InterpreterName> = others.map(|(other, _)| other.clone()).collect();
        let mut removed = Vec::new();
        for other in others {
            let Some(entry) = state.edit(&other) else {
                continue;
            };
            let Some(versions) = entry.sources.get_mut(&component.source) else {
                continue;
            };
            let version = versions.with(VersionOutcome::Live).cloned();
            versions.empty();
            entry.forget_file_settings();
            let report = Outcome {
                name: other.clone(),
                action: CatalogAction::Remove,
                digest: version.as_ref().map(|version| version.digest.clone()),
                version: version.map(|version| version.version),
                status: entry.status(),
                detail: format!(
                    "{other} is removed from {}: `{file}` contains {name} now",
                    component.source
                ),
                takes: Vec::new(),
            };
            entry.record(self.event(&report, Some(component.source)));
            removed.push(format!("; {other}, which `{file}` contained, is removed"));
        }
        removed
    }

    /// Puts a loaded component into a state. Returns the report.
    pub(crate) fn accept_into(
        &self,
        state: &mut CatalogState,
        component: &IncomingComponent,
        interpreter: &Interpreter,
    ) -> Result<Outcome, Refusal> {
        let by = interpreter.by();
        if !state.make_space_for(&by.name) {
            let why = format!(
                "the limit of {NAMES_MAX} names is reached: `remove` names that are not in use"
            );
            return Err(Refusal::at(LoadStep::Published, why));
        }
        let entry = state.edit_or_new(&by.name);
        let live = live_detail(entry, component.source, interpreter);
        let problem = version_order::problem(entry, component.source, interpreter);
        if let Some(why) = problem
            .as_ref()
            .filter(|_| self.options.limits.refuses_old_versions)
        {
            return Err(Refusal::at(LoadStep::Published, why.clone()));
        }
        let settings = if component.is_candidate {
            String::new()
        } else {
            self.declare(&by.name, entry, Some(component))?
        };
        let source = entry.sources.entry(component.source).or_default();
        if let Some(file) = other_file(source, component) {
            let why = format!(
                "`{file}` has the same name `{}`: remove one of them",
                by.name
            );
            return Err(Refusal::at(LoadStep::Published, why));
        }
        source.file.clone_from(&component.file);
        let version = self.version(&by.digest, &by.version);
        let detail = if component.is_candidate {
            source.wait(version);
            let (name, version) = (&by.name, &by.version);
            format!("{name} {version} is accepted and can be promoted")
        } else {
            source.go_live(version);
            live
        };
        let warning = problem.map_or_else(String::new, |why| format!("; warning: {why}"));
        Ok(Outcome {
            status: if component.is_candidate {
                OutcomeStatus::Candidate
            } else {
                entry.status()
            },
            name: by.name.clone(),
            action: CatalogAction::Load,
            digest: Some(by.digest.clone()),
            version: Some(by.version.to_string()),
            detail: detail + &settings + &warning,
            takes: Vec::new(),
        })
    }

    /// A version that was received now. Its outcome is set later.
    pub(crate) fn version(&self, digest: &Digest, version: &str) -> Version {
        Version {
            digest: digest.clone(),
            version: version.to_owned(),
            outcome: VersionOutcome::Candidate,
            why: String::new(),
            received_ms: self.now_ms(),
            manifest: None,
            shadow_faults: 0,
            unavailable: None,
        }
    }
}

/// The detail of a report on a version that was accepted: which version it replaces, or why it does
/// not judge.
fn live_detail(entry: &Entry, source: Source, interpreter: &Interpreter) -> String {
    let by = interpreter.by();
    let mut higher = entry.sources.iter().rev();
    let hiding = higher.find(|(other, versions)| **other > source && versions.judging().is_some());
    let (name, version) = (&by.name, &by.version);
    match hiding {
        Some((hiding, _)) => {
            format!("{name} {version} is accepted; the version from {hiding} overrides it")
        }
        None if entry.is_disabled => format!("{name} {version} is accepted{}", entry.disabled()),
        None => format!("{name} {version} is live{}", entry.replaced()),
    }
}

/// The other file that already fills the source.
fn other_file<'s>(source: &'s SourceVersions, component: &IncomingComponent) -> Option<&'s str> {
    let file = source.file.as_deref()?;
    let is_there = component.file.as_deref() != Some(file) && !component.gone.contains(file);
    (is_there && source.with(VersionOutcome::Live).is_some()).then_some(file)
}
