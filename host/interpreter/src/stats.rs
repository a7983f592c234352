//! Statistics of the calls of one interpreter: counts, faults, latency and memory.
//!
//! Only workers write. A call costs one or two additions to counters that the workers share, and
//! every few calls two readings of the clock.

mod failures;
mod histogram;
mod recent;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use kindsight_model::InterpretedBy;

use crate::failed_input::FailedInput;
use crate::fault::Fault;
use crate::interpreter::Interpreter;
use crate::log_rate::LogRate;
use crate::stats::failures::Failures;
use crate::stats::histogram::Histogram;
use crate::stats::recent::Window;

pub use histogram::Latency;
pub use recent::Recent;

/// The first calls are all timed, so that an interpreter that is seldom called has figures too.
const TIMED_FIRST: u64 = 1024;
/// Of the later calls one in this many is timed. Two readings of the clock take some 60 ns, more
/// than a hundredth of a short call.
const TIMED_EACH: u64 = 8;

/// Counts the calls of one interpreter with one set of settings, for as long as it is live. Objects
/// that were sent with a request do not count: nobody but clusters can shape what is counted here.
///
/// Shared by all workers. A call that ends well takes no lock.
#[derive(Default)]
pub struct CallStats {
    calls: AtomicU64,
    remembered: AtomicU64,
    invalid_inputs: AtomicU64,
    memory_high_water_bytes: AtomicU64,
    instances: AtomicU64,
    log_lines_dropped: AtomicU64,
    latency: Histogram,
    /// Locked only when a call ends in a fault; the lost instance costs far more.
    faults: Mutex<BTreeMap<&'static str, u64>>,
    window: Window,
    failures: Failures,
    /// Rate of the lines it logs itself.
    pub(crate) guest_lines: LogRate,
    /// Rate of the lines about its faults.
    pub(crate) fault_lines: LogRate,
}

/// Snapshot of a [`CallStats`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSnapshot {
    /// Calls of the component, including those that are running. An answer from the memo is no
    /// call.
    pub calls: u64,
    /// Answers from the memo.
    pub remembered: u64,
    /// Calls that ended in a fault, by [`Fault::reason`].
    pub faults: BTreeMap<&'static str, u64>,
    /// Calls that ended in [`Fault::InvalidObject`] or [`Fault::InvalidSettings`]: no fault of the interpreter, and not in
    /// `faults`.
    pub invalid_inputs: u64,
    /// Latency of calls, including instantiation where there was no instance.
    pub latency: Latency,
    /// The most memory an instance held after a call, in bytes.
    pub memory_high_water_bytes: u64,
    /// Instances that exist now, in all workers.
    pub instances: u64,
    /// Lines it logged above a limit, in a call or in a span: they are in no log. Calls for requests are
    /// among them.
    pub log_lines_dropped: u64,
}

impl CallSnapshot {
    /// Calls that ended in any fault.
    pub fn faults_total(&self) -> u64 {
        total(&self.faults)
    }
}

/// A call that is running.
#[must_use = "pass it to `CallStats::end`"]
pub(crate) struct Begun(Option<Instant>);

impl CallStats {
    /// Statistics that begin with the log lines that were dropped when the interpreter was loaded.
    pub(crate) fn of(interpreter: &Interpreter) -> Self {
        Self {
            log_lines_dropped: AtomicU64::new(interpreter.log_lines_dropped()),
            ..Self::default()
        }
    }

    /// Reads all counters, some hundred: for reports to users, not for each call.
    pub fn snapshot(&self) -> CallSnapshot {
        // Calls are counted when they begin: read after the faults, they are never fewer.
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

    /// Calls and faults of about the last minute, for a circuit breaker.
    ///
    /// Calls themselves record no times. Instead each reading stores a mark with the totals, at
    /// most every ten seconds, and returns what was added since the newest mark that is a minute
    /// old. Read every ten seconds or more often: then it covers 60 to 70 seconds, or less if
    /// counting began later. Read less often, it covers the time since the last reading.
    ///
    /// Each input counts once: a call that fails with an input that failed within the last minute is
    /// in neither count, as one that succeeds is not made again (the memo answers). So a cluster that
    /// sends the same report each second makes one fault of each bad object, and the counts are of
    /// different inputs.
    ///
    /// `now` must not go back from one reading to the next; if it does, no mark is stored.
    pub fn recent(&self, now: Instant) -> Recent {
        self.failures.forget(now);
        let repeated = self.failures.repeated();
        let faults = total(&self.faults()).saturating_sub(repeated);
        let calls = self.calls.load(Ordering::Relaxed);
        let calls = calls.saturating_sub(repeated);
        self.window.since(now, Recent { calls, faults })
    }

    /// Inputs of the last faults, a few of the smallest: to judge them by another version.
    pub fn failed_inputs(&self) -> Vec<FailedInput> {
        self.failures.kept()
    }

    /// Tells the log how many lines were dropped, where none has come since. Called each second.
    pub fn tell_dropped_lines(&self, now: Instant, by: &InterpretedBy) {
        self.guest_lines.flush(now, by);
        self.fault_lines.flush(now, by);
    }

    /// Remembers the input of a call that ended in a fault; `input` makes what is kept of it.
    pub(crate) fn failed(&self, text: &[u8], input: impl FnOnce() -> Option<FailedInput>) {
        if !self.failures.is_repeated(text)
            && let Some(input) = input()
        {
            self.failures.keep(input);
        }
    }

    /// Calls that ended in a fault, or with an object that could not be read.
    pub(crate) fn failures(&self) -> u64 {
        total(&self.faults()) + self.invalid_inputs.load(Ordering::Relaxed)
    }

    /// Counts the begin of a call.
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
        // Mostly it is no more than before; then nothing is written.
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

    /// Counts a line of its own that is not logged.
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
