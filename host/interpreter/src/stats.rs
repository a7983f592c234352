//! Statistics of the calls of one interpreter: counts, faults, latency and memory.
//!
//! Only workers write. A call costs one or two additions to counters that the workers share, and
//! every few calls two readings of the clock.

mod histogram;
mod recent;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::fault::Fault;
use crate::stats::histogram::Histogram;
use crate::stats::recent::Window;

pub use histogram::Latency;
pub use recent::Recent;

/// The first calls are all timed, so that an interpreter that is seldom called has figures too.
const TIMED_FIRST: u64 = 1024;
/// Of the later calls one in this many is timed. Two readings of the clock take some 60 ns, more
/// than a hundredth of a short call.
const TIMED_EACH: u64 = 8;

/// Counts the calls of one interpreter with one set of settings, for as long as it is live.
///
/// Shared by all workers. A call that ends well takes no lock.
#[derive(Default)]
pub struct CallStats {
    calls: AtomicU64,
    remembered: AtomicU64,
    invalid_inputs: AtomicU64,
    memory_high_water_bytes: AtomicU64,
    instances: AtomicU64,
    latency: Histogram,
    /// Locked only when a call ends in a fault; the lost instance costs far more.
    faults: Mutex<BTreeMap<&'static str, u64>>,
    window: Window,
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
    /// Calls that ended in [`Fault::InvalidInput`]: no fault of the interpreter, and not in
    /// `faults`.
    pub invalid_inputs: u64,
    /// Latency of calls, including instantiation where there was no instance.
    pub latency: Latency,
    /// The most memory an instance held after a call, in bytes.
    pub memory_high_water_bytes: u64,
    /// Instances that exist now, in all workers.
    pub instances: u64,
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
        }
    }

    /// Calls and faults of about the last minute, for a circuit breaker.
    ///
    /// Calls themselves record no times. Instead each reading stores a mark with the totals, at
    /// most every ten seconds, and returns what was added since the newest mark that is a minute
    /// old. Read every ten seconds or more often: then it covers 60 to 70 seconds, or less if
    /// counting began later. Read less often, it covers the time since the last reading.
    ///
    /// `now` must not go back from one reading to the next; if it does, no mark is stored.
    pub fn recent(&self, now: Instant) -> Recent {
        let faults = total(&self.faults());
        let calls = self.calls.load(Ordering::Relaxed);
        self.window.since(now, Recent { calls, faults })
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
            Some(Fault::InvalidInput(_)) => {
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
