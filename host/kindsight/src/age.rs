//! Ages in tables.

use jiff::Timestamp;

/// The age of `time` at `now_ms` (Unix milliseconds); empty without a time.
pub(crate) fn age(time: Option<Timestamp>, now_ms: i64) -> String {
    time.map_or_else(String::new, |time| span(now_ms - time.as_millisecond()))
}

/// A time span in one unit, as `kubectl` rounds it.
pub(crate) fn span(span_ms: i64) -> String {
    let seconds = (span_ms / 1000).max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 120 => format!("{minutes}m"),
        () if hours < 48 => format!("{hours}h"),
        () => format!("{days}d"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        for (seconds, expected) in [
            (-5, "0s"),
            (59, "59s"),
            (119, "119s"),
            (150, "2m"),
            (7200, "2h"),
            (200_000, "2d"),
        ] {
            assert_eq!(span(seconds * 1000), expected);
        }
    }
}
