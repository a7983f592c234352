//! Runs that were due and did not start.

use kindsight_sdk::prelude::*;

use super::runs::Runs;
use crate::schedule::Schedule;

/// The fields of a CronJob that [`Overdue::of`] reads in addition to its runs.
pub(super) const FIELDS: [&str; 5] = [
    "/metadata/creationTimestamp",
    "/spec/concurrencyPolicy",
    "/spec/schedule",
    "/spec/startingDeadlineSeconds",
    "/spec/timeZone",
];

/// The number of missed or skipped runs in sequence that make a CronJob Degraded. A controller that
/// restarts at the wrong moment misses a single run, and a run that takes a little longer than usual
/// blocks a single one.
const MISSED: usize = 2;

/// The time after which a due run should have started and been reported. The controller itself takes
/// a few seconds.
const START_GRACE_MS: i64 = 120_000;

/// The deadline for a new run. A CronJob without one at that time is Degraded.
pub(super) struct Overdue<'a> {
    deadline_ms: Option<i64>,
    /// The Job that forbids other runs, if one does.
    blocked_by: Option<&'a str>,
}

impl<'a> Overdue<'a> {
    /// Unknown if the schedule cannot be read, or if the report has no creation time: the API server
    /// always sets it, so such a report is incomplete.
    ///
    /// A run may start until its own deadline (`startingDeadlineSeconds`), and is missed after it. It
    /// is also missed once a later run is due, because the controller starts only the last due run.
    /// If the policy is `Forbid`, a run in progress is the reason why no other run starts.
    pub(super) fn of(object: &Object<'_>, runs: &Runs<'a, 'a>) -> Self {
        let is_alone = object.at("/spec/concurrencyPolicy").text() == Some("Forbid");
        let deadline_ms = || {
            let created_ms = object.at("/metadata/creationTimestamp").time_ms()?;
            let scheduled_ms = object.at("/status/lastScheduleTime").time_ms();
            let unblocked_ms = runs.last_end_ms().filter(|_| is_alone);
            let last_ms = scheduled_ms.max(unblocked_ms).max(Some(created_ms))?;
            let schedule = Schedule::of(object)?;
            let due_ms = schedule.latest_due_ms(last_ms, MISSED)?;
            let own_ms = due_ms.saturating_add(start_ms(object));
            let next_ms = schedule.latest_due_ms(last_ms, MISSED + 1);
            let superseded_ms = next_ms.map(|next_ms| next_ms.saturating_add(START_GRACE_MS));
            Some(superseded_ms.map_or(own_ms, |superseded_ms| superseded_ms.min(own_ms)))
        };
        Self {
            deadline_ms: deadline_ms(),
            blocked_by: runs.in_progress_name().filter(|_| is_alone),
        }
    }

    /// Returns `verdict` before the deadline, with a recheck at that time, and Degraded after it. A
    /// verdict that is neither Ready nor Present keeps its reason.
    pub(super) fn judge(&self, verdict: Verdict, now_ms: i64) -> Verdict {
        let is_open = verdict.state == READY || verdict.state == PRESENT;
        let Some(deadline_ms) = self.deadline_ms.filter(|_| is_open) else {
            return verdict;
        };
        if now_ms < deadline_ms {
            let recheck_ms = verdict.recheck_at_ms.unwrap_or(deadline_ms);
            return verdict.recheck_at(recheck_ms.min(deadline_ms));
        }
        let (reason, what) = match self.blocked_by {
            None => ("ScheduleMissed", "did not start".to_owned()),
            Some(job) => {
                let cause = format!("because Job {job} has not ended and the policy is Forbid");
                ("RunsSkipped", format!("were skipped, {cause}"))
            }
        };
        let message = format!("at least {MISSED} runs in sequence were due and {what}");
        Verdict::degraded(reason, message)
    }
}

/// The time that a due run has for its start, in milliseconds.
fn start_ms(object: &Object<'_>) -> i64 {
    let deadline_s = object.at("/spec/startingDeadlineSeconds").integer();
    let deadline_ms = deadline_s.unwrap_or_default().saturating_mul(1000);
    deadline_ms.max(START_GRACE_MS)
}
