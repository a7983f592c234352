//! Times in answers.

use jiff::Timestamp;

/// A time in Unix milliseconds as a timestamp; `None` outside the years -9999 to 9999.
pub(crate) fn moment(unix_ms: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(unix_ms).ok()
}
