//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

/// Name, state, reason, and the object without `apiVersion` and `kind`.
type Example = (&'static str, &'static str, &'static str, &'static str);

pub(crate) fn all() -> Vec<Fixture> {
    let jobs = JOBS.iter().map(|example| fixture("Job", *example));
    let cron_jobs = CRON_JOBS.iter().map(|example| fixture("CronJob", *example));
    jobs.chain(cron_jobs).collect()
}

fn fixture(kind: &str, (name, state, reason, body): Example) -> Fixture {
    let object = format!(r#"{{"apiVersion": "batch/v1", "kind": "{kind}", {body}}}"#);
    Fixture::new(name, state).reason(reason).object(&object)
}

const JOBS: [Example; 11] = [
    (
        "a complete job has succeeded",
        "Succeeded",
        "Completed",
        r#""status": {"conditions": [{"type": "Complete", "status": "True"}]}"#,
    ),
    (
        "a failed job has failed",
        "Failed",
        "BackoffLimitExceeded",
        r#""status": {"conditions": [
            {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}"#,
    ),
    (
        "a job that is bound to fail has failed",
        "Failed",
        "PodFailurePolicy",
        r#""status": {"startTime": "2024-01-01T00:00:00Z", "conditions": [
            {"type": "FailureTarget", "status": "True", "reason": "PodFailurePolicy"}]}"#,
    ),
    (
        "a job that says it has not failed has not failed",
        "Pending",
        "Running",
        r#""status": {"startTime": "2024-01-01T00:00:00Z", "conditions": [
            {"type": "Failed", "status": "False"}, {"type": "Complete", "status": "False"}]}"#,
    ),
    (
        "a running job is pending",
        "Pending",
        "Running",
        r#""spec": {"completions": "2"}, "status": {"startTime": "2024-01-01T00:00:00Z", "active": "1"}"#,
    ),
    (
        "a job that succeeded by its counts alone is pending",
        "Pending",
        "Running",
        r#""spec": {"completions": 1}, "status": {"startTime": "2024-01-01T00:00:00Z", "succeeded": 1}"#,
    ),
    (
        "a suspended job is suspended",
        "Suspended",
        "Suspended",
        r#""spec": {"suspend": true}, "status": {"conditions": [{"type": "Suspended", "status": "True"}]}"#,
    ),
    (
        "a job that is being resumed is pending",
        "Pending",
        "NotStarted",
        r#""spec": {"suspend": false}, "status": {"conditions": [{"type": "Suspended", "status": "True"}]}"#,
    ),
    (
        "a job whose suspension is not done is pending",
        "Pending",
        "NotStarted",
        r#""spec": {"suspend": true}, "status": {"conditions": [{"type": "Suspended", "status": "False"}]}"#,
    ),
    (
        "a job without status is pending",
        "Pending",
        "NotStarted",
        r#""spec": {}"#,
    ),
    (
        "a job with a deletion time is terminating",
        "Terminating",
        "Deleting",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"},
            "status": {"conditions": [{"type": "Complete", "status": "True"}]}"#,
    ),
];

const CRON_JOBS: [Example; 11] = [
    (
        "a cron job whose last run succeeded is ready",
        "Ready",
        "LastRunSucceeded",
        r#""spec": {"schedule": "* * * * *"}, "status": {
            "lastScheduleTime": "2024-01-01T00:00:00Z", "lastSuccessfulTime": "2024-01-01T00:00:09Z"}"#,
    ),
    (
        "a cron job whose last run did not succeed is degraded",
        "Degraded",
        "LastRunFailed",
        r#""spec": {"schedule": "* * * * *"}, "status": {
            "lastScheduleTime": "2024-01-01T00:01:00Z", "lastSuccessfulTime": "2024-01-01T00:00:09Z"}"#,
    ),
    (
        "a cron job that runs is ready",
        "Ready",
        "Running",
        r#""spec": {"schedule": "* * * * *"}, "status": {"active": [{"name": "a-1"}],
            "lastScheduleTime": "2024-01-01T00:01:00Z", "lastSuccessfulTime": "2024-01-01T00:00:09Z"}"#,
    ),
    (
        "a cron job that has yet to run is ready",
        "Ready",
        "NotScheduledYet",
        r#""spec": {"schedule": "* * * * *"}, "status": {}"#,
    ),
    (
        "a cron job of which no success is known is present",
        "Present",
        "NoSuccessRecorded",
        r#""spec": {"schedule": "* * * * *"}, "status": {"lastScheduleTime": "2024-01-01T00:00:00Z"}"#,
    ),
    (
        "a suspended cron job is suspended",
        "Suspended",
        "Suspended",
        r#""spec": {"suspend": true, "schedule": "* * * * *"}, "status": {}"#,
    ),
    (
        "a cron job without status has yet to run too",
        "Ready",
        "NotScheduledYet",
        r#""spec": {"schedule": "* * * * *"}"#,
    ),
    (
        "a suspended cron job without status is suspended",
        "Suspended",
        "Suspended",
        r#""spec": {"suspend": true, "schedule": "* * * * *"}"#,
    ),
    (
        "a cron job without anything is present",
        "Present",
        "SpecNotReported",
        r#""metadata": {}"#,
    ),
    (
        "a cron job without spec is present",
        "Present",
        "SpecNotReported",
        r#""status": {"lastScheduleTime": "2024-01-01T00:00:00Z",
            "lastSuccessfulTime": "2024-01-01T00:00:09Z"}"#,
    ),
    (
        "a cron job with a deletion time is terminating",
        "Terminating",
        "Deleting",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}"#,
    ),
];
