//! Statistics of the calls of one interpreter: counts, faults, latency and memory.
//!
//! Only workers write. A call costs one or two additions to counters that the workers share and, at
//! every few calls, two readings of the clock.

mod failures;
mod histogram;
mod recent;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kindsight_model::{InterpretedBy, Object};

use crate::failed_input::FailedInput;
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::log_rate::LogRate;
use crate::stats::failures::Failures;
use crate::stats::histogram::Histogram;
use crate::stats::recent::Window;

pub use histogram::{Latency, TimedCalls};
pub use recent::Recent;

/// Number of first calls that are all timed, so that a rarely called interpreter has figures too.
const TIMED_FIRST: u64 = 1024;
/// Interval of timed calls among the later calls. Two readings of the clock take about 60 ns, more
/// than a hundredth of a short call.
const TIMED_EACH: u64 = 8;

/// Counts the calls of one interpreter with one set of settings while it is live. Objects that were
/// sent with a request do not count, so only clusters can influence the counts.
///
/// All workers share it. A call without a fault takes no lock.
#[derive(Default)]
pub struct CallStats {
    calls: AtomicU64,
    remembered: AtomicU64,
    invalid_inputs: AtomicU64,
    memory_high_water_bytes: AtomicU64,
    instances: AtomicU64,
    log_lines_dropped: AtomicU64,
    latency: Histogram,
    /// Locked only when a call ends in a fault. The loss of the instance costs far more.
    faults: Mutex<BTreeMap<&'static str, u64>>,
    window: Window,
    failures: Failures,
    /// The rate of the lines that the interpreter logs.
    pub(crate) guest_lines: LogRate,
    /// The rate of the lines about its faults.
    pub(crate) fault_lines: LogRate,
}

/// A snapshot of a [`CallStats`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSnapshot {
    /// Number of calls of the component, including the running ones. An answer from the memo is not
    /// a call.
    pub calls: u64,
    /// Number of answers from the memo.
    pub remembered: u64,
    /// Number of calls that ended in a fault, by [`Fault::reason`].
    pub faults: BTreeMap<&'static str, u64>,
    /// Number of calls that ended in [`Fault::InvalidObject`] or [`Fault::InvalidSettings`]. These
    /// are not faults of the interpreter, and do not count in `faults`.
    pub invalid_inputs: u64,
    /// Latency of calls, including the time for making an instance if needed.
    pub latency: Latency,
    /// The largest memory of an instance after a call, in bytes.
    pub memory_high_water_bytes: u64,
    /// Number of existing instances in all workers.
    pub instances: u64,
    /// Number of lines above a limit, in a call or in a span, which were dropped. Calls of requests
    /// count too.
    pub log_lines_dropped: u64,
}

impl CallSnapshot {
    /// Number of calls that ended in any fault.
    pub fn faults_total(&self) -> u64 {
        total(&self.faults)
    }
}

/// A running call.
#[must_use = "pass it to `CallStats::end`"]
pub(crate) struct Begun(Option<Instant>);

impl CallStats {
    /// Statistics that begin with the number of log lines that were dropped when the interpreter
    /// was loaded.
    pub(crate) fn of(interpreter: &Interpreter) -> Self {
        Self {
            log_lines_dropped: AtomicU64::new(interpreter.log_lines_dropped()),
            ..Self::default()
        }
    }

    /// Reads all counters, some hundred: for reports to users, not for each call.
    pub fn snapshot(&self) -> CallSnapshot {
        // Calls count when they begin. They are read after the faults, so they are never fewer than
        // the faults.
        let faults = self.faults().clone();
        CallSnapshot {
            faults,
            calls: self.calls.load(Ordering::Relaxed),
            remembered: self.remembered.load(Ordering::Relaxed),
            invalid_inputs: self.invalid_inputs.load(Ordering::Relaxed),
            latency: self.latency.read(),
            memory_high_water_bytes: self.memory_high_water_bytes.load(Ordering::Relaxed),
            instances: self.instances.load(Ordering::Relaxed),
            log_lines_dropped: self.log_lines_dropped.load(Ordering::Relaxed),
        }
    }

    /// The timed calls in wide buckets, for metrics. Never blocks.
    pub fn timed_calls(&self) -> TimedCalls {
        self.latency.timed_calls()
    }

    /// Calls and faults of about the last minute, for a circuit breaker.
    ///
    /// Calls themselves record no times. Instead, each reading stores a mark with the totals, at
    /// most every ten seconds, and returns the increase since the newest mark that is a minute old.
    /// If it is read every ten seconds or more often, the result covers 60 to 70 seconds, or less
    /// if counting began later. If it is read less often, the result covers the time since the last
    /// reading.
    ///
    /// Each input counts once: a call that fails with an input that already failed within the last
    /// minute is in neither count. This corresponds to calls that succeed, which are not repeated
    /// because the memo answers. If a cluster sends the same report each second, each bad object
    /// therefore counts as one fault, and the counts refer to different inputs.
    ///
    /// Objects are counted too, because the objects of an interpreter that requests few fields have
    /// few different inputs: each object for which calls failed counts once, and each answer of a
    /// call or of the memo counts as an object that did not fail.
    ///
    /// `now` must not decrease from one reading to the next. If it does, no mark is stored.
    pub fn recent(&self, now: Instant) -> Recent {
        self.failures.forget(now);
        let repeated = self.failures.repeated();
        let faults = total(&self.faults());
        let calls = self.calls.load(Ordering::Relaxed);
        let judged = calls.saturating_add(self.remembered.load(Ordering::Relaxed));
        let totals = Recent {
            calls: calls.saturating_sub(repeated.inputs),
            faults: faults.saturating_sub(repeated.inputs),
            objects: judged.saturating_sub(repeated.objects),
            failed_objects: faults.saturating_sub(repeated.objects),
        };
        self.window.since(now, totals)
    }

    /// Inputs of the last faults, a few of the smallest, to judge them with another version.
    pub fn failed_inputs(&self) -> Vec<FailedInput> {
        self.failures.kept()
    }

    /// Logs how many lines were dropped, if no line has followed them. Called each second.
    pub fn tell_dropped_lines(&self, now: Instant, by: &InterpretedBy) {
        self.guest_lines.flush(now, by);
        self.fault_lines.flush(now, by);
    }

    /// Stores the input of a call for this object that ended in a fault. `input` makes the part that
    /// is stored.
    pub(crate) fn failed(&self, object: &Object, text: &[u8], input: impl FnOnce() -> FailedInput) {
        self.failures.note_object(object);
        if !self.failures.is_repeated(text) {
            self.failures.keep(input());
        }
    }

    /// Number of calls that ended in a fault, or with an object that could not be read.
    pub(crate) fn failures(&self) -> u64 {
        total(&self.faults()) + self.invalid_inputs.load(Ordering::Relaxed)
    }

    /// Counts the beginning of a call.
    pub(crate) fn begin(&self) -> Begun {
        let before = self.calls.fetch_add(1, Ordering::Relaxed);
        let is_timed = before < TIMED_FIRST || before.is_multiple_of(TIMED_EACH);
        Begun(is_timed.then(Instant::now))
    }

    /// Counts the end of a call, with this fault or with an answer.
    pub(crate) fn end(&self, Begun(begun): Begun, fault: Option<&Fault>) {
        if let Some(begun) = begun {
            self.latency.add(begun.elapsed());
        }
        match fault {
            None => {}
            Some(Fault::InvalidObject(_) | Fault::InvalidSettings(_)) => {
                self.invalid_inputs.fetch_add(1, Ordering::Relaxed);
            }
            Some(fault) => *self.faults().entry(fault.reason()).or_default() += 1,
        }
    }

    /// Counts an answer from the memo.
    pub(crate) fn memo_answered(&self) {
        self.remembered.fetch_add(1, Ordering::Relaxed);
    }

    /// Records the memory of an instance after a call, in bytes.
    pub(crate) fn record_memory(&self, bytes: usize) {
        let bytes = bytes as u64;
        // Usually it is no larger than before, and nothing is written.
        if bytes > self.memory_high_water_bytes.load(Ordering::Relaxed) {
            self.memory_high_water_bytes
                .fetch_max(bytes, Ordering::Relaxed);
        }
    }

    /// Counts a new instance.
    pub(crate) fn instance_began(&self) {
        self.instances.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an instance that was dropped.
    pub(crate) fn instance_ended(&self) {
        self.instances.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a line of the interpreter that is not logged.
    pub(crate) fn log_line_dropped(&self) {
        self.log_lines_dropped.fetch_add(1, Ordering::Relaxed);
    }

    fn faults(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn total(faults: &BTreeMap<&'static str, u64>) -> u64 {
    faults.values().copied().fold(0, u64::saturating_add)
}

impl fmt::Debug for CallStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.snapshot().fmt(f)
    }
}

#[cfg(test)]
mod tests;
