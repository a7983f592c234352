//! Deployment.
//!
//! The counts are those `kubectl rollout status` and kstatus compare; Suspended for a paused one is
//! Argo CD's; `ReplicaFailure` is Failed because a quota or an admission webhook does not go away by
//! itself (argo-cd#1382).

use kindsight_sdk::prelude::*;

use crate::{METADATA, count};

/// `progressDeadlineSeconds` of a Deployment without a deadline.
const NO_DEADLINE_S: i64 = i32::MAX as i64;

pub(crate) fn kind() -> Kind {
    Kind::new("apps", "*", "Deployment")
        .fields(&METADATA)
        .fields(&[
            "/spec/replicas",
            "/spec/paused",
            "/spec/progressDeadlineSeconds",
            "/status",
        ])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object) {
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
        return unconfirmed(object, conditions).unwrap_or_else(standard::spec_not_reported);
    };
    unfinished(object, want)
        .or_else(|| unconfirmed(object, conditions))
        .unwrap_or_else(|| done(want))
}

/// Failed, when the rollout is past its deadline or Pods cannot be created.
fn failure(conditions: Conditions<'_>) -> Option<Verdict> {
    let progressing = conditions.find("Progressing");
    if let Some(late) = progressing.filter(|it| it.reason() == "ProgressDeadlineExceeded") {
        return Some(Verdict::failed("ProgressDeadlineExceeded", late.message()));
    }
    let refused = conditions
        .find("ReplicaFailure")
        .filter(Condition::is_true)?;
    Some(Verdict::failed(
        refused.reason_or("ReplicaFailure"),
        refused.message(),
    ))
}

/// Pending, while the counts differ from the spec.
fn unfinished(object: &Object<'_>, want: i64) -> Option<Verdict> {
    let total = object.status_count("replicas");
    let updated = object.status_count("updatedReplicas");
    let available = object.status_count("availableReplicas");
    let ready = object.status_count("readyReplicas");
    let pending = |reason: &str, message: String| Some(Verdict::pending(reason, message));
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

/// Pending, while the counts are complete but the controller does not confirm it.
fn unconfirmed(object: &Object<'_>, conditions: Conditions<'_>) -> Option<Verdict> {
    let has_deadline = has_deadline(object);
    if let Some(progressing) = conditions.find("Progressing") {
        let complete = progressing.reason() == "NewReplicaSetAvailable";
        if progressing.is_false() || (has_deadline && !complete) {
            let reason = progressing.reason_or("Progressing");
            return Some(Verdict::pending(reason, progressing.message()));
        }
    } else if has_deadline {
        let message = "the controller does not say that the rollout is complete";
        return Some(Verdict::pending("ProgressUnknown", message));
    }
    match conditions.find("Available") {
        Some(available) if available.is_true() => None,
        Some(available) => Some(Verdict::pending(
            available.reason_or("Unavailable"),
            available.message(),
        )),
        None => Some(Verdict::pending(
            "AvailabilityUnknown",
            "the controller does not say that it is available",
        )),
    }
}

/// Returns whether the rollout has a deadline. Without one, which is also what the largest number
/// means, the controller sets no condition Progressing.
fn has_deadline(object: &Object<'_>) -> bool {
    let deadline = object.spec().get("progressDeadlineSeconds");
    deadline.is_present() && deadline.integer() != Some(NO_DEADLINE_S)
}

fn done(want: i64) -> Verdict {
    match want {
        0 => Verdict::ready("ScaledToZero", "no replicas are desired"),
        _ => Verdict::ready("Available", count(want, want, "available")),
    }
}
