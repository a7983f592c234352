//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

pub(crate) fn all() -> Vec<Fixture> {
    EXAMPLES
        .iter()
        .map(|(name, state, reason, body)| {
            let object =
                format!(r#"{{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", {body}}}"#);
            Fixture::new(name, state).reason(reason).object(&object)
        })
        .collect()
}

/// Name, state, reason, and the object without `apiVersion` and `kind`.
const EXAMPLES: [(&str, &str, &str, &str); 13] = [
    (
        "a budget that is met is ready",
        "Ready",
        "SufficientPods",
        r#""status": {"currentHealthy": 2, "desiredHealthy": 2, "conditions": [
            {"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods"}]}"#,
    ),
    (
        "a budget below its minimum is pending",
        "Pending",
        "InsufficientPods",
        r#""status": {"currentHealthy": 1, "desiredHealthy": 2}"#,
    ),
    (
        "counts that come as strings are numbers",
        "Pending",
        "InsufficientPods",
        r#""status": {"currentHealthy": "9", "desiredHealthy": "10"}"#,
    ),
    (
        "the zeros of a budget nobody has looked at are no counts",
        "Pending",
        "GenerationNotObserved",
        r#""metadata": {"generation": 1}, "status": {"currentHealthy": 0, "desiredHealthy": 0,
            "disruptionsAllowed": 0, "expectedPods": 0}"#,
    ),
    (
        "a generation of zero is none that was observed",
        "Pending",
        "GenerationNotObserved",
        r#""status": {"observedGeneration": 0, "currentHealthy": "0", "desiredHealthy": "0"}"#,
    ),
    (
        "a budget without any Pods is met",
        "Ready",
        "SufficientPods",
        r#""metadata": {"generation": 1}, "status": {"observedGeneration": 1, "currentHealthy": 0,
            "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0}"#,
    ),
    (
        "a budget that asks for none and has some was looked at",
        "Ready",
        "SufficientPods",
        r#""status": {"currentHealthy": 2, "desiredHealthy": 0}"#,
    ),
    (
        "a budget that cannot be reckoned has failed",
        "Failed",
        "SyncFailed",
        r#""status": {"currentHealthy": 0, "desiredHealthy": 0, "conditions": [
            {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed"}]}"#,
    ),
    (
        "a spec nobody has seen yet is pending",
        "Pending",
        "GenerationNotObserved",
        r#""metadata": {"generation": 2},
            "status": {"observedGeneration": 1, "currentHealthy": 2, "desiredHealthy": 2}"#,
    ),
    (
        "a status without counts is no evidence",
        "Present",
        "NoCounts",
        r#""metadata": {"generation": 1}, "status": {"observedGeneration": 1}"#,
    ),
    (
        "half a count is no evidence",
        "Present",
        "NoCounts",
        r#""status": {"currentHealthy": 2, "desiredHealthy": "50%"}"#,
    ),
    (
        "a budget without status is pending",
        "Pending",
        "NoStatusYet",
        r#""spec": {"minAvailable": 0}"#,
    ),
    (
        "a budget with a deletion time is terminating",
        "Terminating",
        "Deleting",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}"#,
    ),
];
