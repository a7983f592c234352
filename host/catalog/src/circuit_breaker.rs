//! The circuit breaker: finds interpreters that fail too often, and rolls back from one where another
//! version of the same name is proven to do better.
//!
//! It never disables an interpreter, and never leaves its Kinds to a more general one: a cluster whose
//! reports make an interpreter fail must not take it from all others. One that has nothing better stays
//! live, and is shown as faulting.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kindsight_api::interpreters::{Outcome, Refusal};
use kindsight_interpreter::{CallStats, FailedInput, Interpreter, Published, Recent};
use kindsight_model::{CatalogAction, Digest, InterpreterName, Source};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::settings::passed;
use crate::state::{Entry, Version};

/// The time after a comparison of two versions until they are compared again, while the live one
/// fails: each comparison takes up to 16 deadlines of processor time.
const COMPARE_EACH: Duration = Duration::from_mins(1);

/// Settings as an operator set them, without the defaults of a schema.
type OperatorSettings = Map<String, Value>;

/// Faults of the live version of an interpreter, more than it may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulting {
    /// The version.
    pub digest: Digest,
    /// Different inputs it was called with within about the last minute.
    pub calls: u64,
    /// Number of these calls that ended in a fault.
    pub faults: u64,
    /// Begin of its being too many, in Unix milliseconds.
    pub since_ms: i64,
}

/// Observations of the circuit breaker about one name, since this process began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BreakerState {
    /// Set while it fails too often.
    pub faulting: Option<Faulting>,
    /// Number of times that it began to fail too often.
    pub trips: u64,
}

/// Observations about all names. Not stored: each process looks at its own calls.
#[derive(Default)]
pub(crate) struct Breaker(Mutex<BTreeMap<InterpreterName, Observed>>);

#[derive(Default)]
struct Observed {
    state: BreakerState,
    compared: Option<Instant>,
    rolled_back: Option<RolledBack>,
}

/// The last rollback of the breaker, while the version it went back to is live.
struct RolledBack {
    to: Digest,
    what: String,
}

impl Breaker {
    fn observed(&self) -> MutexGuard<'_, BTreeMap<InterpreterName, Observed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Catalog {
    /// Looks at the share of faults among the calls of about the last minute of everything that is
    /// live. Called every second, on a thread that may block: takes no lock of a call, and compares two
    /// versions at most once a minute for each name that fails.
    pub fn check_breaker(&self, now: Instant) {
        let set = self.options.interpreters.published();
        for (_, interpreter) in set.interpreters() {
            let by = interpreter.by();
            let Some(stats) = set.stats(&by.name) else {
                continue;
            };
            stats.tell_dropped_lines(now, by);
            let recent = stats.recent(now);
            if self.is_faulty(recent) {
                self.faults(interpreter, stats, recent, now);
            } else {
                self.recovers(interpreter);
            }
        }
        // The set may be another one by now.
        self.forget_gone(&self.options.interpreters.published());
    }

    /// Observations about one name.
    pub fn breaker(&self, name: &InterpreterName) -> BreakerState {
        let observed = self.breaker.observed();
        let observed = observed.get(name).map(|it| it.state.clone());
        observed.unwrap_or_default()
    }

    /// The interpreters that fail too often or were rolled back from, a sentence each; for `/readyz`.
    /// Waits for no change of the catalog.
    pub fn breaker_notes(&self) -> Vec<String> {
        let observed = self.breaker.observed();
        let notes = observed.iter().flat_map(|(name, it)| {
            let faulting = it.state.faulting.as_ref();
            let faulting =
                faulting.map(|it| format!("interpreter {name} is faulting: {}", why(it)));
            let back = it.rolled_back.as_ref();
            let back = back.map(|it| format!("interpreter {name} was rolled back: {}", it.what));
            [faulting, back].into_iter().flatten()
        });
        notes.collect()
    }

    fn is_faulty(&self, recent: Recent) -> bool {
        let limits = &self.options.limits;
        let percent = limits.breaker_fault_percent;
        percent > 0
            && recent.calls >= limits.breaker_calls_min
            && recent.faults.saturating_mul(100) >= percent.saturating_mul(recent.calls)
    }

    /// Marks an interpreter, and rolls back from it where the version before does better.
    fn faults(
        &self,
        interpreter: &Arc<Interpreter>,
        stats: &CallStats,
        recent: Recent,
        now: Instant,
    ) {
        let by = interpreter.by();
        let mut observed = self.breaker.observed();
        let it = observed.entry(by.name.clone()).or_default();
        let before = it.state.faulting.take();
        let before = before.filter(|before| before.digest == by.digest);
        let is_new = before.is_none();
        let faulting = Faulting {
            digest: by.digest.clone(),
            calls: recent.calls,
            faults: recent.faults,
            since_ms: before.map_or_else(|| self.now_ms(), |before| before.since_ms),
        };
        let why = why(&faulting);
        it.state.faulting = Some(faulting);
        if is_new {
            it.state.trips += 1;
            it.compared = None;
            tracing::warn!(?interpreter, "the interpreter is faulting: {why}");
        }
        let is_due = |at| now.saturating_duration_since(at) >= COMPARE_EACH;
        if !it.compared.is_none_or(is_due) {
            return;
        }
        it.compared = Some(now);
        drop(observed);
        self.replace_if_worse(interpreter, &stats.failed_inputs(), &why);
    }

    fn recovers(&self, interpreter: &Interpreter) {
        let mut observed = self.breaker.observed();
        let it = observed.get_mut(&interpreter.by().name);
        if it.is_some_and(|it| it.state.faulting.take().is_some()) {
            tracing::info!(?interpreter, "the interpreter is not faulting any more");
        }
    }

    /// Forgets faults of what is not live any more, and rollbacks to it.
    fn forget_gone(&self, set: &Published) {
        let is_live = |digest: &Digest| set.interpreters().any(|(_, it)| it.digest() == digest);
        for it in self.breaker.observed().values_mut() {
            it.state.faulting.take_if(|it| !is_live(&it.digest));
            it.rolled_back.take_if(|it| !is_live(&it.to));
        }
    }

    /// Rolls back where the version that would be live then fails on fewer of the inputs. A guest is
    /// pure, so this is proof.
    fn replace_if_worse(&self, live: &Arc<Interpreter>, inputs: &[FailedInput], why: &str) {
        let by = live.by();
        let Some((other, settings)) = self.other_version(&by.name, &by.digest) else {
            tracing::warn!(interpreter = ?live, "it stays live: there is no other version of it that could be");
            return;
        };
        let interpreters = &self.options.interpreters;
        let count = |it: &Arc<Interpreter>| {
            let settings = passed(it, settings.as_ref());
            interpreters.judge_again(it, settings.as_ref(), inputs)
        };
        let (before, after) = (count(live), count(&other));
        if after >= before {
            tracing::warn!(
                interpreter = ?live, ?other,
                "it stays live: of {} inputs it fails on {before}, the other version on {after}", inputs.len(),
            );
            return;
        }
        match self.trip_breaker(&by.name, &by.digest, why) {
            Ok(outcome) => {
                tracing::warn!(interpreter = ?live, "the circuit breaker rolled back: {}", outcome.detail);
                let mut observed = self.breaker.observed();
                let it = observed.entry(by.name.clone()).or_default();
                it.state.faulting = None;
                it.rolled_back = Some(RolledBack {
                    to: other.digest().clone(),
                    what: outcome.detail,
                });
            }
            Err(error) => {
                tracing::error!(interpreter = ?live, why, %error, "the circuit breaker could not roll back");
            }
        }
    }

    /// The version that would be live after a rollback from this one, and the operator's settings of both;
    /// none where it could not be live.
    fn other_version(
        &self,
        name: &InterpreterName,
        digest: &Digest,
    ) -> Option<(Arc<Interpreter>, Option<OperatorSettings>)> {
        let mut entry = Entry::clone(&*self.entry(name)?);
        let (source, other, _) = roll_back(&mut entry, digest, "").ok()?;
        let other = self
            .loaded(&other.digest)
            .or_else(|| self.load_stored(source, &other.digest).ok())?;
        let settings = entry.settings;
        if let Some(settings) = &settings
            && self.checks.check(&other, settings).is_err()
        {
            return None;
        }
        Some((other, settings))
    }

    /// Rolls back from a version that fails too often, to another version of the same name: the one
    /// before, or that of a lower source.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] where another version is live by now, or there is
    /// none to roll back to; [`Refusal::Refused`] and [`Refusal::Failed`] where that one cannot be live.
    /// Then nothing changes.
    pub fn trip_breaker(
        &self,
        name: &InterpreterName,
        digest: &Digest,
        why: &str,
    ) -> Result<Outcome, Refusal> {
        self.change(name, CatalogAction::Breaker, None, |entry| {
            let (source, now, faulty) = roll_back(entry, digest, why)?;
            let from = match entry.sources.iter().find(|(_, it)| it.of(digest).is_some()) {
                Some((same, _)) if *same == source => String::new(),
                _ => format!(" from {source}"),
            };
            let detail = format!("{why}; rolled back to {}{from}", now.version);
            Ok((Some(faulty), detail))
        })
    }
}

/// Rolls back from the version of that digest; answers with what is live then, and the version.
fn roll_back(
    entry: &mut Entry,
    digest: &Digest,
    why: &str,
) -> Result<(Source, Version, Version), Refusal> {
    let (source, faulty) = entry.live(digest)?;
    if let Some(versions) = entry.sources.get_mut(&source) {
        versions.roll_back(why);
    }
    let now = entry.effective();
    let (source, now) = now
        .ok_or_else(|| Refusal::Conflict("there is no other version to roll back to".to_owned()))?;
    Ok((source, now.clone(), faulty))
}

fn why(faulting: &Faulting) -> String {
    let Faulting { calls, faults, .. } = faulting;
    format!("{faults} of its last {calls} calls ended in a fault")
}
