//! Priority of judging behind those who answer queries.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The niceness of threads that judge.
const NICENESS: i32 = 5;

/// Lowers the priority of the calling thread below that of threads that answer queries: where
/// processors are short a query comes first, and judging is behind by a moment.
///
/// Workers do it by themselves; it is for other threads that do as much with verdicts. Where the
/// system does not let a thread lower its priority nothing changes. It cannot be taken back.
pub fn lower_priority() {
    let _ = rustix::process::nice(NICENESS);
}

/// Whether a call of this process met an epoch tick since the clock last looked.
static IS_LATE: AtomicBool = AtomicBool::new(false);

/// Yields the processor; a call does so at every epoch tick it meets. Has the epoch clock tick faster,
/// so that queries have their turn again soon: most calls are over before they meet a tick.
pub(crate) fn yield_to_queries() {
    IS_LATE.store(true, Ordering::Relaxed);
    thread::yield_now();
}

/// Whether a call yielded since this was last asked; the epoch clock asks at every tick.
pub(crate) fn take_late() -> bool {
    IS_LATE.swap(false, Ordering::Relaxed)
}
