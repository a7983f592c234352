//! Job.
//!
//! The conditions determine the state, and only if they are True: Argo CD only checks that they
//! exist. A running Job is Pending, as in Flux and Helm; kstatus calls it Current, which only shows
//! that the Job was started. Pods that cannot start are a failure, unlike in other tools, because
//! the Job would wait without end. Pods that crash are not a failure, because a Job retries up to
//! its own limit.

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

pub(crate) fn kind() -> Kind {
    Workload::kind(Kind::new("batch", "*", "Job"))
        .standard_checks()
        .fields(&[
            "/spec/completions",
            "/spec/suspend",
            "/status/startTime",
            "/status/active",
            "/status/succeeded",
            "/status/failed",
        ])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let active = object.status_count("active");
    Workload::new(object, input, active)
        .retries()
        .judge(by_conditions(object, input))
}

fn by_conditions(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
        return verdict;
    }
    if let Some(end) = end(object) {
        return end;
    }
    let suspended = object.conditions().find("Suspended");
    if let Some(suspended) = suspended.filter(Condition::is_true)
        && object.at("/spec/suspend").flag() != Some(false)
    {
        return Verdict::suspended("Suspended", suspended.message().to_owned())
            .since(suspended.since_ms());
    }
    if !object.at("/status/startTime").is_present() {
        return Verdict::pending("NotStarted", "it has not been started yet");
    }
    Verdict::pending("Running", progress(object))
}

/// Succeeded or Failed, if the Job has ended.
pub(crate) fn end(object: &Object<'_>) -> Option<Verdict> {
    let conditions = object.conditions();
    let is_true = |name| conditions.find(name).filter(Condition::is_true);
    if let Some(complete) = is_true("Complete") {
        let verdict = Verdict::succeeded("Completed", complete.message().to_owned());
        return Some(verdict.since(complete.since_ms()));
    }
    // FailureTarget is set first and is also final. Failed follows when the last Pod has ended.
    let failed = is_true("Failed").or_else(|| is_true("FailureTarget"))?;
    let verdict = Verdict::failed(failed.reason_or("Failed"), failed.message().to_owned());
    Some(verdict.since(failed.since_ms()))
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
