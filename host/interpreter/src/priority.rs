//! Gives judging a lower priority than answering queries.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The niceness of threads that judge.
const NICENESS: i32 = 5;

/// Lowers the priority of the calling thread below the priority of threads that answer queries. If
/// processors are busy, queries run first and judging takes a little longer.
///
/// Workers call this function themselves. Call it on other threads that do much work on verdicts.
/// If the system does not permit a thread to lower its priority, nothing changes. It cannot be
/// undone.
pub fn lower_priority() {
    let _ = rustix::process::nice(NICENESS);
}

/// True if a call of this process met an epoch tick since the clock's last check.
static HAS_YIELDED: AtomicBool = AtomicBool::new(false);

/// True if a call of this process began since the clock's last check.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// Notes the begin of a call. The epoch clock then ticks at its usual pace.
pub(crate) fn note_call() {
    // Workers call this function at each call. A read does not take the value away from other processors.
    if !HAS_BEGUN.load(Ordering::Relaxed) {
        HAS_BEGUN.store(true, Ordering::Relaxed);
    }
}

/// Returns whether a call began since the last call of this function. The epoch clock calls it at every tick.
pub(crate) fn take_begun() -> bool {
    HAS_BEGUN.swap(false, Ordering::Relaxed)
}

/// Yields the processor. Every call does this at each epoch tick. The epoch clock then ticks
/// faster, so that long calls yield more often. Most calls complete before their first tick.
pub(crate) fn yield_to_queries() {
    HAS_YIELDED.store(true, Ordering::Relaxed);
    thread::yield_now();
}

/// Returns whether a call yielded since the last call of this function. The epoch clock calls it at
/// every tick.
pub(crate) fn take_yielded() -> bool {
    HAS_YIELDED.swap(false, Ordering::Relaxed)
}
