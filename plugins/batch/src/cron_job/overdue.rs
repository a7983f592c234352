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

/// The number of missed runs in sequence that make a CronJob Degraded. A controller that restarts at
/// the wrong moment misses a single run.
const MISSED: usize = 2;

/// The time after which a due run should have started and been reported. The controller itself takes
/// a few seconds.
const START_GRACE_MS: i64 = 120_000;

/// The deadline for a new run. A CronJob without one at that time is Degraded.
pub(super) struct Overdue {
    deadline_ms: Option<i64>,
}

impl Overdue {
    /// Unknown if the schedule cannot be read, or if the report has no creation time: the API server
    /// always sets it, so such a report is incomplete.
    ///
    /// A run that is in progress is the reason why no other run starts, if the policy is `Forbid`.
    /// A run may start until its own deadline (`startingDeadlineSeconds`), and is missed after it.
    pub(super) fn of(object: &Object<'_>, runs: &Runs<'_, '_>) -> Self {
        let is_alone = object.at("/spec/concurrencyPolicy").text() == Some("Forbid");
        let is_blocked = is_alone && runs.are_in_progress();
        let deadline_ms = || {
            let created_ms = object.at("/metadata/creationTimestamp").time_ms()?;
            let scheduled_ms = object.at("/status/lastScheduleTime").time_ms();
            let unblocked_ms = runs.last_end_ms().filter(|_| is_alone);
            let last_ms = scheduled_ms.max(unblocked_ms).max(Some(created_ms))?;
            let due_ms = Schedule::of(object)?.latest_due_ms(last_ms, MISSED)?;
            Some(due_ms.saturating_add(start_ms(object)))
        };
        Self {
            deadline_ms: if is_blocked { None } else { deadline_ms() },
        }
    }

    /// Returns `verdict` before the deadline, with a recheck at that time, and Degraded after it. A
    /// verdict that is already Degraded keeps its reason.
    pub(super) fn judge(&self, verdict: Verdict, now_ms: i64) -> Verdict {
        let Some(deadline_ms) = self.deadline_ms.filter(|_| verdict.state != DEGRADED) else {
            return verdict;
        };
        if now_ms >= deadline_ms {
            let message = format!("at least {MISSED} runs in sequence were due and did not start");
            return Verdict::degraded("ScheduleMissed", message);
        }
        let recheck_ms = verdict.recheck_at_ms.unwrap_or(deadline_ms);
        verdict.recheck_at(recheck_ms.min(deadline_ms))
    }
}

/// The time that a due run has for its start, in milliseconds.
fn start_ms(object: &Object<'_>) -> i64 {
    let deadline_s = object.at("/spec/startingDeadlineSeconds").integer();
    let deadline_ms = deadline_s.unwrap_or_default().saturating_mul(1000);
    deadline_ms.max(START_GRACE_MS)
}
