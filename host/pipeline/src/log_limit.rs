//! A limit on log lines whose number others decide.

/// Time between two lines, in milliseconds.
const LOG_EVERY_MS: i64 = 60_000;

/// Counts events for a log line that is written at once, and then at most once a minute with the number of
/// events since the last line.
#[derive(Debug, Default)]
pub(crate) struct LogLimit {
    /// Events since the last line.
    events: usize,
    logged_ms: Option<i64>,
}

impl LogLimit {
    /// Counts events.
    pub(crate) fn count(&mut self, events: usize) {
        self.events = self.events.saturating_add(events);
    }

    /// The time at which a line is due, in Unix milliseconds; none if there is nothing to log.
    pub(crate) fn due_ms(&self) -> Option<i64> {
        let next_ms = self.logged_ms.map(|at| at.saturating_add(LOG_EVERY_MS));
        (self.events > 0).then_some(next_ms.unwrap_or(i64::MIN))
    }

    /// The number of events since the last line, if a line is due.
    pub(crate) fn take(&mut self, now_ms: i64) -> Option<usize> {
        if self.due_ms()? > now_ms {
            return None;
        }
        self.logged_ms = Some(now_ms);
        Some(std::mem::take(&mut self.events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_event_is_logged_at_once_and_others_once_a_minute() {
        let mut limit = LogLimit::default();
        assert_eq!(limit.take(0), None);
        limit.count(1);
        assert_eq!(limit.take(1000), Some(1));
        limit.count(2);
        limit.count(3);
        assert_eq!(limit.take(60_999), None);
        assert_eq!(limit.due_ms(), Some(61_000));
        assert_eq!(limit.take(61_000), Some(5));
        assert_eq!(limit.due_ms(), None);
    }
}
