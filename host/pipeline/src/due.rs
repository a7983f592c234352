//! Times at which verdicts are due for the recheck that their interpreters requested.

use std::collections::{BTreeSet, HashMap};

use kindsight_model::Verdict;

/// The shortest time from a verdict to its recheck, in milliseconds. Without this limit, an interpreter that requests
/// a time in the past would be called without a pause.
pub(crate) const RECHECK_MIN_MS: i64 = 1000;

/// The longest time from a verdict to its recheck, in milliseconds: a day. One recheck a day costs nothing,
/// and a time in thousands of years is a mistake.
pub(crate) const RECHECK_MAX_MS: i64 = 24 * 60 * 60 * 1000;

/// Maximum number of objects of a round that are evaluated at a time. That takes half a millisecond with an honest
/// interpreter, and some seconds with one that uses its entire deadline, on one worker of the engine.
pub(crate) const RECHECK_PART_OBJECTS: usize = 64;

/// The time after which a round ends, in milliseconds: events do not wait for longer.
const RECHECK_ROUND_MS: i64 = 50;

/// The pause after a round, as a multiple of its duration. Rechecks therefore get a tenth of the pipeline's time
/// and of one worker, regardless of the number of objects.
const RECHECK_PAUSE_FACTOR: i64 = 9;

/// The objects of one report with a recheck time, by time and position.
#[derive(Debug, Default)]
pub(crate) struct Due {
    by_time: BTreeSet<(i64, usize)>,
    /// The time of each position.
    times: HashMap<usize, i64>,
}

impl Due {
    /// The times that these verdicts of `now_ms` request.
    pub(crate) fn of(verdicts: &[Verdict], now_ms: i64) -> Self {
        let mut due = Self::default();
        for (at, verdict) in verdicts.iter().enumerate() {
            due.set(at, verdict, now_ms);
        }
        due
    }

    /// Sets the time that the verdict of `now_ms` on the object at this position asks for. An earlier time of the
    /// object is dropped.
    pub(crate) fn set(&mut self, at: usize, verdict: &Verdict, now_ms: i64) {
        if let Some(before) = self.times.remove(&at) {
            self.by_time.remove(&(before, at));
        }
        let first = now_ms.saturating_add(RECHECK_MIN_MS);
        let last = now_ms.saturating_add(RECHECK_MAX_MS);
        let time = verdict.recheck_at_ms.map(|time| time.clamp(first, last));
        if let Some(time) = time {
            self.by_time.insert((time, at));
            self.times.insert(at, time);
        }
    }

    /// The time of the next recheck, in Unix milliseconds.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// Takes the positions of objects that are due, at most [`RECHECK_PART_OBJECTS`].
    pub(crate) fn take(&mut self, now_ms: i64) -> Vec<usize> {
        let mut taken = Vec::new();
        while taken.len() < RECHECK_PART_OBJECTS
            && let Some(first) = self.by_time.first().copied()
            && first.0 <= now_ms
        {
            self.by_time.remove(&first);
            self.times.remove(&first.1);
            taken.push(first.1);
        }
        taken
    }
}

/// A round of rechecks, and the pause after it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rounds {
    ended_ms: i64,
    pause_ms: i64,
}

impl Rounds {
    /// The time at which the next round may begin; none if it may now.
    pub(crate) fn waits_until(self, now_ms: i64) -> Option<i64> {
        let next = self.ended_ms.saturating_add(self.pause_ms);
        // A clock that was set back must not make it wait for longer.
        (self.ended_ms..next).contains(&now_ms).then_some(next)
    }

    /// Notes that a round ended.
    pub(crate) fn ended(&mut self, began_ms: i64, now_ms: i64) {
        let took_ms = now_ms.saturating_sub(began_ms).max(0);
        self.ended_ms = now_ms;
        self.pause_ms = took_ms.saturating_mul(RECHECK_PAUSE_FACTOR);
    }
}

/// Returns whether a round is over.
pub(crate) fn is_over(began_ms: i64, now_ms: i64) -> bool {
    now_ms.saturating_sub(began_ms) >= RECHECK_ROUND_MS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(recheck_at_ms: Option<i64>) -> Verdict {
        Verdict {
            recheck_at_ms,
            ..Verdict::not_present()
        }
    }

    #[test]
    fn a_recheck_is_a_second_to_a_day_ahead_whatever_is_asked_for() {
        for now_ms in [i64::MIN, 0, 1_700_000_000_000, i64::MAX] {
            let (min, max) = (
                now_ms.saturating_add(1000),
                now_ms.saturating_add(86_400_000),
            );
            for (asked, expected) in [
                (i64::MIN, min),
                (now_ms, min),
                (now_ms.saturating_add(5000), now_ms.saturating_add(5000)),
                (i64::MAX, max),
            ] {
                let due = Due::of(&[asks(Some(asked))], now_ms);
                assert_eq!(due.next_ms(), Some(expected), "{asked} at {now_ms}");
            }
        }
        assert_eq!(Due::of(&[asks(None)], 0).next_ms(), None);
    }

    #[test]
    fn only_what_asked_and_is_due_is_taken_in_parts() {
        let verdicts: Vec<Verdict> = (0..200)
            .map(|at| asks((at % 2 == 0).then_some(2000 + at)))
            .collect();
        let mut due = Due::of(&verdicts, 0);
        assert_eq!(due.take(1999), [0_usize; 0]);
        assert_eq!(due.take(2003), [0, 2]);
        assert_eq!(due.take(9000).len(), RECHECK_PART_OBJECTS);
        assert_eq!(due.take(9000).len(), 100 - 2 - RECHECK_PART_OBJECTS);
        assert_eq!(due.next_ms(), None);
    }

    #[test]
    fn rounds_get_a_tenth_of_the_time() {
        let mut rounds = Rounds::default();
        assert_eq!(rounds.waits_until(5000), None);
        rounds.ended(5000, 5060);
        assert_eq!(rounds.waits_until(5060), Some(5600));
        assert_eq!(rounds.waits_until(5599), Some(5600));
        assert_eq!(rounds.waits_until(5600), None);
        assert_eq!(rounds.waits_until(4000), None, "the clock was set back");
        rounds.ended(i64::MIN, i64::MAX);
        assert_eq!(rounds.waits_until(0), None);
    }
}
