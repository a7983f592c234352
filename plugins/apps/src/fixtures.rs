//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

pub(crate) fn all() -> Vec<Fixture> {
    let mut all = deployments();
    all.extend(deployments_with_gaps());
    all.extend(daemon_sets());
    all.extend(others());
    all
}

const COMPLETE: &str = r#"
    {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
    {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}"#;

const AVAILABLE: &str =
    r#"{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}"#;

fn deployment(spec: &str, counts: &str, conditions: &str) -> String {
    let spec = format!(r#""progressDeadlineSeconds": 600, {spec}"#);
    deployment_with(&spec, counts, conditions)
}

fn deployment_with(spec: &str, counts: &str, conditions: &str) -> String {
    format!(
        r#"{{"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {{"name": "web", "generation": 2}},
            "spec": {{{spec}}},
            "status": {{"observedGeneration": 2, {counts}, "conditions": [{conditions}]}}}}"#
    )
}

fn deployments() -> Vec<Fixture> {
    let full = r#""replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3"#;
    let text = r#""replicas": "3", "updatedReplicas": "3", "readyReplicas": "3", "availableReplicas": "3""#;
    let half = r#""replicas": 4, "updatedReplicas": 2, "readyReplicas": 3, "availableReplicas": 3"#;
    let none = r#""unavailableReplicas": 0"#;
    let late =
        r#"{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}"#;
    let quota = r#"{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}"#;
    let three = r#""replicas": 3"#;
    vec![
        Fixture::new("a complete rollout is ready", "Ready")
            .object(&deployment(three, full, COMPLETE)),
        Fixture::new("counts that come as strings are counts", "Ready")
            .object(&deployment(three, text, COMPLETE)),
        Fixture::new("none wanted and none there is ready", "Ready")
            .reason("ScaledToZero")
            .object(&deployment(r#""replicas": 0"#, none, COMPLETE)),
        Fixture::new(
            "a rollout without a deadline says nothing of its progress",
            "Ready",
        )
        .object(&deployment_with(
            r#""progressDeadlineSeconds": 2147483647, "replicas": 3"#,
            full,
            AVAILABLE,
        )),
        Fixture::new("a deadline that comes as a string is a deadline", "Ready").object(
            &deployment_with(
                r#""progressDeadlineSeconds": "2147483647", "replicas": 3"#,
                full,
                AVAILABLE,
            ),
        ),
        Fixture::new("a rollout without a deadline may be half way", "Pending")
            .reason("RollingOut")
            .object(&deployment_with(
                r#""progressDeadlineSeconds": 2147483647, "replicas": 3"#,
                half,
                AVAILABLE,
            )),
        Fixture::new(
            "a rollout with a deadline that says nothing of its progress is pending",
            "Pending",
        )
        .reason("ProgressUnknown")
        .object(&deployment(three, full, AVAILABLE)),
        Fixture::new("a rollout half way is pending", "Pending")
            .reason("RollingOut")
            .object(&deployment(three, half, COMPLETE)),
        Fixture::new("full counts without conditions are no evidence", "Pending")
            .object(&deployment(three, full, "")),
        Fixture::new("a rollout past its deadline has failed", "Failed")
            .reason("ProgressDeadlineExceeded")
            .object(&deployment(three, half, late)),
        Fixture::new("pods that cannot be made are a failure", "Failed")
            .reason("FailedCreate")
            .object(&deployment(three, half, quota)),
        Fixture::new("a paused rollout is suspended", "Suspended").object(&deployment(
            r#""paused": true"#,
            full,
            COMPLETE,
        )),
    ]
}

/// Reports with fields left out, and signals that outweigh the counts.
fn deployments_with_gaps() -> Vec<Fixture> {
    let unavailable = r#""status": {"conditions": [
        {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"}]}"#;
    let counts =
        r#""replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1"#;
    let without_spec = format!(r#""status": {{{counts}, "conditions": [{COMPLETE}]}}"#);
    let table = [
        (
            "a deployment without status is pending",
            "Pending",
            "NoStatusYet",
            r#""spec": {}"#,
        ),
        (
            "a deployment without anything is pending",
            "Pending",
            "NoStatusYet",
            r#""data": {}"#,
        ),
        (
            "what is not available is pending whatever was asked for",
            "Pending",
            "MinimumReplicasUnavailable",
            unavailable,
        ),
        (
            "counts without a spec to compare with are no evidence",
            "Present",
            "SpecNotReported",
            &without_spec,
        ),
        (
            "a spec nobody has seen yet is pending",
            "Pending",
            "GenerationNotObserved",
            r#""metadata": {"generation": 3}, "status": {"observedGeneration": 2}"#,
        ),
        (
            "a deployment with a deletion time is terminating",
            "Terminating",
            "Deleting",
            r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}"#,
        ),
    ];
    let fixtures = table.map(|(name, state, reason, body)| {
        let object = format!(r#"{{"apiVersion": "apps/v1", "kind": "Deployment", {body}}}"#);
        Fixture::new(name, state).reason(reason).object(&object)
    });
    fixtures.into()
}

fn daemon_sets() -> Vec<Fixture> {
    vec![
        Fixture::new("a daemon set without status is pending", "Pending")
            .reason("GenerationNotObserved")
            .object(r#"{"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {}}"#),
        Fixture::new("a daemon set on every node is ready", "Ready").object(
            r#"{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"generation": 1},
                "status": {"observedGeneration": 1, "desiredNumberScheduled": 2,
                "currentNumberScheduled": 2, "updatedNumberScheduled": 2, "numberAvailable": 2,
                "numberReady": 2}}"#,
        ),
        Fixture::new(
            "a daemon set of which no generation is reported is ready",
            "Ready",
        )
        .object(
            r#"{"apiVersion": "apps/v1", "kind": "DaemonSet",
                "spec": {"updateStrategy": {"type": "OnDelete"}},
                "status": {"observedGeneration": 1, "desiredNumberScheduled": 2,
                "currentNumberScheduled": 2, "updatedNumberScheduled": 0, "numberAvailable": 2,
                "numberReady": 2}}"#,
        ),
        Fixture::new(
            "old pods of a daemon set that replaces them are pending",
            "Pending",
        )
        .reason("RollingOut")
        .object(
            r#"{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"generation": 1},
                    "spec": {"updateStrategy": {"type": "RollingUpdate"}},
                    "status": {"observedGeneration": 1, "desiredNumberScheduled": 2,
                    "currentNumberScheduled": 2, "updatedNumberScheduled": 0, "numberAvailable": 2,
                    "numberReady": 2}}"#,
        ),
        Fixture::new("a daemon set short of a node is pending", "Pending")
            .reason("Unavailable")
            .object(
                r#"{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"generation": 1},
                    "status": {"observedGeneration": 1, "desiredNumberScheduled": 2,
                    "currentNumberScheduled": 2, "updatedNumberScheduled": 2,
                    "numberAvailable": 1, "numberReady": 1}}"#,
            ),
    ]
}

fn others() -> Vec<Fixture> {
    vec![
        Fixture::new("a stateful set that rolled out is ready", "Ready")
            .reason("RolledOut")
            .object(
                r#"{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"generation": 1},
                    "spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2,
                    "readyReplicas": 2, "currentReplicas": 2, "updatedReplicas": 2,
                    "currentRevision": "a", "updateRevision": "a"}}"#,
            ),
        Fixture::new("a stateful set between revisions is pending", "Pending")
            .reason("RollingOut")
            .object(
                r#"{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"generation": 1},
                    "spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2,
                    "readyReplicas": 2, "currentReplicas": 1, "updatedReplicas": 1,
                    "currentRevision": "a", "updateRevision": "b"}}"#,
            ),
        Fixture::new("a stateful set without status is pending", "Pending")
            .reason("GenerationNotObserved")
            .object(r#"{"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"replicas": 0}}"#),
        Fixture::new("a replica set that cannot make pods has failed", "Failed").object(
            r#"{"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {"replicas": 1},
                "status": {"conditions": [{"type": "ReplicaFailure", "status": "True",
                "reason": "FailedCreate"}]}}"#,
        ),
        Fixture::new(
            "none wanted of a replica set nobody has seen is pending",
            "Pending",
        )
        .reason("NoStatusYet")
        .object(r#"{"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {"replicas": 0}}"#),
        Fixture::new("a replica set with every replica is ready", "Ready").object(
            r#"{"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {"replicas": 1},
                "status": {"replicas": 1, "fullyLabeledReplicas": 1, "readyReplicas": 1,
                "availableReplicas": 1}}"#,
        ),
    ]
}
