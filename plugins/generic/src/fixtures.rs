//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

pub(crate) fn all() -> Vec<Fixture> {
    let statuses = CONDITIONS.iter().chain(WORDS).chain(PARTS);
    let statuses = statuses.map(|(name, state, status)| {
        let object = format!(
            r#"{{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {{"generation": 2}},
                "spec": {{}}, "status": {status}}}"#
        );
        Fixture::new(name, state).object(&object)
    });
    let objects = OBJECTS.iter().map(|(name, state, reason, members)| {
        let object = format!(r#"{{"apiVersion": "example.com/v1", "kind": "Widget", {members}}}"#);
        Fixture::new(name, state).reason(reason).object(&object)
    });
    let grace = Fixture::new("the grace of a silent object can be set", "Present")
        .settings(r#"{"statusGraceSeconds": 0}"#)
        .object(NEW);
    statuses.chain(objects).chain([grace]).collect()
}

const NEW: &str = r#"{"apiVersion": "example.com/v1", "kind": "Widget",
    "metadata": {"creationTimestamp": "1970-01-01T00:00:00Z"}}"#;

type Example = (&'static str, &'static str, &'static str);

/// Name, state, and the status of an object of generation 2.
const CONDITIONS: &[Example] = &[
    (
        "a condition Ready that is True is ready",
        "Ready",
        r#"{"conditions": [{"type": "Ready", "status": "True"}]}"#,
    ),
    (
        "conditions may come as a map",
        "Ready",
        r#"{"conditions": {"Ready": {"status": "True"}}}"#,
    ),
    (
        "not ready without a reason is pending",
        "Pending",
        r#"{"conditions": [{"type": "Ready", "status": "False"}]}"#,
    ),
    (
        "not ready for a reason that is a failure has failed",
        "Failed",
        r#"{"conditions": [{"type": "Ready", "status": "False", "reason": "ReconcileError"}]}"#,
    ),
    (
        "a failed attempt is a failure although it is tried again",
        "Failed",
        r#"{"conditions": [{"type": "Reconciling", "status": "True", "reason": "ProgressingWithRetry"},
            {"type": "Ready", "status": "False", "reason": "TokenNotFound"}]}"#,
    ),
    (
        "not ready with the severity Error has failed",
        "Failed",
        r#"{"conditions": [{"type": "Ready", "status": "False", "severity": "Error", "reason": "Quota"}]}"#,
    ),
    (
        "an unknown condition Ready is pending",
        "Pending",
        r#"{"conditions": [{"type": "Ready", "status": "Unknown"}]}"#,
    ),
    (
        "an abnormal condition outweighs Ready",
        "Failed",
        r#"{"conditions": [{"type": "Available", "status": "True"}, {"type": "Degraded", "status": "True"}]}"#,
    ),
    (
        "a refused object is not ready whatever else it says",
        "Failed",
        r#"{"conditions": [{"type": "Ready", "status": "True"},
            {"type": "Synced", "status": "False", "reason": "ReconcileError"}]}"#,
    ),
    (
        "a change under way outweighs Ready",
        "Pending",
        r#"{"conditions": [{"type": "Ready", "status": "True"}, {"type": "Progressing", "status": "True"}]}"#,
    ),
    (
        "a change that is done does not",
        "Ready",
        r#"{"conditions": [{"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}"#,
    ),
    (
        "ready for a reason that says otherwise is no claim",
        "Present",
        r#"{"conditions": [{"type": "Ready", "status": "True", "reason": "Failed"}]}"#,
    ),
    (
        "ready for a reason that speaks of none is no claim",
        "Present",
        r#"{"conditions": [{"type": "Ready", "status": "True", "reason": "NoPodsReady"}]}"#,
    ),
    (
        "a reason that falls short of a good word excuses no failure",
        "Failed",
        r#"{"conditions": [{"type": "Degraded", "status": "True", "reason": "PartiallyAvailable"}]}"#,
    ),
    (
        "complete for a reason that is a failure has failed",
        "Failed",
        r#"{"conditions": [{"type": "Complete", "status": "True", "reason": "JobFailed"}]}"#,
    ),
    (
        "complete has succeeded",
        "Succeeded",
        r#"{"conditions": [{"type": "Complete", "status": "True"}]}"#,
    ),
    (
        "a condition that says paused is suspended",
        "Suspended",
        r#"{"conditions": [{"type": "Ready", "status": "True"}, {"type": "Paused", "status": "True"}]}"#,
    ),
    (
        "a condition of an older generation is history",
        "Pending",
        r#"{"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}]}"#,
    ),
    (
        "synced is enough where nothing sums up",
        "Ready",
        r#"{"conditions": [{"type": "example.com/RemoteSynced", "status": "True"}]}"#,
    ),
    (
        "steps on the way are not ready",
        "Present",
        r#"{"conditions": [{"type": "Launched", "status": "True"}, {"type": "Registered", "status": "True"}]}"#,
    ),
    (
        "a condition nobody knows is no claim",
        "Present",
        r#"{"conditions": [{"type": "Shiny", "status": "True"}]}"#,
    ),
    (
        "an empty list of conditions waits for the first",
        "Pending",
        r#"{"conditions": []}"#,
    ),
    (
        "a status that is no text is not believed",
        "Present",
        r#"{"conditions": [{"type": "Ready", "status": true}]}"#,
    ),
];

const WORDS: &[Example] = &[
    ("a good phase is ready", "Ready", r#"{"phase": "READY"}"#),
    ("a colour is a health", "Ready", r#"{"health": "green"}"#),
    (
        "a phase that ends well has succeeded",
        "Succeeded",
        r#"{"phase": "Succeeded"}"#,
    ),
    (
        "a bad state has failed",
        "Failed",
        r#"{"state": "ConfigError"}"#,
    ),
    (
        "a state on its way is pending",
        "Pending",
        r#"{"currentState": "Waiting for Pods to be ready"}"#,
    ),
    (
        "a stopped thing is suspended",
        "Suspended",
        r#"{"printableStatus": "Stopped"}"#,
    ),
    (
        "a thing that is not there is not present",
        "NotPresent",
        r#"{"state": "NotFound"}"#,
    ),
    (
        "a state that is not known is unknown",
        "Unknown",
        r#"{"state": "Unknown"}"#,
    ),
    (
        "running alone may be a task",
        "Present",
        r#"{"phase": "Running"}"#,
    ),
    (
        "running with a good condition is ready",
        "Ready",
        r#"{"phase": "Running", "conditions": [{"type": "PodsHealthy", "status": "True"}]}"#,
    ),
    (
        "running with full counts is ready",
        "Ready",
        r#"{"phase": "Running", "replicas": 3, "readyReplicas": "3"}"#,
    ),
    (
        "a phase outweighs a condition Ready",
        "Pending",
        r#"{"phase": "Provisioning", "conditions": [{"type": "Ready", "status": "True"}]}"#,
    ),
    (
        "a failed phase against a condition Ready is no claim",
        "Present",
        r#"{"phase": "Failed", "conditions": [{"type": "Ready", "status": "True"}]}"#,
    ),
    (
        "a good word is none where an earlier one negates it",
        "Pending",
        r#"{"phase": "NotAllReady"}"#,
    ),
    (
        "a part of a whole is not ready",
        "Pending",
        r#"{"health": "PartiallyHealthy"}"#,
    ),
    (
        "none of them is not ready",
        "Pending",
        r#"{"state": "0 ready"}"#,
    ),
    (
        "what was ready is not",
        "Pending",
        r#"{"state": "NoLongerActive"}"#,
    ),
    (
        "all of them are ready",
        "Ready",
        r#"{"state": "3/3 ready"}"#,
    ),
    (
        "a good word with an afterthought is no claim",
        "Present",
        r#"{"state": "Ready: unknown"}"#,
    ),
    (
        "an accepted phase is the first one",
        "Present",
        r#"{"phase": "Accepted"}"#,
    ),
    (
        "an accepted state is what a proxy reports last",
        "Ready",
        r#"{"statuses": {"gateway": {"state": "Accepted", "reportedBy": "gateway"}}}"#,
    ),
    (
        "a word nobody knows speaks against a good one",
        "Present",
        r#"{"stage": "ingress", "stageStatus": "success"}"#,
    ),
    (
        "a failed part of a good whole is no claim",
        "Present",
        r#"{"phase": "Ready", "lastBackupStatus": "Failed"}"#,
    ),
    ("a flag is evidence", "Ready", r#"{"ready": true}"#),
    ("a false flag waits", "Pending", r#"{"ready": false}"#),
    (
        "an error speaks against a good phase",
        "Pending",
        r#"{"phase": "Ready", "error": "no route to host"}"#,
    ),
];

const PARTS: &[Example] = &[
    (
        "a part speaks where the object is silent",
        "Succeeded",
        r#"{"jobStatus": {"state": "COMPLETED"}}"#,
    ),
    (
        "a broken part against a good whole is no claim",
        "Present",
        r#"{"conditions": [{"type": "Ready", "status": "True"}], "modelStatus": {"state": "LoadFailed"}}"#,
    ),
    (
        "good items do not make a list whole",
        "Present",
        r#"{"members": [{"health": "Healthy"}]}"#,
    ),
    (
        "a bad item is bad",
        "Failed",
        r#"{"members": [{"health": "Healthy"}, {"health": "Unhealthy"}]}"#,
    ),
    (
        "every ancestor accepted is ready",
        "Ready",
        r#"{"ancestors": [{"conditions": [{"type": "Accepted", "status": "True"}]}]}"#,
    ),
    (
        "an ancestor that says nothing speaks against ready",
        "Present",
        r#"{"ancestors": [{"conditions": [{"type": "Accepted", "status": "True"}]}, {"name": "edge"}]}"#,
    ),
    (
        "what was before does not count",
        "Ready",
        r#"{"phase": "Ready", "history": [{"state": "Failed"}]}"#,
    ),
];

/// Name, state, reason, and the members of the object.
const OBJECTS: &[(&str, &str, &str, &str)] = &[
    (
        "an object without status is present",
        "Present",
        "NoStatus",
        r#""metadata": {"generation": 1}, "spec": {}"#,
    ),
    (
        "an object without status is pending while it is new",
        "Pending",
        "NoStatusYet",
        r#""metadata": {"creationTimestamp": "1970-01-01T00:00:00Z"}, "spec": {}"#,
    ),
    (
        "a status without a signal is present",
        "Present",
        "NoKnownSignal",
        r#""spec": {}, "status": {"url": "https://example.com"}"#,
    ),
    (
        "a spec nobody has seen yet is pending",
        "Pending",
        "GenerationNotObserved",
        r#""metadata": {"generation": "3"}, "spec": {},
            "status": {"observedGeneration": 2, "phase": "Ready"}"#,
    ),
    (
        "the generation may go by another name",
        "Pending",
        "GenerationNotObserved",
        r#""metadata": {"generation": 3}, "spec": {},
            "status": {"lastEvaluatedGeneration": 2, "phase": "Ready"}"#,
    ),
    (
        "stalled comes before a spec nobody has seen",
        "Failed",
        "Stuck",
        r#""metadata": {"generation": 3}, "status": {"observedGeneration": 2,
            "conditions": [{"type": "Stalled", "status": "True", "reason": "Stuck"}]}"#,
    ),
    (
        "a paused object is suspended whatever it says",
        "Suspended",
        "Suspended",
        r#""spec": {"paused": true}, "status": {"phase": "Failed"}"#,
    ),
    (
        "what has ended is not suspended",
        "Succeeded",
        "Succeeded",
        r#""spec": {"suspend": true}, "status": {"phase": "Succeeded"}"#,
    ),
    (
        "replicas short of the spec outweigh Ready",
        "Pending",
        "CountsShort",
        r#""spec": {"replicas": "3"}, "status": {"readyReplicas": 2,
            "conditions": [{"type": "Ready", "status": "True"}]}"#,
    ),
    (
        "replicas without a spec to compare with are no evidence",
        "Present",
        "SpecNotReported",
        r#""status": {"phase": "Ready", "replicas": 3, "readyReplicas": 3}"#,
    ),
    (
        "a status that observed a generation belongs to a spec, which may say that it is suspended",
        "Present",
        "SpecNotReported",
        r#""status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}"#,
    ),
    (
        "a condition that observed a generation belongs to a spec",
        "Present",
        "SpecNotReported",
        r#""status": {"conditions": [{"type": "Ready", "status": "True", "observedGeneration": 1}]}"#,
    ),
    (
        "nobody knows whether a generation that is no number was observed",
        "Present",
        "NumberUnclear",
        r#""metadata": {"generation": "many"}, "spec": {},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}"#,
    ),
    (
        "a count that is no number may fall short",
        "Present",
        "NumberUnclear",
        r#""spec": {}, "status": {"phase": "Ready", "readyReplicas": "some"}"#,
    ),
    (
        "an object with a deletion time is terminating",
        "Terminating",
        "Deleting",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z", "finalizers": ["a/b"]},
            "status": {"phase": "Ready"}"#,
    ),
];
