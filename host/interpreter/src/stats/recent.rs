//! Counts of the last minute, from counters that only increase.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The length of the window.
const WINDOW: Duration = Duration::from_mins(1);
/// The minimum time between two marks, so that there are never more than eight.
const MARK_EACH: Duration = Duration::from_secs(10);

/// Calls and faults in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recent {
    /// Number of calls that began.
    pub calls: u64,
    /// Number of calls that ended in a fault.
    pub faults: u64,
    /// Number of judged objects. An object whose calls failed counts once.
    pub objects: u64,
    /// Number of objects whose calls ended in a fault.
    pub failed_objects: u64,
}

/// Marks in time, each with the totals at that moment. Only readers lock it, never a call.
#[derive(Default)]
pub(super) struct Window {
    marks: Mutex<VecDeque<(Instant, Recent)>>,
}

impl Window {
    /// Returns the increase of the totals since the newest mark that is at least as old as the
    /// window, or since the beginning if there is no such mark.
    pub(super) fn since(&self, now: Instant, totals: Recent) -> Recent {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let age = |(at, _): &(Instant, Recent)| now.saturating_duration_since(*at);
        while marks.get(1).is_some_and(|second| age(second) >= WINDOW) {
            marks.pop_front();
        }
        let oldest = marks.front().filter(|oldest| age(oldest) >= WINDOW);
        let (_, base) = oldest.copied().unwrap_or((now, Recent::default()));
        if marks.back().is_none_or(|newest| age(newest) >= MARK_EACH) {
            marks.push_back((now, totals));
        }
        Recent {
            calls: totals.calls.saturating_sub(base.calls),
            faults: totals.faults.saturating_sub(base.faults),
            objects: totals.objects.saturating_sub(base.objects),
            failed_objects: totals.failed_objects.saturating_sub(base.failed_objects),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(calls: u64, faults: u64) -> Recent {
        Recent {
            calls,
            faults,
            ..Recent::default()
        }
    }

    #[test]
    fn counts_older_than_a_minute_are_left_out() {
        let (window, start) = (Window::default(), Instant::now());
        let mut seen = Vec::new();
        // Ten calls and one fault per second for two minutes, then no calls.
        for second in 0..=240 {
            let worked = second.min(120);
            let now = start + Duration::from_secs(second);
            seen.push(window.since(now, totals(worked * 10, worked)));
        }
        assert_eq!(seen[0], totals(0, 0));
        assert_eq!(seen[30], totals(300, 30));
        for recent in &seen[70..=120] {
            assert!((600..700).contains(&recent.calls), "{recent:?}");
            assert_eq!(recent.calls, recent.faults * 10);
        }
        assert_eq!(seen[190], totals(0, 0));
        assert_eq!(seen[240], totals(0, 0));
        assert!(window.marks.lock().expect("marks").len() <= 8);
    }

    #[test]
    fn objects_are_counted_in_the_same_window() {
        let (window, start) = (Window::default(), Instant::now());
        let of = |objects, failed_objects| Recent {
            objects,
            failed_objects,
            ..Recent::default()
        };
        assert_eq!(window.since(start, of(31, 30)), of(31, 30));
        let later = start + Duration::from_mins(2);
        assert_eq!(window.since(later, of(41, 30)), of(10, 0));
    }

    #[test]
    fn after_a_long_pause_the_counts_cover_the_time_since_the_last_reading() {
        let (window, start) = (Window::default(), Instant::now());
        assert_eq!(window.since(start, totals(5, 1)), totals(5, 1));
        let later = start + Duration::from_mins(10);
        assert_eq!(window.since(later, totals(105, 3)), totals(100, 2));
        let later = later + Duration::from_mins(10);
        assert_eq!(window.since(later, totals(105, 3)), totals(0, 0));
    }

    #[test]
    fn a_clock_that_runs_backwards_does_no_harm() {
        let (window, start) = (Window::default(), Instant::now());
        let later = start + Duration::from_mins(1);
        assert_eq!(window.since(later, totals(5, 0)), totals(5, 0));
        assert_eq!(window.since(start, totals(6, 0)), totals(6, 0));
        assert_eq!(window.since(start, totals(0, 0)), totals(0, 0));
        assert_eq!(window.marks.lock().expect("marks").len(), 1);
    }
}
