//! The clock.

/// The time now, in Unix milliseconds: the one place where the product reads the clock, but for a store that is away,
/// which tells since when.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
