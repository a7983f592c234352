//! Job.
//!
//! The conditions decide, and only when they are True: Argo CD only checks that they exist. A running
//! Job is Pending as in Flux and Helm; kstatus calls it Current, and so tells only that a Job was
//! started.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("batch", "*", "Job")
        .fields(&standard::FIELDS)
        .fields(&[
            "/spec/completions",
            "/spec/suspend",
            "/status/startTime",
            "/status/active",
            "/status/succeeded",
            "/status/failed",
        ])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object) {
        return verdict;
    }
    let conditions = object.conditions();
    let is_true = |name| conditions.find(name).filter(Condition::is_true);
    if let Some(complete) = is_true("Complete") {
        return Verdict::succeeded("Completed", complete.message());
    }
    // FailureTarget comes first and is as final; Failed follows when the last Pod is gone.
    if let Some(failed) = is_true("Failed").or_else(|| is_true("FailureTarget")) {
        return Verdict::failed(failed.reason_or("Failed"), failed.message());
    }
    if let Some(suspended) = is_true("Suspended")
        && object.at("/spec/suspend").flag() != Some(false)
    {
        return Verdict::suspended("Suspended", suspended.message());
    }
    if !object.at("/status/startTime").is_present() {
        return Verdict::pending("NotStarted", "it has not been started yet");
    }
    Verdict::pending("Running", progress(object))
}

/// "2 of 5 succeeded, 1 active, 0 failed".
fn progress(object: &Object<'_>) -> String {
    let [succeeded, active, failed] =
        ["succeeded", "active", "failed"].map(|field| object.status_count(field));
    let goal = match object.at("/spec/completions").integer() {
        Some(goal) => format!(" of {goal}"),
        None => String::new(),
    };
    format!("{succeeded}{goal} succeeded, {active} active, {failed} failed")
}
