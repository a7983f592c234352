//! The runs of a CronJob, from the Jobs that it owns.

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

use super::start;
use crate::job;
use crate::schedule::Schedule;

/// The position of the rule for Jobs among the related objects. Their Pods are the first.
const JOBS: usize = 1;

/// The number of runs without a success that shows a fault of the CronJob itself.
const FAILURES: usize = 2;

/// The Jobs of a CronJob, as far as they are reported.
pub(super) struct Runs<'o, 'i> {
    /// The status of the CronJob.
    status: Node<'o>,
    /// The Jobs that have not ended.
    active: Vec<Object<'i>>,
    /// The Jobs that have ended.
    ended: Vec<Ended<'i>>,
    /// True if every Job of the CronJob is reported.
    are_complete: bool,
    /// True if runs took place that left neither a Job nor a success.
    left_no_trace: bool,
}

/// A Job that has ended.
struct Ended<'a> {
    name: &'a str,
    start_ms: Option<i64>,
    /// Succeeded or Failed.
    verdict: Verdict,
}

impl Ended<'_> {
    fn has_failed(&self) -> bool {
        self.verdict.state == FAILED
    }

    /// The time of its end or, if it is unknown, of its start.
    fn end_ms(&self) -> Option<i64> {
        self.verdict.since_ms.or(self.start_ms)
    }
}

impl<'o, 'i> Runs<'o, 'i> {
    pub(super) fn new(object: &Object<'o>, input: &Input<'i>) -> Self {
        let jobs = input.related(JOBS);
        let (mut active, mut ended) = (Vec::new(), Vec::new());
        for job in jobs.objects() {
            match job::end(&job) {
                None => active.push(job),
                Some(verdict) => ended.push(Ended {
                    name: job.metadata().get("name").text_or_empty(),
                    start_ms: job.at("/status/startTime").time_ms(),
                    verdict,
                }),
            }
        }
        let are_complete = jobs.coverage() == Coverage::Complete
            && i64::try_from(jobs.objects().len()) == Ok(jobs.total());
        let is_silent = are_complete && jobs.total() == 0;
        Self {
            status: object.status(),
            active,
            ended,
            are_complete,
            left_no_trace: is_silent && ran_repeatedly(object),
        }
    }

    /// Returns whether a run is in progress, according to the controller or to its Job.
    pub(super) fn are_in_progress(&self) -> bool {
        self.status.get("active").items().len() > 0 || !self.active.is_empty()
    }

    /// The name of the Job of a run that is in progress: of a reported Job or, if Jobs may be missing
    /// in the report, of a Job that the controller lists.
    pub(super) fn in_progress_name(&self) -> Option<&'i str>
    where
        'o: 'i,
    {
        let reported = self.active.first().map(|job| job.metadata().get("name"));
        let listed = || self.status.get("active").items().next()?.get("name").text();
        match reported {
            Some(name) => Some(name.text_or_empty()),
            None if self.are_complete => None,
            None => listed(),
        }
    }

    /// The last time at which a run is known to have ended, in Unix milliseconds.
    pub(super) fn last_end_ms(&self) -> Option<i64> {
        let ends = self.ended.iter().map(Ended::end_ms);
        ends.max().flatten().max(self.succeeded_ms())
    }

    /// Returns whether the newest run that has ended began at or after a time and succeeded.
    pub(super) fn have_succeeded_since(&self, time_ms: i64) -> bool {
        self.newest()
            .is_some_and(|newest| !newest.has_failed() && newest.start_ms >= Some(time_ms))
    }

    /// Degraded, if the newest run that has ended failed, or if no run ever succeeded.
    pub(super) fn failure(&self) -> Option<Verdict> {
        let Some(newest) = self.newest() else {
            return self.lost();
        };
        let Ended { name, verdict, .. } = newest;
        // A Job that succeeded later may have been deleted already.
        let is_followed = newest.end_ms().is_some() && self.succeeded_ms() > newest.end_ms();
        if !newest.has_failed() || is_followed {
            return None;
        }
        let what = if self.have_never_succeeded() {
            format!("none of its {} runs succeeded, and", self.ended.len())
        } else {
            "its last run failed:".to_owned()
        };
        let message = match &*verdict.message {
            "" => format!("{what} Job {name} is {}", verdict.reason),
            message => format!("{what} Job {name} is {}: {message}", verdict.reason),
        };
        Some(Verdict::degraded(verdict.reason.clone(), message).since(verdict.since_ms))
    }

    /// Degraded, if a run between the last success and the only run in progress did not succeed, and
    /// the report cannot contain its Job.
    ///
    /// The schedule proves that there was such a run. If every Job is reported and the history keeps
    /// failed Jobs, a run without a Job did not start, which is no failure.
    pub(super) fn hidden_failure(&self, object: &Object<'_>) -> Option<Verdict> {
        let limit = object.at("/spec/failedJobsHistoryLimit");
        let keeps_none = limit.is_present() && limit.integer().is_none_or(|limit| limit < 1);
        let lifetime = object.at("/spec/jobTemplate/spec/ttlSecondsAfterFinished");
        let is_hidden = !self.are_complete || keeps_none || lifetime.is_present();
        let count = self
            .active
            .len()
            .max(self.status.get("active").items().len());
        if !is_hidden || count != 1 {
            return None;
        }
        let scheduled_ms = self.status.get("lastScheduleTime").time_ms()?;
        let succeeded = self.ended.iter().filter(|ended| !ended.has_failed());
        let succeeded_ms = succeeded.map(Ended::end_ms).max().flatten();
        let after_ms = succeeded_ms.max(self.succeeded_ms())?;
        let is_certain = Schedule::of(object)?.has_run_between(after_ms, scheduled_ms);
        let message = "the run before the run in progress did not succeed";
        is_certain.then(|| Verdict::degraded("LastRunFailed", message))
    }

    /// The verdict on the runs in progress, from the Pods of their Jobs. `None` if there are none.
    ///
    /// # Errors
    /// [`Failure::InvalidSettings`], as for a Job.
    pub(super) fn in_progress(&self, input: &Input<'_>) -> Result<Option<Verdict>, Failure> {
        if !self.are_in_progress() {
            return Ok(None);
        }
        let mut running = match self.active.iter().find(|job| !start::is_suspended(job)) {
            None if !self.active.is_empty() => {
                Verdict::ready("RunSuspended", "the Job of its run is suspended")
            }
            _ => Verdict::ready("Running", "a run is under way"),
        };
        for job in &self.active {
            let active = job.status_count("active");
            let workload = Workload::new(job, input, active).retries();
            // The Job is Pending meanwhile. The CronJob would be Ready, and Degraded while the container runs between
            // two crashes.
            running = workload.counts_crash_loops().judge(running)?;
        }
        Ok(Some(start::judge(running, &self.active, input)))
    }

    /// The newest run that has ended, by its start.
    fn newest(&self) -> Option<&Ended<'i>> {
        self.ended.iter().max_by_key(|ended| ended.start_ms)
    }

    fn succeeded_ms(&self) -> Option<i64> {
        self.status.get("lastSuccessfulTime").time_ms()
    }

    fn have_never_succeeded(&self) -> bool {
        let is_recorded = self.status.get("lastSuccessfulTime").is_present();
        !is_recorded && self.ended.len() >= FAILURES && self.ended.iter().all(Ended::has_failed)
    }

    /// Degraded, if runs took place, none is in progress, and no success is recorded. Their Jobs
    /// were deleted because the history keeps no failed Jobs.
    fn lost(&self) -> Option<Verdict> {
        let is_recorded = self.status.get("lastSuccessfulTime").is_present();
        if !self.left_no_trace || is_recorded || self.are_in_progress() {
            return None;
        }
        let message = "it ran at least twice, no success is recorded, and no Job remains";
        Some(Verdict::degraded("NeverSucceeded", message))
    }
}

/// Returns whether the last scheduled run was not the first one since the creation.
fn ran_repeatedly(object: &Object<'_>) -> bool {
    let created_ms = object.at("/metadata/creationTimestamp").time_ms();
    let scheduled_ms = object.at("/status/lastScheduleTime").time_ms();
    let (Some(created_ms), Some(schedule)) = (created_ms, Schedule::of(object)) else {
        return false;
    };
    let due_ms = schedule.latest_due_ms(created_ms, FAILURES);
    due_ms.is_some() && scheduled_ms >= due_ms
}
