//! Workloads, by the counts of their controllers.

use kindsight_sdk::prelude::*;

use crate::{conditions, current, fewer};

pub(crate) const DEPLOYMENT_FIELDS: [&str; 6] = [
    "/spec/progressDeadlineSeconds",
    "/spec/replicas",
    "/status/availableReplicas",
    "/status/readyReplicas",
    "/status/replicas",
    "/status/updatedReplicas",
];
pub(crate) const REPLICA_SET_FIELDS: [&str; 5] = [
    "/spec/replicas",
    "/status/availableReplicas",
    "/status/fullyLabeledReplicas",
    "/status/readyReplicas",
    "/status/replicas",
];
pub(crate) const DAEMON_SET_FIELDS: [&str; 5] = [
    "/status/currentNumberScheduled",
    "/status/desiredNumberScheduled",
    "/status/numberAvailable",
    "/status/numberReady",
    "/status/updatedNumberScheduled",
];
pub(crate) const STATEFUL_SET_FIELDS: [&str; 9] = [
    "/spec/replicas",
    "/spec/updateStrategy/rollingUpdate/partition",
    "/spec/updateStrategy/type",
    "/status/currentReplicas",
    "/status/currentRevision",
    "/status/readyReplicas",
    "/status/replicas",
    "/status/updateRevision",
    "/status/updatedReplicas",
];

/// The deadline that the controller of Deployments treats as none.
const NO_DEADLINE: i64 = i32::MAX as i64;

fn replicas(object: &Object<'_>) -> i64 {
    object.at("/spec/replicas").integer().unwrap_or(1)
}

fn extra(existing: i64, wanted: i64) -> Option<Verdict> {
    let message = || format!("{} Pods are still to be deleted", existing - wanted);
    (existing > wanted).then(|| Verdict::pending("ExtraPods", message()))
}

pub(crate) fn deployment(deployment: &Object<'_>) -> Verdict {
    let deadline = deployment.at("/spec/progressDeadlineSeconds").integer();
    let mut has_progressed = deadline.is_none_or(|deadline| deadline == NO_DEADLINE);
    let mut is_available = false;
    for condition in conditions(deployment) {
        match condition {
            ["Progressing", _, "ProgressDeadlineExceeded", message] => {
                return Verdict::failed("ProgressDeadlineExceeded", message.to_owned());
            }
            ["Progressing", "True", "NewReplicaSetAvailable", _] => has_progressed = true,
            ["Available", "True", ..] => is_available = true,
            _ => {}
        }
    }
    let wanted = replicas(deployment);
    let count = |field: &str| deployment.status_count(field);
    let (existing, updated) = (count("replicas"), count("updatedReplicas"));
    let incomplete = fewer("LessReplicas", "Pods", existing, wanted)
        .or_else(|| fewer("LessUpdated", "updated Pods", updated, wanted))
        .or_else(|| extra(existing, wanted))
        .or_else(|| {
            fewer(
                "LessAvailable",
                "available Pods",
                count("availableReplicas"),
                updated,
            )
        })
        .or_else(|| fewer("LessReady", "ready Pods", count("readyReplicas"), wanted));
    if let Some(verdict) = incomplete {
        return verdict;
    }
    if !has_progressed {
        return Verdict::pending(
            "ReplicaSetNotAvailable",
            "the newest ReplicaSet is not available",
        );
    }
    if !is_available {
        return Verdict::pending(
            "DeploymentNotAvailable",
            "its condition Available is not True",
        );
    }
    current(format!("available with {existing} Pods"))
}

pub(crate) fn replica_set(set: &Object<'_>) -> Verdict {
    if conditions(set).any(|condition| matches!(condition, ["ReplicaFailure", "True", ..])) {
        return Verdict::pending("ReplicaFailure", "Pods cannot be created or deleted");
    }
    let wanted = replicas(set);
    let count = |field: &str| set.status_count(field);
    let existing = count("replicas");
    fewer(
        "LessLabelled",
        "labelled Pods",
        count("fullyLabeledReplicas"),
        wanted,
    )
    .or_else(|| {
        fewer(
            "LessAvailable",
            "available Pods",
            count("availableReplicas"),
            wanted,
        )
    })
    .or_else(|| fewer("LessReady", "ready Pods", count("readyReplicas"), wanted))
    .or_else(|| extra(existing, wanted))
    .unwrap_or_else(|| current(format!("available with {existing} Pods")))
}

pub(crate) fn daemon_set(set: &Object<'_>) -> Verdict {
    for (pointer, reason) in [
        ("/metadata/generation", "NoGeneration"),
        ("/status/observedGeneration", "NoObservedGeneration"),
    ] {
        if set.at(pointer).number().is_none() {
            return Verdict::pending(reason, format!("{pointer} is missing"));
        }
    }
    let Some(wanted) = set.status().get("desiredNumberScheduled").integer() else {
        return Verdict::pending("NoDesiredNumber", "the number of Pods is not known yet");
    };
    let count = |field: &str| set.status_count(field);
    fewer(
        "LessCurrent",
        "Pods",
        count("currentNumberScheduled"),
        wanted,
    )
    .or_else(|| {
        fewer(
            "LessUpdated",
            "updated Pods",
            count("updatedNumberScheduled"),
            wanted,
        )
    })
    .or_else(|| {
        fewer(
            "LessAvailable",
            "available Pods",
            count("numberAvailable"),
            wanted,
        )
    })
    .or_else(|| fewer("LessReady", "ready Pods", count("numberReady"), wanted))
    .unwrap_or_else(|| current(format!("all {wanted} Pods run")))
}

pub(crate) fn stateful_set(set: &Object<'_>) -> Verdict {
    let strategy = set.spec().get("updateStrategy");
    if strategy.get("type").text() == Some("OnDelete") {
        return current("the user decides when its Pods are replaced");
    }
    let wanted = replicas(set);
    let count = |field: &str| set.status_count(field);
    let (existing, updated) = (count("replicas"), count("updatedReplicas"));
    let incomplete = fewer("LessReplicas", "Pods", existing, wanted)
        .or_else(|| fewer("LessReady", "ready Pods", count("readyReplicas"), wanted))
        .or_else(|| extra(existing, wanted));
    if let Some(verdict) = incomplete {
        return verdict;
    }
    if let Some(partition) = strategy.at("/rollingUpdate/partition").integer() {
        let partition = fewer(
            "PartitionRollout",
            "updated Pods",
            updated,
            wanted - partition,
        );
        return partition
            .unwrap_or_else(|| current(format!("{updated} Pods of the partition are updated")));
    }
    if let Some(verdict) = fewer(
        "LessCurrent",
        "current Pods",
        count("currentReplicas"),
        wanted,
    ) {
        return verdict;
    }
    let revision = |field: &str| set.status().get(field).text_or_empty();
    if revision("currentRevision") != revision("updateRevision") {
        return Verdict::pending("RevisionMismatch", "the update is not complete");
    }
    current(format!("all {existing} Pods run"))
}
