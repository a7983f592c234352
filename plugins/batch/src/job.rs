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
            "/spec/parallelism",
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
    let goal = completions(object).map_or_else(String::new, |goal| format!(" of {goal}"));
    format!("{succeeded}{goal} succeeded, {active} active, {failed} failed")
}

/// Number of Pods that must succeed; none for a work queue. The API's default is 1 if the number of Pods that run at
/// once is absent too; a manifest can lack both.
fn completions(object: &Object<'_>) -> Option<i64> {
    let is_defaulted = object.has_manifest_spec() && !object.at("/spec/parallelism").is_present();
    let completions = object.at("/spec/completions").integer();
    completions.or(is_defaulted.then_some(1))
}

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness::judge;

    #[test]
    fn a_manifest_without_a_number_of_completions_needs_one_unless_it_is_a_work_queue() {
        let message = |annotations: &str, spec: &str| {
            let object = format!(
                r#"{{"apiVersion": "batch/v1", "kind": "Job", "metadata": {{"annotations": {annotations}}},
                    "spec": {spec}, "status": {{"startTime": "2024-01-01T00:00:00Z", "active": 1}}}}"#
            );
            judge::<crate::Batch>(&object).unwrap().message
        };
        let manifest = r#"{"kindsight.dev/spec-source": "manifest"}"#;
        let one = "0 of 1 succeeded, 1 active, 0 failed";
        assert_eq!(message(manifest, r#"{"backoffLimit": 3}"#), one);
        let queue = "0 succeeded, 1 active, 0 failed";
        assert_eq!(message(manifest, r#"{"parallelism": 3}"#), queue);
        // The API server has added its defaults to a reported spec.
        assert_eq!(message("{}", r#"{"backoffLimit": 3}"#), queue);
    }
}
