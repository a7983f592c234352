//! CronJob.
//!
//! As Argo CD (kstatus has no rule): the last run decides. Two states differ: a suspended CronJob is
//! Suspended (planned in Argo CD, argo-cd#24428), and one that ran without a recorded success is
//! Present, because old clusters do not record success. A failed run fails the CronJob: that is noisy
//! (argo-cd#25551), but it is what the object reports.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("batch", "*", "CronJob")
        .fields(&standard::DELETION_FIELDS)
        .fields(&["/spec/suspend", "/status"])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object) {
        return verdict;
    }
    if object.at("/spec/suspend").is_true() {
        return Verdict::suspended("Suspended", "new runs are suspended");
    }
    if !object.status().is_object() {
        return Verdict::pending("NoStatusYet", "the controller has not looked at it yet");
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
        (Some(_), Some(_)) => Verdict::failed("LastRunFailed", "its last run did not succeed"),
        _ => Verdict::present("NoSuccessRecorded", "no successful run is recorded"),
    }
}
