//! CronJob.
//!
//! The same as in Argo CD (kstatus has no rule): the last run determines the state. Differences:
//!
//! - A suspended CronJob is Suspended (planned in Argo CD, argo-cd#24428).
//! - The Jobs of the CronJob are evaluated too, if they are reported: [`runs`]. A run in progress
//!   does not hide that the run before it failed (argo-cd#24429), also if the Job of that run is not
//!   reported. A CronJob whose run does not start is Pending: [`start`].
//! - A CronJob that missed its schedule twice is Degraded, also if a run that does not end is the
//!   reason: [`overdue`].
//! - A CronJob that ran without a recorded success is Present if its Jobs are unknown, because old
//!   clusters do not record success.
//! - A CronJob whose last run failed is Degraded, because the next run starts automatically and
//!   Failed would cause too many alerts (argo-cd#25551).
//! - A CronJob without a status is treated as one that has not run yet, because the controller
//!   writes nothing before the first run is due.

mod overdue;
mod runs;
mod start;

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

use overdue::Overdue;
use runs::Runs;

/// Maximum number of Jobs that are evaluated. The default history keeps four Jobs that have ended.
const JOBS_MAX: u32 = 256;

/// The fields of a Job on which the verdict on its CronJob depends.
const JOB_FIELDS: [&str; 15] = [
    "/metadata/creationTimestamp",
    "/metadata/generation",
    "/spec/suspend",
    "/status/observedGeneration",
    "/status/active",
    "/status/failed",
    "/status/ready",
    "/status/startTime",
    "/status/succeeded",
    "/status/terminating",
    "/status/conditions/*/type",
    "/status/conditions/*/status",
    "/status/conditions/*/reason",
    "/status/conditions/*/message",
    "/status/conditions/*/lastTransitionTime",
];

pub(crate) fn kind() -> Kind {
    Workload::owner_kind(Kind::new("batch", "*", "CronJob"))
        .related(("batch", "Job"), Relation::Owned, &JOB_FIELDS, JOBS_MAX)
        .deletion_check()
        .fields(&overdue::FIELDS)
        .fields(&[
            "/spec/failedJobsHistoryLimit",
            "/spec/jobTemplate/spec/ttlSecondsAfterFinished",
            "/spec/suspend",
            "/status",
        ])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    if let Some(verdict) = standard::deletion(object, input) {
        return Ok(verdict);
    }
    if object.at("/spec/suspend").is_true() {
        return Ok(Verdict::suspended("Suspended", "new runs are suspended"));
    }
    if !object.spec().is_object() {
        return Ok(standard::spec_not_reported());
    }
    let status = object.status();
    if !status.is_empty() && !status.is_object() {
        let message = "its status is not an object, so its runs are not known";
        return Ok(Verdict::unknown("UnreadableStatus", message));
    }
    let runs = Runs::new(object, input);
    let failure = runs.failure().or_else(|| runs.hidden_failure(object));
    if let Some(verdict) = failure {
        return Ok(verdict);
    }
    let verdict = match runs.in_progress(input)? {
        Some(verdict) => verdict,
        None => last_run(status, &runs),
    };
    Ok(Overdue::of(object, &runs).judge(verdict, input.now_ms()))
}

/// The verdict on a CronJob without a run in progress, if its Jobs show no failure.
fn last_run(status: Node<'_>, runs: &Runs<'_, '_>) -> Verdict {
    let scheduled = status.get("lastScheduleTime");
    if !scheduled.is_present() {
        return Verdict::ready(
            "NotScheduledYet",
            "its first run has not been scheduled yet",
        );
    }
    let succeeded_ms = status.get("lastSuccessfulTime").time_ms();
    match (scheduled.time_ms(), succeeded_ms) {
        (Some(scheduled), Some(succeeded)) if succeeded >= scheduled => {
            Verdict::ready("LastRunSucceeded", "")
        }
        // The controller records a success shortly after the Job has ended.
        (Some(scheduled), _) if runs.have_succeeded_since(scheduled) => {
            Verdict::ready("LastRunSucceeded", "")
        }
        (Some(_), Some(_)) => Verdict::degraded("LastRunFailed", "its last run did not succeed"),
        _ => Verdict::present("NoSuccessRecorded", "no successful run is recorded"),
    }
}
