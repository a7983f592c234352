//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

/// Name, state, reason, and the conditions.
type Example = (&'static str, &'static str, &'static str, &'static str);

pub(crate) fn all() -> Vec<Fixture> {
    let v2 = V2.iter().map(|(name, state, reason, conditions)| {
        let status = format!(r#""status": {{"conditions": [{conditions}]}}"#);
        fixture(name, "v2", state, &status).reason(reason)
    });
    v2.chain(in_v1())
        .chain(with_grace())
        .chain([
            fixture(
                "one without status is pending",
                "v2",
                "Pending",
                r#""spec": {}"#,
            ),
            fixture(
                "one with a deletion time is terminating",
                "v2",
                "Terminating",
                r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}"#,
            ),
            fixture(
                "a spec nobody has seen yet is pending",
                "v2",
                "Pending",
                r#""metadata": {"generation": "2"}, "status": {"observedGeneration": "1"}"#,
            )
            .reason("GenerationNotObserved"),
        ])
        .collect()
}

fn fixture(name: &str, version: &str, state: &str, body: &str) -> Fixture {
    Fixture::new(name, state).object(&format!(
        r#"{{"apiVersion": "autoscaling/{version}", "kind": "HorizontalPodAutoscaler", {body}}}"#
    ))
}

const V2: [Example; 9] = [
    (
        "one that does not say since when it has no metrics is pending",
        "Pending",
        "FailedGetResourceMetric",
        r#"{"type": "AbleToScale", "status": "True"},
            {"type": "ScalingActive", "status": "False", "reason": "FailedGetResourceMetric"}"#,
    ),
    (
        "one whose spec is wrong has failed, whenever that was noticed",
        "Failed",
        "InvalidSelector",
        r#"{"type": "AbleToScale", "status": "True"},
            {"type": "ScalingActive", "status": "False", "reason": "InvalidSelector"}"#,
    ),
    (
        "one that scales is ready",
        "Ready",
        "ValidMetricFound",
        r#"{"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale"},
            {"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"},
            {"type": "ScalingLimited", "status": "True", "reason": "TooFewReplicas"}"#,
    ),
    (
        "one whose target is scaled to zero is ready",
        "Ready",
        "ScalingDisabled",
        r#"{"type": "AbleToScale", "status": "True"},
            {"type": "ScalingActive", "status": "False", "reason": "ScalingDisabled"}"#,
    ),
    (
        "one that does not find its target has failed",
        "Failed",
        "FailedGetScale",
        r#"{"type": "AbleToScale", "status": "False", "reason": "FailedGetScale"},
            {"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"}"#,
    ),
    (
        "one that waits before it scales again is pending",
        "Pending",
        "BackoffDownscale",
        r#"{"type": "AbleToScale", "status": "False", "reason": "BackoffDownscale"}"#,
    ),
    (
        "one that has seen no metric is pending",
        "Pending",
        "WaitingForMetrics",
        r#"{"type": "AbleToScale", "status": "True", "reason": "SucceededGetScale"}"#,
    ),
    (
        "one that does not say it can scale is pending",
        "Pending",
        "WaitingToScale",
        r#"{"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"}"#,
    ),
    (
        "one that selects no pods at all has failed",
        "Failed",
        "InvalidSelector",
        r#"{"type": "AbleToScale", "status": "True"},
            {"type": "ScalingActive", "status": "False", "reason": "InvalidSelector",
            "lastTransitionTime": "1970-01-01T00:00:00Z"}"#,
    ),
];

/// `HorizontalPodAutoscaler`s of v1, whose conditions are in an annotation.
fn in_v1() -> [Fixture; 3] {
    let annotated = |text: &str| {
        format!(
            r#""metadata": {{"annotations": {{"autoscaling.alpha.kubernetes.io/conditions": "{text}"}}}},
                "status": {{"currentReplicas": 1}}"#
        )
    };
    let healthy = annotated(
        r#"[{\"type\":\"AbleToScale\",\"status\":\"True\"},{\"type\":\"ScalingActive\",\"status\":\"True\"}]"#,
    );
    let without_annotation = r#""status": {"currentReplicas": 1, "desiredReplicas": 1}"#;
    [
        fixture("conditions in an annotation count", "v1", "Ready", &healthy),
        fixture(
            "v1 without the annotation is pending",
            "v1",
            "Pending",
            without_annotation,
        ),
        fixture(
            "an annotation that is no list is pending",
            "v1",
            "Pending",
            &annotated("[{"),
        )
        .reason("UnreadableConditions"),
    ]
}

/// Missing metrics within the grace period, after it, and with a longer one.
fn with_grace() -> [Fixture; 3] {
    let body = r#""status": {"conditions": [{"type": "AbleToScale", "status": "True"},
        {"type": "ScalingActive", "status": "False", "reason": "FailedGetResourceMetric",
        "lastTransitionTime": "1970-01-01T00:00:00Z"}]}"#;
    let fixture = |name, state| fixture(name, "v2", state, body).reason("FailedGetResourceMetric");
    [
        fixture("one that has just lost its metrics is pending", "Pending").now_ms(299_999),
        fixture("one that gets no metrics for long has failed", "Failed").now_ms(300_000),
        fixture("the operator may give metrics more time", "Pending")
            .now_ms(300_000)
            .settings(r#"{"metricsGraceSeconds": 900}"#),
    ]
}
