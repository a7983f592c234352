//! Changes: from a changed entry to the published set.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_api::interpreters::{Outcome, OutcomeStatus, Refusal, Takeover};
use kindsight_interpreter::{Interpreter, Published, SetMember};
use kindsight_model::{CatalogAction, Digest, InterpreterName, LoadStep, Source, VersionOutcome};

use crate::catalog::{Catalog, locked};
use crate::loading::ComponentError;
use crate::not_stored::not_stored;
use crate::refused::may_log;
use crate::snapshot::{ActiveMember, AssembledSet, Loaded, Need, Snapshot, keep_near};
use crate::state::{CatalogState, Entry, Event, Version, clip};
use crate::store::StoredHead;
use crate::takeover::{takeover_lines, takeovers};

/// Maximum number of attempts of a change that is repeated because other changes were made while it
/// was prepared. Each attempt has loaded what the previous one lacked.
const CHANGE_TRIES: usize = 8;

/// The result of editing a copy of the state.
pub(crate) enum Edit<T> {
    /// The state is unchanged, and nothing is written.
    Unchanged(T),
    /// The state is changed, and must be written and published.
    Changed(T),
}

impl Catalog {
    /// Makes one change of one entry: on a copy, assembled as a set, stored, and published.
    pub(crate) fn change(
        &self,
        name: &InterpreterName,
        action: CatalogAction,
        by: Option<Source>,
        mut change: impl FnMut(&mut Entry) -> Result<(Option<Version>, String), Refusal>,
    ) -> Result<Outcome, Refusal> {
        let changed = self.transact(Loaded::new(), |base, loaded, state| {
            let entry = state.edit(name).ok_or_else(|| base.not_found())?;
            let before = entry.clone();
            let (version, detail) = change(entry)?;
            let mut report = Outcome {
                name: name.clone(),
                action,
                digest: version.as_ref().map(|version| version.digest.clone()),
                version: version.as_ref().map(|version| version.version.clone()),
                status: entry.status(),
                detail,
                takes: Vec::new(),
            };
            if *entry == before {
                report.status = OutcomeStatus::Unchanged;
                return Ok(Edit::Unchanged(report));
            }
            if let Some((source, digest)) = entry.newly_judging(&before) {
                // If the interpreter is not loaded yet, there will be another attempt.
                let interpreter = loaded.get(digest).or_else(|| base.loaded.get(digest));
                let takes = interpreter.map(|interpreter| self.takeovers(source, interpreter));
                report.takes = takes.unwrap_or_default();
            }
            entry.record(self.event(&report, by));
            Ok(Edit::Changed(report))
        });
        if let Err(refusal @ (Refusal::Conflict(_) | Refusal::Refused { .. })) = &changed
            && may_log(&self.command_lines)
        {
            let (name, action) = (name.as_str(), action.as_str());
            tracing::warn!(interpreter.name = name, action, "refused: {refusal}");
        }
        changed.inspect(log)
    }

    /// Makes a change: on a copy of the present state, which is written and then published. If
    /// components must be loaded or settings validated, this is done without a lock, and the change
    /// is then repeated. `edit` receives everything that was loaded so far, in addition to the
    /// snapshot's interpreters.
    ///
    /// # Errors
    /// Among others [`Refusal::Conflict`], if another host that shares the store was faster.
    pub(crate) fn transact<T>(
        &self,
        mut loaded: Loaded,
        mut edit: impl FnMut(&Snapshot, &Loaded, &mut CatalogState) -> Result<Edit<T>, Refusal>,
    ) -> Result<T, Refusal> {
        self.follow()?;
        for _ in 0..CHANGE_TRIES {
            let writer = self.writer();
            let base = self.snapshot();
            let mut state = base.state.clone();
            let changed = match edit(&base, &loaded, &mut state)? {
                Edit::Unchanged(unchanged) => return Ok(unchanged),
                Edit::Changed(changed) => changed,
            };
            let needs = self.commit(&base, state, &loaded)?;
            drop(writer);
            if needs.is_empty() {
                (self.options.on_swap)();
                return Ok(changed);
            }
            self.prepare_needs(needs, &mut loaded)?;
        }
        let what = "the interpreters changed repeatedly while this change was prepared: try again";
        Err(Refusal::Conflict(what.to_owned()))
    }

    /// Does the slow work that a change lacked.
    pub(crate) fn prepare_needs(
        &self,
        needs: Vec<Need>,
        loaded: &mut Loaded,
    ) -> Result<(), Refusal> {
        for need in needs {
            match need {
                Need::Load {
                    name,
                    source,
                    version,
                } => {
                    let interpreter = self.load_stored(source, &version.digest);
                    let interpreter = interpreter.map_err(|error| match error {
                        ComponentError::Store(error) => not_stored("the change", &error),
                        ComponentError::Lost(why) | ComponentError::Unusable(why) => {
                            let version = &version.version;
                            let why = format!("{name} {version} cannot be loaded now: {why}");
                            Refusal::Conflict(why)
                        }
                    })?;
                    loaded.insert(version.digest, interpreter);
                }
                // The next attempt finds the result.
                Need::Check {
                    interpreter,
                    settings,
                } => drop(self.checks.check(&interpreter, &settings)),
            }
        }
        Ok(())
    }

    /// The event of the history for a report.
    pub(crate) fn event(&self, report: &Outcome, by: Option<Source>) -> Event {
        Event {
            time_ms: self.now_ms(),
            action: report.action,
            by,
            digest: report.digest.clone(),
            version: report.version.clone().unwrap_or_default(),
            outcome: clip(&sentence(report)),
        }
    }

    /// The Kinds that an interpreter takes over from the published set if it goes live. Must be
    /// called with the writers' lock.
    pub(crate) fn takeovers(&self, source: Source, interpreter: &Interpreter) -> Vec<Takeover> {
        let before = self.options.interpreters.published();
        takeovers(&before, source, interpreter)
    }

    /// Makes a changed state the present one: as a set, in the store, and in memory, in this order.
    /// If work is missing, changes nothing and returns the missing work. Only for the writer with
    /// the lock.
    ///
    /// # Errors
    /// Among others [`Refusal::Conflict`], if another host that shares the store was faster.
    pub(crate) fn commit(
        &self,
        base: &Snapshot,
        mut state: CatalogState,
        more: &Loaded,
    ) -> Result<Vec<Need>, Refusal> {
        self.signatures.check(&base.state, &state)?;
        self.signatures.mark(&mut state);
        self.prune(base, &mut state);
        let mut loaded = base.loaded.clone();
        let more = more
            .iter()
            .map(|(digest, interpreter)| (digest.clone(), Arc::clone(interpreter)));
        loaded.extend(more);
        let needs = base.needs(&state, &loaded, &self.checks);
        if !needs.is_empty() {
            return Ok(needs);
        }
        let assembled = self.assemble(base, &state, &loaded)?;
        let dropped = self.unneeded(&state);
        let incoming = self.newly_referenced(&base.state, &state);
        let written = self
            .store
            .exchange(&base.head, &base.state, &state, &dropped, &incoming)
            .map_err(|error| not_stored("the change", &error))?;
        let Some(head) = written else {
            let what = "another host changed the interpreters at the same time: try again";
            return Err(Refusal::Conflict(what.to_owned()));
        };
        self.activate(state, loaded, head, assembled);
        Ok(Vec::new())
    }

    /// Removes versions beyond the limit from changed entries.
    fn prune(&self, base: &Snapshot, state: &mut CatalogState) {
        let changed: Vec<InterpreterName> = state
            .entries
            .iter()
            .filter(|(name, entry)| {
                let old = base.state.entries.get(*name);
                old.is_none_or(|old| !Arc::ptr_eq(old, entry))
            })
            .map(|(name, _)| name.clone())
            .collect();
        for name in &changed {
            let sources = state.edit(name).map(|entry| entry.sources.values_mut());
            for source in sources.into_iter().flatten() {
                source.prune(self.options.limits.versions_kept_max);
            }
        }
    }

    /// Assembles the set for a state, without publishing it. All its members must be loaded.
    pub(crate) fn assemble(
        &self,
        base: &Snapshot,
        state: &CatalogState,
        loaded: &Loaded,
    ) -> Result<AssembledSet, Refusal> {
        let members = base.members(state, loaded, &self.checks)?;
        let active: Vec<ActiveMember> = members.iter().map(ActiveMember::from).collect();
        let set = if active == base.active {
            None
        } else {
            Some(self.prepare(members)?)
        };
        Ok(AssembledSet { active, set })
    }

    /// Publishes an assembled set, and makes its state the present one in this process. Only for
    /// the writer with the lock.
    pub(crate) fn activate(
        &self,
        state: CatalogState,
        mut loaded: Loaded,
        head: StoredHead,
        assembled: AssembledSet,
    ) {
        if let Some(set) = assembled.set {
            self.options.interpreters.install(set);
        }
        keep_near(&state, &mut loaded);
        self.publish(Snapshot {
            state,
            loaded,
            head,
            active: assembled.active,
        });
    }

    /// Makes a set of members that is not published.
    pub(crate) fn prepare(&self, members: Vec<SetMember>) -> Result<Arc<Published>, Refusal> {
        let set = self.options.interpreters.prepare(members);
        set.map_err(|error| Refusal::at(LoadStep::Published, error.to_string()))
    }

    /// Stored components that a state does not refer to, or only as refused, and that are not being
    /// stored.
    pub(crate) fn unneeded(&self, state: &CatalogState) -> Vec<Digest> {
        let incoming = locked(&self.incoming);
        let known = referenced(state);
        // If the store does not answer, the next change tries again.
        let stored = self.store.components().unwrap_or_default();
        let is_needed = |digest: &Digest| known.contains(digest) || incoming.contains_key(digest);
        stored
            .into_iter()
            .filter(|digest| !is_needed(digest))
            .collect()
    }

    /// Components that this host is storing, and that only the new state uses. Another host that
    /// shares the store may remove such a component until the new state is written.
    fn newly_referenced(&self, before: &CatalogState, after: &CatalogState) -> Vec<Digest> {
        let incoming = locked(&self.incoming);
        let (before, after) = (referenced(before), referenced(after));
        let is_new = |digest: &&Digest| after.contains(*digest) && !before.contains(*digest);
        incoming.keys().filter(is_new).cloned().collect()
    }
}

/// The components that a state uses. The component of a refused version is not used.
fn referenced(state: &CatalogState) -> BTreeSet<&Digest> {
    let versions = state.versions();
    let needed = versions.filter(|version| version.outcome != VersionOutcome::Refused);
    needed.map(|version| &version.digest).collect()
}

/// Logs a change that is in effect now.
pub(crate) fn log(report: &Outcome) {
    if report.status == OutcomeStatus::Unchanged {
        return;
    }
    tracing::info!(
        interpreter.name = report.name.as_str(),
        action = report.action.as_str(),
        digest = report.digest.as_ref().map_or("", Digest::as_str),
        version = report.version.as_deref().unwrap_or_default(),
        "{}",
        sentence(report)
    );
}

/// A report as a sentence, with the Kinds that are taken over.
fn sentence(report: &Outcome) -> String {
    let takes = takeover_lines(&report.takes);
    if takes.is_empty() {
        return report.detail.clone();
    }
    let verb = if report.status == OutcomeStatus::Candidate {
        "would take"
    } else {
        "takes"
    };
    format!("{}; {verb} {}", report.detail, takes.join("; "))
}
