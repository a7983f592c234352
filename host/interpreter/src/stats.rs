//! What calls of one interpreter cost, and how they end.
//!
//! Workers count as they call, and everybody else reads: a call costs one or two additions to
//! counters that the workers share, and every few calls two looks at the clock.

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
/// Of the later calls one in so many is timed. Two looks at the clock take some 60 ns, more than a
/// hundredth of a short call.
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
    /// Locked when a call ends badly: an instance was thrown away then, which costs far more.
    faults: Mutex<BTreeMap<&'static str, u64>>,
    window: Window,
}

/// What a [`CallStats`] had counted when it was asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSnapshot {
    /// Calls of the component, those that are running included. What the memo knew is no call.
    pub calls: u64,
    /// Answers that came from the memo.
    pub remembered: u64,
    /// Calls that ended in a fault, by [`Fault::reason`].
    pub faults: BTreeMap<&'static str, u64>,
    /// Calls that ended in [`Fault::InvalidInput`]: no fault of the interpreter, and not in `faults`.
    pub invalid_inputs: u64,
    /// How long calls took, the making of an instance included where there was none.
    pub latency: Latency,
    /// The most memory an instance held after a call, in bytes.
    pub memory_high_water_bytes: u64,
    /// Instances there are now, in all workers.
    pub instances: u64,
}

impl CallSnapshot {
    /// Calls that ended in a fault, whichever.
    pub fn faults_total(&self) -> u64 {
        total(&self.faults)
    }
}

/// A call that was begun.
#[must_use = "a call that began has an end"]
pub(crate) struct Begun(Option<Instant>);

impl CallStats {
    /// What was counted so far. Reads some hundred counters: for people who ask, not for each call.
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

    /// Calls and faults of about the last minute: what a breaker decides by.
    ///
    /// Nothing is kept by the second while calls run; instead each question lays down what was
    /// counted by then, at most every ten seconds, and is answered with what came since the mark that
    /// is a minute old. So ask every ten seconds or oftener: then it is 60 to 70 seconds, or less if
    /// counting began later. Who asks seldom is told of the time since he last asked.
    ///
    /// `now` must not go back from one question to the next; if it does, no mark is laid.
    pub fn recent(&self, now: Instant) -> Recent {
        let faults = total(&self.faults());
        let calls = self.calls.load(Ordering::Relaxed);
        self.window.since(now, Recent { calls, faults })
    }

    /// A call begins.
    pub(crate) fn begin(&self) -> Begun {
        let before = self.calls.fetch_add(1, Ordering::Relaxed);
        let is_timed = before < TIMED_FIRST || before.is_multiple_of(TIMED_EACH);
        Begun(is_timed.then(Instant::now))
    }

    /// It ended, with this fault or with an answer.
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

    /// The memo knew the answer.
    pub(crate) fn remembered(&self) {
        self.remembered.fetch_add(1, Ordering::Relaxed);
    }

    /// An instance holds so much memory after a call.
    pub(crate) fn holds(&self, bytes: usize) {
        let bytes = bytes as u64;
        // Mostly it is no more than before, and then nothing is written.
        if bytes > self.memory_high_water_bytes.load(Ordering::Relaxed) {
            self.memory_high_water_bytes
                .fetch_max(bytes, Ordering::Relaxed);
        }
    }

    /// An instance was made.
    pub(crate) fn instance_began(&self) {
        self.instances.fetch_add(1, Ordering::Relaxed);
    }

    /// An instance that was made is gone.
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
