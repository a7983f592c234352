//! Admission of components: from bytes to a live version or a candidate.

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
use crate::refused::{RefusedComponent, may_log};
use crate::snapshot::Loaded;
use crate::state::{CatalogState, Entry, NAMES_MAX, SourceVersions, Version};
use crate::takeover::lost_kinds;

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
        if let Some(expected) = component.expected.as_ref().filter(|it| *it != digest) {
            let why = format!("the digest of the bytes is {digest}, and {expected} was expected");
            return Err(Refusal::at(LoadStep::Received, why));
        }
        self.follow()?;
        // Before the slow part; it is checked again where the change is made.
        if let Some(name) = &component.name {
            conditional::check(condition, self.entry(name).as_deref())?;
        }
        if let Some(report) = self.unchanged(component, digest)? {
            return Ok(report);
        }
        let interpreter = self.load_bytes(&component.bytes)?;
        let name = &interpreter.by().name;
        if let Some(expected) = component.name.as_ref().filter(|it| *it != name) {
            let why = format!(
                "it calls itself `{name}` and was sent as `{expected}`: send it under its own name"
            );
            return Err(Refusal::at(LoadStep::Tried, why));
        }
        if !component.replaces_built_in {
            self.refuse_lost_kinds(component.source, &interpreter)?;
        }
        self.accept(condition, component, &interpreter)
    }

    /// Refuses a component that takes the name of a built-in one, and with it Kinds that it does not judge.
    fn refuse_lost_kinds(&self, source: Source, interpreter: &Interpreter) -> Result<(), Refusal> {
        let name = &interpreter.by().name;
        let mut built_in = self.options.built_in.iter();
        let built_in = built_in.find(|it| it.by().name == *name);
        let Some(lost) = built_in.and_then(|it| lost_kinds(it, interpreter)) else {
            return Ok(());
        };
        let how = match source {
            Source::Directory => "start the server with `--replace-built-in`",
            _ => "send it with `--replace-built-in` (`?replace=true`)",
        };
        let why = format!(
            "`{name}` is the name of a built-in interpreter, and this one does not judge its {lost}, which a more general one would then judge: give it another name, or to replace the built-in one {how}"
        );
        Err(Refusal::at(LoadStep::Published, why))
    }

    /// The report on bytes that are in place already; none where they are not. Refuses bytes of the
    /// directory that were rolled back from.
    fn unchanged(
        &self,
        component: &IncomingComponent,
        digest: &Digest,
    ) -> Result<Option<Outcome>, Refusal> {
        let snapshot = self.snapshot();
        // An upload under another name is refused further on, by what it calls itself.
        let entries = snapshot
            .state
            .entries
            .iter()
            .filter(|(name, _)| component.name.as_ref().is_none_or(|it| it == *name));
        for (name, entry) in entries {
            let source = entry.sources.get(&component.source);
            let Some((source, version)) = source.and_then(|it| Some((it, it.of(digest)?))) else {
                continue;
            };
            // One that could not be loaded here is loaded once more.
            let is_in_place = version.unavailable.is_none();
            let is_in_place = match version.outcome {
                VersionOutcome::Live => is_in_place && component.file == source.file,
                VersionOutcome::Candidate => is_in_place && component.is_candidate,
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
                    takes: Vec::new(),
                }));
            }
        }
        Ok(None)
    }

    /// Makes a component that was loaded live, or a candidate.
    fn accept(
        &self,
        condition: &LiveCondition,
        component: &IncomingComponent,
        interpreter: &Arc<Interpreter>,
    ) -> Result<Outcome, Refusal> {
        let by = interpreter.by();
        // Stored before any state speaks of it, and before the lock of writers: it may be large.
        let incoming = self.expect_component(&by.digest);
        let stored = self.store.put_component(&by.digest, &component.bytes);
        // No state speaks of it: whether it was written after all makes no difference.
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
                let mut report = self.accept_into(state, component, interpreter)?;
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

    /// Puts a component that was loaded into a state; answers with the report.
    fn accept_into(
        &self,
        state: &mut CatalogState,
        component: &IncomingComponent,
        interpreter: &Interpreter,
    ) -> Result<Outcome, Refusal> {
        let by = interpreter.by();
        if !state.make_space_for(&by.name) {
            let why = format!(
                "there are {NAMES_MAX} names already, which is the limit: `remove` those that are not used"
            );
            return Err(Refusal::at(LoadStep::Published, why));
        }
        let entry = state.edit_or_new(&by.name);
        let live = live_detail(entry, component.source, interpreter);
        let source = entry.sources.entry(component.source).or_default();
        if let Some(file) = other_file(source, component) {
            let why = format!(
                "`{file}` has the same name `{}`: leave one of them out",
                by.name
            );
            return Err(Refusal::at(LoadStep::Published, why));
        }
        source.file.clone_from(&component.file);
        let version = self.version(&by.digest, &by.version);
        let detail = if component.is_candidate {
            source.wait(version);
            let (name, version) = (&by.name, &by.version);
            format!("{name} {version} is accepted and waits to be promoted")
        } else {
            source.go_live(version);
            live
        };
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
            detail,
            takes: Vec::new(),
        })
    }

    /// A version that came now; its outcome is set where it is put.
    fn version(&self, digest: &Digest, version: &str) -> Version {
        Version {
            digest: digest.clone(),
            version: version.to_owned(),
            outcome: VersionOutcome::Candidate,
            why: String::new(),
            received_ms: self.now_ms(),
            unavailable: None,
        }
    }

    /// Remembers a refusal where people look: in the log of refusals, and in the history of its name if
    /// that is known. A name that is not known leaves nothing else.
    fn record_refusal(
        &self,
        component: &IncomingComponent,
        digest: &Digest,
        step: LoadStep,
        why: &str,
    ) {
        let IncomingComponent { source, name, .. } = component;
        let file = component.file.as_deref();
        if may_log(&self.refusal_lines) {
            let sent_as = name.as_ref().map_or("", InterpreterName::as_str);
            let sent_as = file.unwrap_or(sent_as);
            tracing::warn!(%source, sent_as, %digest, "interpreter refused: {step}: {why}");
        }
        self.refused.add(RefusedComponent {
            time_ms: self.now_ms(),
            source: *source,
            name: name.clone(),
            file: component.file.clone(),
            digest: digest.clone(),
            step,
            why: why.to_owned(),
        });
        let why = format!("{step}: {why}");
        let filled = || file.and_then(|file| self.names_in(file).into_iter().next());
        // What a file holds is not known; what came from it before is.
        let Some(name) = name.clone().or_else(filled) else {
            return;
        };
        let recorded = self.transact(Loaded::new(), |_, _, state| {
            let Some(entry) = state.edit(&name) else {
                return Ok(Edit::Unchanged(()));
            };
            let report = Outcome {
                name: name.clone(),
                action: CatalogAction::Refuse,
                digest: Some(digest.clone()),
                version: None,
                status: entry.status(),
                detail: why.clone(),
                takes: Vec::new(),
            };
            let versions = entry.sources.entry(*source).or_default();
            // What is live, or was, stays what it is: only that it came again was refused.
            let known = versions.of(digest);
            if known.is_none_or(|it| it.outcome == VersionOutcome::Refused) {
                versions.refuse(self.version(digest, ""), &why);
            }
            entry.record(self.event(&report, Some(*source)));
            Ok(Edit::Changed(()))
        });
        if let Err(error) = recorded {
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
