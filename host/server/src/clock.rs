//! The clock.

/// The time now, in Unix milliseconds: the one place where the product reads the clock.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
