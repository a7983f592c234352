//! Effort spent on one object, which is bounded: the largest object is judged within the deadline,
//! whatever its shape.
//!
//! One unit is about a byte of text whose words are read, or the look at one part of the status. What
//! comes after the last unit is not read; then nothing speaks for Ready any more (see `lib.rs`).

use std::cell::Cell;

/// Units for one object: some fifty milliseconds, and ten times what the largest status seen in a
/// cluster takes.
const UNITS_MAX: usize = 256 * 1024;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(UNITS_MAX) };
    static IS_SPENT: Cell<bool> = const { Cell::new(false) };
}

/// Begins an object: all units are there.
pub(crate) fn begin() {
    LEFT.set(UNITS_MAX);
    IS_SPENT.set(false);
}

/// Takes so many units; returns whether they were there.
pub(crate) fn spend(units: usize) -> bool {
    let left = LEFT.get().checked_sub(units);
    LEFT.set(left.unwrap_or(0));
    if left.is_none() {
        IS_SPENT.set(true);
    }
    left.is_some()
}

/// Returns whether something of the object was not read.
pub(crate) fn is_spent() -> bool {
    IS_SPENT.get()
}
