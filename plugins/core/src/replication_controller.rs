//! ReplicationController.
//!
//! The same as a ReplicaSet: the counts of kstatus, and Argo CD's Failed for Pods that cannot be
//! created.

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

/// The counts of the status that equal `replicas` once all Pods work.
const COUNTS: [&str; 3] = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];

pub(crate) fn kind() -> Kind {
    Workload::kind(Kind::new("", "*", "ReplicationController"))
        .deletion_check()
        .fields(&["/metadata/generation", "/spec/replicas", "/status"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let verdict = by_counts(object, input);
    let want = object.replicas();
    let want = want.unwrap_or_else(|| object.status_count("replicas"));
    let mut workload = Workload::new(object, input, want);
    if object.status_count("replicas") == want {
        let available = object.status_count("availableReplicas");
        let working = available.min(object.status_count("readyReplicas"));
        workload = workload.short_of(want.saturating_sub(working));
    }
    workload.judge(verdict)
}

fn by_counts(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
        return verdict;
    }
    let conditions = object.conditions();
    if let Some(refused) = conditions.find("ReplicaFailure").filter(Condition::is_true) {
        let verdict = Verdict::failed(
            refused.reason_or("ReplicaFailure"),
            refused.message().to_owned(),
        );
        return verdict.since(refused.since_ms());
    }
    if object.status().members().next().is_none() {
        return Verdict::pending("NoStatusYet", "the controller has not looked at it yet");
    }
    let Some(want) = object.replicas() else {
        return standard::by_status_alone(object, &COUNTS);
    };
    standard::fewer_than_sent(object, &COUNTS).unwrap_or_else(|| counts(object, want))
}

fn counts(object: &Object<'_>, want: i64) -> Verdict {
    let total = object.status_count("replicas");
    if total > want {
        let message = format!("{total} replicas exist, {want} are desired");
        return Verdict::pending("ScalingDown", message);
    }
    let checks = [
        ("fullyLabeledReplicas", "Labelling", "labelled"),
        ("readyReplicas", "NotReady", "ready"),
        ("availableReplicas", "Unavailable", "available"),
    ];
    for (field, reason, what) in checks {
        let have = object.status_count(field);
        if have < want {
            return Verdict::pending(reason, format!("{have} of {want} replicas are {what}"));
        }
    }
    match want {
        0 => Verdict::ready("ScaledToZero", "no replicas are desired"),
        _ => Verdict::ready("Available", format!("all {want} replicas are available")),
    }
}
