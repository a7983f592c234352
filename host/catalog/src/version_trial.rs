//! Tries a new version on the known objects before it is published.

use std::fmt::Write as _;
use std::sync::Arc;

use kindsight_api::interpreters::Refusal;
use kindsight_interpreter::{Interpreter, Published, ReportedGroup, TriedVersion, try_version};
use kindsight_model::{InterpreterName, LoadStep};

use crate::catalog::Catalog;
use crate::incoming::IncomingComponent;
use crate::refused::may_log;
use crate::snapshot::{Loaded, Snapshot};
use crate::state::CatalogState;
use crate::takeover::pattern_text_of;

/// Maximum number of Kinds that a refusal names. Further Kinds are counted.
const WORSE_KINDS_LISTED_MAX: usize = 4;

/// The objects on which new versions are tried.
pub trait KnownObjects: Send + Sync {
    /// Waits until every cluster was listed, for a limited time. Blocks. Called before a version
    /// replaces another one, so that the start of a server does not skip the trial.
    fn wait(&self);

    /// The objects that the clusters reported last. Blocks.
    fn reported(&self) -> Vec<ReportedGroup>;
}

/// No objects, for a catalog beside no cluster.
impl KnownObjects for () {
    fn wait(&self) {}

    fn reported(&self) -> Vec<ReportedGroup> {
        Vec::new()
    }
}

/// The refusal of a version that makes known objects worse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Worse {
    why: String,
}

impl Worse {
    /// The reason, with the ways to make the version live all the same.
    pub(crate) fn with_advice(&self, advice: &str) -> String {
        format!("{}; {advice}", self.why)
    }
}

impl Catalog {
    /// Tries an incoming component on the known objects. Returns the end of a sentence about the
    /// extent of the trial. A candidate is not published, and is not tried.
    ///
    /// # Errors
    /// [`Refusal::Refused`] if more objects than the limit get worse, and the refusals of
    /// [`Self::admit`].
    pub(crate) fn try_incoming(
        &self,
        component: &IncomingComponent,
        interpreter: &Arc<Interpreter>,
    ) -> Result<String, Refusal> {
        if component.is_candidate {
            return Ok(String::new());
        }
        let base = self.snapshot();
        let by = interpreter.by();
        if let Some(declared) = self.declared(&by.name, Some(component))? {
            self.try_on(&by.name, interpreter, &declared.settings)?;
        }
        let mut state = base.state.clone();
        self.vacate(&mut state, component, &by.name);
        self.accept_into(&mut state, component, interpreter)?;
        let loaded = Loaded::from([(by.digest.clone(), Arc::clone(interpreter))]);
        let tried = self.try_state(&base, &state, loaded, &by.name)?;
        tried.map_err(|worse| {
            let advice = if component.file.is_some() {
                "correct it, or raise `kindsight serve --promote-max-faults`"
            } else {
                "`load --candidate` and `shadow` show the objects, and `promote --force` makes it live all the same"
            };
            Refusal::at(LoadStep::Tried, worse.with_advice(advice))
        })
    }

    /// Tries the set of a changed state on the known objects, where a new version of `name` judges.
    /// Returns the end of a sentence about the extent of the trial.
    ///
    /// A new version of a disabled name is tried as if the name was enabled, because `enable` makes
    /// it live without another trial.
    ///
    /// # Errors
    /// Among others [`Refusal::Refused`], if the settings do not fit the version.
    pub(crate) fn try_state(
        &self,
        base: &Snapshot,
        state: &CatalogState,
        loaded: Loaded,
        name: &InterpreterName,
    ) -> Result<Result<String, Worse>, Refusal> {
        let new = match enabled(base, state, name) {
            None => self.unpublished(base, state, loaded)?,
            Some(state) => match self.unpublished(base, &state, loaded) {
                Ok(new) => new,
                // The name can also not be enabled until the reason is removed.
                Err(why) => {
                    let note = format!("; it was not tried on the known objects: {why}");
                    return Ok(Ok(note));
                }
            },
        };
        let replaced = base.state.entries.get(name);
        if replaced.is_some_and(|entry| entry.effective().is_some()) {
            self.options.known_objects.wait();
        }
        let known = self.options.known_objects.reported();
        let interpreters = self.interpreters();
        let live = interpreters.published();
        let tried = try_version(interpreters.limits(), &live, &new, &known, self.now_ms());
        Ok(self.judge_trial(name, &tried))
    }

    /// The set of a changed state, which is not published.
    fn unpublished(
        &self,
        base: &Snapshot,
        state: &CatalogState,
        more: Loaded,
    ) -> Result<Arc<Published>, Refusal> {
        let mut loaded = base.loaded.clone();
        loaded.extend(more);
        let needs = base.needs(state, &loaded, &self.checks);
        self.prepare_needs(needs, &mut loaded)?;
        self.prepare(base.members(state, &loaded, &self.checks)?)
    }

    fn judge_trial(&self, name: &InterpreterName, tried: &TriedVersion) -> Result<String, Worse> {
        let max = self.options.limits.promote_faults_max;
        if tried.worse > 0 && may_log(&self.refusal_lines) {
            let first = tried.first.as_deref().unwrap_or_default();
            let worse = tried.worse;
            tracing::warn!(interpreter.name = %name, worse, "a new version fails on known objects, for example on {first}");
        }
        if tried.worse > max {
            let (worse, objects, kinds) = (tried.worse, tried.objects, listed(tried));
            let why = format!(
                "its calls for {worse} of the {objects} known objects that it was tried on end in a fault, and the live version has a verdict on them ({kinds}); at most {max} are permitted"
            );
            return Err(Worse { why });
        }
        let mut note = String::new();
        // Writing to a String does not fail.
        if tried.worse > 0 {
            let (worse, kinds) = (tried.worse, listed(tried));
            let _ = write!(
                note,
                "; it fails on {worse} known objects that had a verdict ({kinds})"
            );
        }
        if !tried.is_complete {
            let objects = tried.objects;
            let _ = write!(
                note,
                "; it was tried on only {objects} of the known objects, because of the limits of a trial"
            );
        }
        Ok(note)
    }
}

/// The changed state with a disabled name enabled, if a new version of the name would judge.
/// `None` if the name is not disabled, or has the same version as before.
fn enabled(base: &Snapshot, state: &CatalogState, name: &InterpreterName) -> Option<CatalogState> {
    let entry = state.entries.get(name).filter(|entry| entry.is_disabled)?;
    let (_, version) = entry.effective()?;
    let before = base.state.entries.get(name);
    let before = before.and_then(|entry| entry.effective());
    if before.is_some_and(|(_, before)| before.digest == version.digest) {
        return None;
    }
    let mut state = state.clone();
    state.edit(name)?.is_disabled = false;
    Some(state)
}

/// The objects that got worse, by Kind and reason.
fn listed(tried: &TriedVersion) -> String {
    let shown = tried.worse_kinds.iter().take(WORSE_KINDS_LISTED_MAX);
    let shown = shown.map(|((gvk, reason), count)| {
        let kind = pattern_text_of(gvk);
        format!("{count} {kind}: {reason}")
    });
    let shown = shown.collect::<Vec<String>>().join(", ");
    match tried
        .worse_kinds
        .len()
        .saturating_sub(WORSE_KINDS_LISTED_MAX)
    {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
