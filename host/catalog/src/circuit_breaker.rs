//! The circuit breaker: finds interpreters that fail too frequently, and rolls one back if another
//! version with the same name is proven to be better.
//!
//! It never disables an interpreter, and never leaves its Kinds to a more general interpreter: a
//! cluster whose reports make an interpreter fail must not remove it for all other clusters. An
//! interpreter without a better version stays live, and is shown as faulting.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kindsight_api::interpreters::{Outcome, Refusal};
use kindsight_interpreter::{CallStats, FailedInput, Interpreter, Published, Recent};
use kindsight_model::{CatalogAction, Digest, InterpreterName};
use serde_json::{Map, Value};

use crate::catalog::Catalog;
use crate::rollback::Rollback;
use crate::settings::passed;
use crate::state::Entry;

/// The interval between two comparisons of the same versions while the live one fails. Each
/// comparison takes up to 16 deadlines of processor time.
const COMPARE_EACH: Duration = Duration::from_mins(1);

/// Settings as an operator set them, without the defaults of the schema.
type OperatorSettings = Map<String, Value>;

/// Faults of the live version of an interpreter beyond the permitted number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faulting {
    /// The version.
    pub digest: Digest,
    /// The unit of the next two numbers.
    pub counted: Counted,
    /// Number of different inputs of its calls, or of judged objects, within about the last minute.
    pub calls: u64,
    /// Number of these inputs whose call ended in a fault, or of objects whose calls did.
    pub faults: u64,
    /// The time at which the number of faults first exceeded the limit, in Unix milliseconds.
    pub since_ms: i64,
}

/// The unit of the counts of a [`Faulting`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Different inputs.
    Inputs,
    /// Objects. They count because an interpreter that requests few fields has few different inputs.
    Objects,
}

/// Numbers of one unit within about the last minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Count {
    counted: Counted,
    all: u64,
    faults: u64,
}

/// The circuit breaker's observations of one name since this process started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BreakerState {
    /// Present while it fails too frequently.
    pub faulting: Option<Faulting>,
    /// Number of times that it began to fail too frequently.
    pub trips: u64,
}

/// The observations of all names. They are not stored: each process observes its own calls.
#[derive(Default)]
pub(crate) struct Breaker(Mutex<BTreeMap<InterpreterName, Observed>>);

#[derive(Default)]
struct Observed {
    state: BreakerState,
    compared: Option<Instant>,
    rolled_back: Option<RolledBack>,
}

/// The last rollback by the circuit breaker, while the restored version is live.
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
    /// Checks the proportion of faults among the calls and the objects of about the last minute, for
    /// every live interpreter. Called every second, on a thread that may block. Takes no lock that calls use,
    /// and compares two versions at most once a minute for each failing name.
    pub fn check_breaker(&self, now: Instant) {
        let set = self.options.interpreters.published();
        for (_, interpreter) in set.interpreters() {
            let by = interpreter.by();
            let Some(stats) = set.stats(&by.name) else {
                continue;
            };
            stats.tell_dropped_lines(now, by);
            let recent = stats.recent(now);
            match self.excess(recent) {
                Some(count) => self.faults(interpreter, stats, count, now),
                None => self.recovers(interpreter),
            }
        }
        // The published set may have changed.
        self.forget_gone(&self.options.interpreters.published());
    }

    /// The observations of one name.
    pub fn breaker(&self, name: &InterpreterName) -> BreakerState {
        let observed = self.breaker.observed();
        let observed = observed.get(name).map(|observed| observed.state.clone());
        observed.unwrap_or_default()
    }

    /// The interpreters that fail too frequently or were rolled back, with one sentence each, for
    /// `/readyz`. Does not wait for changes of the catalog.
    pub fn breaker_notes(&self) -> Vec<String> {
        let observed = self.breaker.observed();
        let notes = observed.iter().flat_map(|(name, observed)| {
            let faulting = observed.state.faulting.as_ref();
            let faulting = faulting
                .map(|faulting| format!("interpreter {name} is faulting: {}", why(faulting)));
            let back = observed.rolled_back.as_ref();
            let back =
                back.map(|back| format!("interpreter {name} was rolled back: {}", back.what));
            [faulting, back].into_iter().flatten()
        });
        notes.collect()
    }

    /// The first count with too many faults, if there is one.
    fn excess(&self, recent: Recent) -> Option<Count> {
        let limits = &self.options.limits;
        let percent = limits.breaker_fault_percent;
        let inputs = Count {
            counted: Counted::Inputs,
            all: recent.calls,
            faults: recent.faults,
        };
        let objects = Count {
            counted: Counted::Objects,
            all: recent.objects,
            faults: recent.failed_objects,
        };
        let is_excess = |count: &Count| {
            percent > 0
                && count.all >= limits.breaker_calls_min
                && count.faults.saturating_mul(100) >= percent.saturating_mul(count.all)
        };
        [inputs, objects].into_iter().find(is_excess)
    }

    /// Marks an interpreter as faulting, and rolls it back if the previous version is better.
    fn faults(
        &self,
        interpreter: &Arc<Interpreter>,
        stats: &CallStats,
        count: Count,
        now: Instant,
    ) {
        let by = interpreter.by();
        let mut observed = self.breaker.observed();
        let entry = observed.entry(by.name.clone()).or_default();
        let before = entry.state.faulting.take();
        let before = before.filter(|before| before.digest == by.digest);
        let is_new = before.is_none();
        let faulting = Faulting {
            digest: by.digest.clone(),
            counted: count.counted,
            calls: count.all,
            faults: count.faults,
            since_ms: before.map_or_else(|| self.now_ms(), |before| before.since_ms),
        };
        let why = why(&faulting);
        entry.state.faulting = Some(faulting);
        if is_new {
            entry.state.trips += 1;
            entry.compared = None;
            tracing::warn!(?interpreter, "the interpreter is faulting: {why}");
        }
        let is_due = |at| now.saturating_duration_since(at) >= COMPARE_EACH;
        if !entry.compared.is_none_or(is_due) {
            return;
        }
        entry.compared = Some(now);
        drop(observed);
        self.replace_if_worse(interpreter, &stats.failed_inputs(), &why);
    }

    fn recovers(&self, interpreter: &Interpreter) {
        let mut observed = self.breaker.observed();
        let entry = observed.get_mut(&interpreter.by().name);
        if entry.is_some_and(|entry| entry.state.faulting.take().is_some()) {
            tracing::info!(?interpreter, "the interpreter is no longer faulting");
        }
    }

    /// Removes faults of versions that are no longer live, and rollbacks to them.
    fn forget_gone(&self, set: &Published) {
        let is_live = |digest: &Digest| set.interpreters().any(|(_, live)| live.digest() == digest);
        for observed in self.breaker.observed().values_mut() {
            let state = &mut observed.state;
            state
                .faulting
                .take_if(|faulting| !is_live(&faulting.digest));
            observed
                .rolled_back
                .take_if(|rolled_back| !is_live(&rolled_back.to));
        }
    }

    /// Rolls back if the version that would then be live fails on fewer of the inputs. A guest is
    /// pure, so this is conclusive.
    fn replace_if_worse(&self, live: &Arc<Interpreter>, inputs: &[FailedInput], why: &str) {
        let by = live.by();
        let Some((other, settings)) = self.other_version(&by.name, &by.digest) else {
            tracing::warn!(interpreter = ?live, "the interpreter stays live: there is no other usable version");
            return;
        };
        let interpreters = &self.options.interpreters;
        let count = |interpreter: &Arc<Interpreter>| {
            let settings = passed(interpreter, settings.as_ref());
            interpreters.judge_again(interpreter, settings.as_ref(), inputs)
        };
        let (before, after) = (count(live), count(&other));
        if after >= before {
            tracing::warn!(
                interpreter = ?live, ?other,
                "the interpreter stays live: of {} inputs, it fails on {before} and the other version on {after}", inputs.len(),
            );
            return;
        }
        match self.trip_breaker(&by.name, &by.digest, why) {
            Ok(outcome) => {
                tracing::warn!(interpreter = ?live, "the circuit breaker rolled back: {}", outcome.detail);
                let mut observed = self.breaker.observed();
                let entry = observed.entry(by.name.clone()).or_default();
                entry.state.faulting = None;
                entry.rolled_back = Some(RolledBack {
                    to: other.digest().clone(),
                    what: outcome.detail,
                });
            }
            Err(error) => {
                tracing::error!(interpreter = ?live, why, %error, "the circuit breaker could not roll back");
            }
        }
    }

    /// The version that would be live after a rollback of this one, with the operator's settings of
    /// both, or `None` if it cannot be live.
    fn other_version(
        &self,
        name: &InterpreterName,
        digest: &Digest,
    ) -> Option<(Arc<Interpreter>, Option<OperatorSettings>)> {
        let mut entry = Entry::clone(&*self.entry(name)?);
        let (source, other) = roll_back(&mut entry, digest, "").ok()?.to;
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

    /// Rolls a version that fails too frequently back to another version with the same name: the
    /// previous version, or the version of a lower source.
    ///
    /// # Errors
    /// [`Refusal::NotFound`]; [`Refusal::Conflict`] if another version is live now, or there is no
    /// version to roll back to; [`Refusal::Refused`] and [`Refusal::Failed`] if that version cannot
    /// be live. Nothing changes then.
    pub fn trip_breaker(
        &self,
        name: &InterpreterName,
        digest: &Digest,
        why: &str,
    ) -> Result<Outcome, Refusal> {
        self.change(name, CatalogAction::Breaker, None, |entry| {
            let Rollback { from, to } = roll_back(entry, digest, why)?;
            let (source, to) = to;
            let lower = if source == from.0 {
                String::new()
            } else {
                format!(" from {source}")
            };
            let detail = format!("{why}; rolled back to {}{lower}", to.version);
            Ok((Some(from.1), detail))
        })
    }
}

/// Rolls back the version with this digest.
fn roll_back(entry: &mut Entry, digest: &Digest, why: &str) -> Result<Rollback, Refusal> {
    entry.live(digest)?;
    let rollback = entry.roll_back(why);
    rollback
        .ok_or_else(|| Refusal::Conflict("there is no other version to roll back to".to_owned()))
}

fn why(faulting: &Faulting) -> String {
    let Faulting { calls, faults, .. } = faulting;
    match faulting.counted {
        Counted::Inputs => format!("{faults} of its last {calls} calls ended in a fault"),
        Counted::Objects => {
            format!("its calls for {faults} of the last {calls} objects ended in a fault")
        }
    }
}
