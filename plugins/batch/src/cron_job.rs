//! CronJob.
//!
//! The same as in Argo CD (kstatus has no rule): the last run determines the state. Four states
//! differ:
//!
//! - A suspended CronJob is Suspended (planned in Argo CD, argo-cd#24428).
//! - A CronJob that ran without a recorded success is Present, because old clusters do not record
//!   success.
//! - A CronJob whose last run failed is Degraded, because the next run starts automatically and
//!   Failed would cause too many alerts (argo-cd#25551).
//! - A CronJob without a status is treated as one that has not run yet, because the controller
//!   writes nothing before the first run is due.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("batch", "*", "CronJob")
        .deletion_check()
        .fields(&["/spec/suspend", "/status"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    if object.at("/spec/suspend").is_true() {
        return Verdict::suspended("Suspended", "new runs are suspended");
    }
    if !object.spec().is_object() {
        return standard::spec_not_reported();
    }
    last_run(object.status())
}

fn last_run(status: Node<'_>) -> Verdict {
    if status.get("active").items().len() > 0 {
        return Verdict::ready("Running", "a run is under way");
    }
    let scheduled = status.get("lastScheduleTime");
    if !scheduled.is_present() {
        return Verdict::ready(
            "NotScheduledYet",
            "its first run has not been scheduled yet",
        );
    }
    match (
        scheduled.time_ms(),
        status.get("lastSuccessfulTime").time_ms(),
    ) {
        (Some(scheduled), Some(succeeded)) if succeeded >= scheduled => {
            Verdict::ready("LastRunSucceeded", "")
        }
        (Some(_), Some(_)) => Verdict::degraded("LastRunFailed", "its last run did not succeed"),
        _ => Verdict::present("NoSuccessRecorded", "no successful run is recorded"),
    }
}
