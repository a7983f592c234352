//! Deployment.
//!
//! The counts are the same as in `kubectl rollout status` and kstatus. Suspended for a paused
//! Deployment is taken from Argo CD. `ReplicaFailure` is Failed, because the cause is a quota or an
//! admission webhook, which require a change by a user (argo-cd#1382). Pods that cannot run are a
//! failure before the deadline has passed, unlike in other tools. While enough Pods are available,
//! the Deployment is Degraded.

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

use crate::{METADATA, count};

/// The value of `progressDeadlineSeconds` that means that there is no deadline.
const NO_DEADLINE_S: i64 = i32::MAX as i64;

/// The counts of the status that equal `replicas` after a rollout.
const COUNTS: [&str; 3] = ["updatedReplicas", "readyReplicas", "availableReplicas"];

pub(crate) fn kind() -> Kind {
    Workload::kind(Kind::new("apps", "*", "Deployment"))
        .fields(&METADATA)
        .fields(&[
            "/spec/replicas",
            "/spec/paused",
            "/spec/progressDeadlineSeconds",
            "/status",
        ])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let verdict = by_counts(object, input);
    let want = object.replicas();
    let want = want.unwrap_or_else(|| object.status_count("replicas"));
    // Most reports contain no Pods. The remaining code would then cost as much as the code above.
    if input.related(0).objects().len() == 0 || has_only_old_pods(object) {
        return Ok(verdict);
    }
    let progressing = object.conditions().find("Progressing");
    let newest = progressing.and_then(|condition| newest_hash(object, condition.message()));
    Workload::new(object, input, want)
        .newest("pod-template-hash", newest)
        .works(is_rolled_out(object, want) && object.conditions().is_true("Available"))
        .judge(verdict)
}

/// Returns whether the status counts Pods, and none of them is of the newest template.
///
/// A change of the template together with `replicas` begins in this way: the controller first scales the existing
/// ReplicaSets and writes the status, and makes the new ReplicaSet later (`isScalingEvent` and `sync` of Kubernetes
/// 1.34). The condition Progressing then still names the previous ReplicaSet.
fn has_only_old_pods(object: &Object<'_>) -> bool {
    object.status_count("replicas") > 0 && object.status_count("updatedReplicas") == 0
}

/// The hash of the newest template, from the name of its ReplicaSet: `ReplicaSet "web-7f9c" is
/// progressing`.
fn newest_hash<'a>(object: &Object<'_>, message: &'a str) -> Option<&'a str> {
    let name = object.metadata().get("name").text()?;
    let mut quoted = message.split('"');
    quoted.find_map(|part| part.strip_prefix(name)?.strip_prefix('-'))
}

/// Returns whether every replica is of the newest template, according to the counts and the
/// controller.
fn is_rolled_out(object: &Object<'_>, want: i64) -> bool {
    let progressing = object.conditions().find("Progressing");
    let is_complete =
        progressing.is_some_and(|condition| condition.reason() == "NewReplicaSetAvailable");
    ["replicas", "updatedReplicas"]
        .iter()
        .all(|field| object.status_count(field) == want)
        && (is_complete || !has_deadline(object))
}

fn by_counts(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    if object.spec().get("paused").is_true() {
        return Verdict::suspended("Paused", "the rollout is paused");
    }
    if let Some(verdict) = standard::progress(object) {
        return verdict;
    }
    let conditions = object.conditions();
    if let Some(verdict) = failure(conditions) {
        return verdict;
    }
    if object.status().is_empty() {
        return Verdict::pending("NoStatusYet", "the controller has not looked at it yet");
    }
    let Some(want) = object.replicas() else {
        return incomplete(conditions)
            .or_else(|| unconfirmed(object, conditions))
            .unwrap_or_else(|| standard::by_status_alone(object, &COUNTS));
    };
    standard::fewer_than_sent(object, &COUNTS)
        .or_else(|| unfinished(object, want))
        .or_else(|| unconfirmed(object, conditions))
        .unwrap_or_else(|| done(want))
}

/// Failed, if the rollout is past its deadline or Pods cannot be created.
fn failure(conditions: Conditions<'_>) -> Option<Verdict> {
    let progressing = conditions.find("Progressing");
    if let Some(late) =
        progressing.filter(|condition| condition.reason() == "ProgressDeadlineExceeded")
    {
        let verdict = Verdict::failed("ProgressDeadlineExceeded", late.message().to_owned());
        return Some(verdict.since(late.since_ms()));
    }
    let refused = conditions
        .find("ReplicaFailure")
        .filter(Condition::is_true)?;
    let verdict = Verdict::failed(
        refused.reason_or("ReplicaFailure"),
        refused.message().to_owned(),
    );
    Some(verdict.since(refused.since_ms()))
}

/// Pending, while the counts differ from the spec.
fn unfinished(object: &Object<'_>, want: i64) -> Option<Verdict> {
    let total = object.status_count("replicas");
    let updated = object.status_count("updatedReplicas");
    let available = object.status_count("availableReplicas");
    let ready = object.status_count("readyReplicas");
    let pending = |reason: &'static str, message: String| Some(Verdict::pending(reason, message));
    if updated < want {
        return pending("RollingOut", count(updated, want, "updated"));
    }
    if total > updated {
        let old = total - updated;
        return pending("RollingOut", format!("{old} old replicas still exist"));
    }
    if total > want {
        return pending(
            "ScalingDown",
            format!("{total} replicas exist, {want} are desired"),
        );
    }
    if available < updated {
        return pending("Unavailable", count(available, updated, "available"));
    }
    if ready < want {
        return pending("NotReady", count(ready, want, "ready"));
    }
    None
}

/// Pending, while the controller says that the rollout is not complete, or is paused.
fn incomplete(conditions: Conditions<'_>) -> Option<Verdict> {
    let progressing = conditions.find("Progressing")?;
    let is_complete = progressing.reason() == "NewReplicaSetAvailable";
    let reason = progressing.reason_or("Progressing");
    (!is_complete).then(|| Verdict::pending(reason, progressing.message().to_owned()))
}

/// Pending, while the counts are complete but the controller has not confirmed the rollout.
fn unconfirmed(object: &Object<'_>, conditions: Conditions<'_>) -> Option<Verdict> {
    let has_deadline = has_deadline(object);
    if let Some(progressing) = conditions.find("Progressing") {
        let complete = progressing.reason() == "NewReplicaSetAvailable";
        if progressing.is_false() || (has_deadline && !complete) {
            let reason = progressing.reason_or("Progressing");
            return Some(Verdict::pending(reason, progressing.message().to_owned()));
        }
    } else if has_deadline {
        let message = "the controller does not say that the rollout is complete";
        return Some(Verdict::pending("ProgressUnknown", message));
    }
    match conditions.find("Available") {
        Some(available) if available.is_true() => None,
        Some(available) => {
            let reason = available.reason_or("Unavailable");
            let verdict = Verdict::pending(reason, available.message().to_owned());
            Some(verdict.since(available.since_ms()))
        }
        None => Some(Verdict::pending(
            "AvailabilityUnknown",
            "the controller does not say that it is available",
        )),
    }
}

/// Returns whether the rollout has a deadline. Without a deadline, which the largest number also
/// means, the controller sets no condition Progressing.
fn has_deadline(object: &Object<'_>) -> bool {
    let deadline = object.spec().get("progressDeadlineSeconds");
    // The API server adds a deadline of ten minutes to a manifest without one.
    let is_set = deadline.is_present() || object.has_manifest_spec();
    is_set && deadline.integer() != Some(NO_DEADLINE_S)
}

fn done(want: i64) -> Verdict {
    match want {
        0 => Verdict::ready("ScaledToZero", "no replicas are desired"),
        _ => Verdict::ready("Available", count(want, want, "available")),
    }
}
