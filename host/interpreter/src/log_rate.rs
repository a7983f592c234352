//! The rate of the log lines with one cause: an interpreter, or a client whose requests are
//! rejected.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use kindsight_model::InterpretedBy;

use crate::limits::LOG_SPAN;

/// Counts the lines of one cause in each [`LOG_SPAN`], and drops the lines above a maximum.
#[derive(Debug, Default)]
pub struct LogRate(Mutex<Span>);

#[derive(Debug, Default)]
struct Span {
    begin: Option<Instant>,
    lines: u32,
    dropped: u64,
}

impl LogRate {
    /// Returns whether another line may be written, if `max` lines are permitted in a span. First
    /// logs how many lines of the previous span were dropped.
    pub(crate) fn take(&self, max: u32, by: &InterpretedBy) -> bool {
        let (is_written, dropped) = self.count(max, Instant::now());
        log_dropped(dropped, by);
        is_written
    }

    /// Logs how many lines of a completed span were dropped, if no line has followed it.
    pub(crate) fn flush(&self, now: Instant, by: &InterpretedBy) {
        let mut span = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = span.ended(now);
        drop(span);
        log_dropped(dropped, by);
    }

    /// Returns whether another line may be written, if `max` lines are permitted in a span, and how
    /// many lines of the previous span were dropped.
    pub fn count(&self, max: u32, now: Instant) -> (bool, u64) {
        let mut span = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = span.ended(now);
        span.begin.get_or_insert(now);
        let is_written = span.lines < max;
        if is_written {
            span.lines += 1;
        } else {
            span.dropped += 1;
        }
        (is_written, dropped)
    }
}

impl Span {
    /// Resets the span if it has ended. Returns the number of its dropped lines.
    fn ended(&mut self, now: Instant) -> u64 {
        let is_over = |begin| now.saturating_duration_since(begin) >= LOG_SPAN;
        if self.begin.is_some_and(is_over) {
            std::mem::take(self).dropped
        } else {
            0
        }
    }
}

fn log_dropped(dropped: u64, by: &InterpretedBy) {
    if dropped > 0 {
        let (name, digest) = (by.name.as_str(), by.digest.as_str());
        tracing::warn!(
            interpreter.name = name,
            digest,
            "{dropped} lines about this interpreter were dropped: too many in {} s",
            LOG_SPAN.as_secs()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_above_the_rate_are_dropped_and_counted() {
        let (rate, start) = (LogRate::default(), Instant::now());
        let written = |now| (0..50).filter(|_| rate.count(20, now).0).count();
        assert_eq!(written(start), 20);
        assert_eq!(written(start + LOG_SPAN / 2), 0);
        let later = start + LOG_SPAN;
        assert_eq!(
            rate.count(20, later),
            (true, 80),
            "the previous span is reported"
        );
        assert_eq!(written(later), 19);
        assert_eq!(rate.count(20, later + LOG_SPAN).1, 31);
        let quiet = later + LOG_SPAN * 2;
        assert_eq!(rate.count(20, quiet), (true, 0));
    }
}
