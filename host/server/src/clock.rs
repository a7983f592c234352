//! The clock.

/// The current time, in Unix milliseconds. Only this function reads the clock, except for the time at which a store
/// became unreachable.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
