//! The effort that is spent on one object. It is bounded, so that the largest object of any shape
//! is judged within the deadline.
//!
//! One unit is about one byte of text whose words are read, or one part of the status. Parts after
//! the last unit are not read. The verdict is then never Ready (see `lib.rs`).

use std::cell::Cell;

/// Units for one object: about fifty milliseconds, and ten times the effort for the largest status
/// that was seen in a cluster.
const UNITS_MAX: usize = 256 * 1024;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(UNITS_MAX) };
    static IS_SPENT: Cell<bool> = const { Cell::new(false) };
}

/// Begins an object, with all units available.
pub(crate) fn begin() {
    LEFT.set(UNITS_MAX);
    IS_SPENT.set(false);
}

/// Uses this number of units. Returns whether they were available.
pub(crate) fn spend(units: usize) -> bool {
    let left = LEFT.get().checked_sub(units);
    LEFT.set(left.unwrap_or(0));
    if left.is_none() {
        IS_SPENT.set(true);
    }
    left.is_some()
}

/// Returns whether a part of the object was not read.
pub(crate) fn is_spent() -> bool {
    IS_SPENT.get()
}
