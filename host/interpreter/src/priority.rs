//! Lower priority of judging than of answering queries.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The niceness of threads that judge.
const NICENESS: i32 = 5;

/// Lowers the priority of the calling thread below that of threads that answer queries: where
/// processors are short, queries go first and judging takes a little longer.
///
/// Workers call it themselves; it is for other threads that do much work on verdicts. Where the
/// system does not let a thread lower its priority, nothing changes. It cannot be undone.
pub fn lower_priority() {
    let _ = rustix::process::nice(NICENESS);
}

/// True if a call of this process met an epoch tick since the clock last looked.
static HAS_YIELDED: AtomicBool = AtomicBool::new(false);

/// Yields the processor; every call does so at each epoch tick it meets. It makes the epoch clock
/// tick faster, so that long calls yield more often; most calls are over before they meet a tick.
pub(crate) fn yield_to_queries() {
    HAS_YIELDED.store(true, Ordering::Relaxed);
    thread::yield_now();
}

/// Returns whether a call yielded since the last call of this function; the epoch clock calls it at
/// every tick.
pub(crate) fn take_yielded() -> bool {
    HAS_YIELDED.swap(false, Ordering::Relaxed)
}
