//! Pods, also as parts of their owners.
//!
//! A failed Pod is Failed, with the same message as in Argo CD (kstatus calls it Current). A
//! container that waits because of an error makes the Pod Failed, regardless of its restart policy.
//! The same applies to init containers, which Argo CD ignores. The first failed pulls of an image
//! do not make the Pod Failed, because many later pulls succeed. For ten minutes after a crash, a
//! container that is running again but is not ready makes the Pod Failed; in Argo CD, a crash
//! counts without a time limit. A running Pod that is expected to end, for example the Pod of a Job
//! or of a hook, is Pending although it is ready. Any other running Pod is Ready when its condition
//! is True, also with the restart policies for which Argo CD waits forever. If one of its
//! containers crashed repeatedly and a short time ago, the Pod is Degraded; in Argo CD and kstatus,
//! it is healthy between its crashes. A running Pod is also Degraded if the kubelet refused to resize
//! it or failed to do so; no other tool checks this. The scheduler has 15 seconds, as in kstatus, but the time
//! begins when the scheduler refused the Pod, which may be long after its creation.

mod containers;
mod owners;
mod restarts;
mod trouble;

use containers::Stuck;
use restarts::Restarts;

use crate::{Condition, Failure, Input, Object, Verdict, standard, states};

pub use owners::Workload;
pub use restarts::RECENT_RESTARTS;

/// Default of `unschedulableGraceSeconds`.
const UNSCHEDULABLE_GRACE_S: i64 = 15;

/// Default of `imagePullGraceSeconds`: the time for three attempts of the kubelet.
const IMAGE_PULL_GRACE_S: i64 = 60;

/// The properties in [`SETTINGS_SCHEMA`], for both constants.
macro_rules! settings {
    () => {
        r#"
    "unschedulableGraceSeconds": {
      "type": "integer",
      "minimum": 0,
      "default": 15,
      "description": "Seconds that a Pod may be unschedulable before it is Failed; set more where nodes are added on demand."
    },
    "imagePullGraceSeconds": {
      "type": "integer",
      "minimum": 0,
      "default": 60,
      "description": "Seconds after its containers could start that a Pod may fail to pull an image before it is Failed; back-off is Failed at once."
    },
    "restartWindowSeconds": {
      "type": "integer",
      "minimum": 0,
      "default": 600,
      "description": "Seconds after a crash that a Pod is Degraded although it is ready again, if a container restarted at least twice or ran out of memory; 0 ignores restarts."
    },
    "restartedPodsPercent": {
      "type": "integer",
      "minimum": 0,
      "maximum": 100,
      "default": 10,
      "description": "An owner is Degraded if at least this share of its Pods, and more than one Pod, has recent restarts; its only Pod always counts."
    }"#
    };
}

/// Properties of the settings that [`judge`] and [`Workload::judge`] read, for the schema of an
/// interpreter that has further settings: how long a Pod may be unschedulable, how long its image
/// pulls may fail, and how long and in how many Pods a restart matters.
pub const SETTINGS: &str = settings!();

/// Schema of an interpreter whose only settings are [`SETTINGS`].
pub const SETTINGS_SCHEMA: &str = concat!(
    r#"{"type": "object", "additionalProperties": false, "properties": {"#,
    settings!(),
    "}}"
);

/// Annotations of Pods that a deployment tool runs once.
const HOOKS: [&str; 2] = ["argocd.argoproj.io/hook", "helm.sh/hook"];

/// The fields of a Pod that [`judge`] reads in addition to [`standard::FIELDS`].
pub const FIELDS: [&str; 10] = [
    "/metadata/annotations/argocd.argoproj.io~1hook",
    "/metadata/annotations/helm.sh~1hook",
    "/metadata/creationTimestamp",
    "/metadata/ownerReferences",
    "/status/phase",
    "/status/reason",
    "/status/message",
    "/status/startTime",
    "/status/initContainerStatuses",
    "/status/containerStatuses",
];

/// Judges a Pod. Reads the time, so its Kind must be declared with [`crate::Kind::uses_now`].
///
/// # Errors
/// [`Failure::InvalidSettings`] if one of the settings is not a number of seconds.
pub fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    if let Some(verdict) = standard::checks(object, input) {
        return Ok(verdict);
    }
    let status = object.status();
    let message = status.get("message").text_or_empty();
    let stuck = containers::stuck(status);
    Ok(match (status.get("phase").text_or_empty(), stuck) {
        ("Succeeded", _) => Verdict::succeeded("Completed", "every container succeeded"),
        ("Failed", _) => containers::failure(status),
        ("Unknown", _) => Verdict::unknown("NodeLost", message.to_owned()),
        (_, Some(stuck)) if stuck.may_pass() => return image_not_pulled(object, stuck, input),
        (_, Some(stuck)) => {
            let unready = object
                .conditions()
                .find("Ready")
                .filter(Condition::is_false);
            let since_ms = unready.and_then(|unready| unready.since_ms());
            Verdict::failed(stuck.reason.to_owned(), stuck.message()).since(since_ms)
        }
        ("Running", None) => return running(object, input),
        ("Pending", None) => return pending(object, input),
        ("", None) => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        (other, None) => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    })
}

/// Pending within the grace period, then Failed. Also Pending if no time shows that this is not the
/// first attempt: if the next attempts fail too, the kubelet reports that it backs off.
fn image_not_pulled(
    object: &Object<'_>,
    stuck: Stuck<'_>,
    input: &Input<'_>,
) -> Result<Verdict, Failure> {
    let grace_ms = input.setting_ms("imagePullGraceSeconds", IMAGE_PULL_GRACE_S)?;
    let (reason, message) = (stuck.reason.to_owned(), stuck.message());
    Ok(match could_start_ms(object).max(stuck.ended_ms()) {
        Some(start_ms) => {
            let deadline_ms = start_ms.saturating_add(grace_ms);
            Verdict::pending_until(deadline_ms, input.now_ms(), reason, message)
        }
        None => Verdict::pending(reason, message),
    })
}

/// Conditions of a Pod that become True before its containers start.
const BEFORE_START: [&str; 3] = ["PodScheduled", "PodReadyToStartContainers", "Initialized"];

/// The last known time before its containers could start, in Unix milliseconds.
fn could_start_ms(object: &Object<'_>) -> Option<i64> {
    let conditions = object.conditions();
    let steps = BEFORE_START.iter().filter_map(|name| {
        let step = conditions.find(name).filter(Condition::is_true)?;
        step.since_ms()
    });
    let others = [
        object.at("/metadata/creationTimestamp").time_ms(),
        object.at("/status/startTime").time_ms(),
        containers::init_ended_ms(object.status()),
    ];
    steps.chain(others.into_iter().flatten()).max()
}

fn running(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let ready = object.conditions().find("Ready");
    let since_ms = ready.and_then(|ready| ready.since_ms());
    if ready.is_some_and(|ready| ready.is_true()) {
        let verdict = working(object, input)?.since(since_ms);
        let failed_resize = failed_resize(object).filter(|_| verdict.state == states::READY);
        return Ok(failed_resize.unwrap_or(verdict));
    }
    if let Some(verdict) = containers::crashed(object.status(), input.now_ms()) {
        return Ok(verdict);
    }
    Ok(match ready {
        Some(ready) => Verdict::pending(ready.reason_or("NotReady"), ready.message().to_owned())
            .since(since_ms),
        None => Verdict::pending("NotReady", "it does not report that it is ready"),
    })
}

/// The verdict on a running Pod that reports that it is ready.
fn working(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let restarts = Restarts::of(object.status(), input)?;
    Ok(match (restarts, is_expected_to_end(object)) {
        (Some(restarts), true) => restarts.verdict(states::PENDING),
        (Some(restarts), false) => restarts.verdict(states::DEGRADED),
        (None, true) => Verdict::pending("Running", "it is running and expected to end"),
        (None, false) => Verdict::ready("Running", ""),
    })
}

/// Conditions of a resize of the containers, each with the reason that means a problem, and with the
/// reason of the verdict: the node can never provide the resources, or the kubelet failed to apply
/// them.
const RESIZE_PROBLEMS: [(&str, &str, &str); 2] = [
    ("PodResizePending", "Infeasible", "ResizeInfeasible"),
    ("PodResizeInProgress", "Error", "ResizeError"),
];

/// Degraded, if a resize failed. The containers keep running with their earlier resources.
fn failed_resize(object: &Object<'_>) -> Option<Verdict> {
    let conditions = object.conditions();
    let mut problems = RESIZE_PROBLEMS.into_iter();
    problems.find_map(|(condition, problem, reason)| {
        let resize = conditions.find(condition).filter(Condition::is_true)?;
        let verdict = Verdict::degraded(reason, resize.message().to_owned());
        (resize.reason() == problem).then(|| verdict.since(resize.since_ms()))
    })
}

/// Returns whether the Pod is expected to end, as the Pod of a Job or of a hook is.
fn is_expected_to_end(object: &Object<'_>) -> bool {
    let mut owners = object.metadata().get("ownerReferences").items();
    owners.any(|owner| {
        let group = owner.get("apiVersion").text_or_empty();
        owner.get("kind").text() == Some("Job") && group.starts_with("batch/")
    }) || HOOKS.iter().any(|hook| object.annotation(hook).is_some())
}

fn pending(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let conditions = object.conditions();
    if let Some(unscheduled) = conditions.find("PodScheduled").filter(Condition::is_false) {
        return match unscheduled.reason() {
            "SchedulingGated" => Ok(Verdict::suspended(
                "SchedulingGated",
                unscheduled.message().to_owned(),
            )),
            "Unschedulable" => unschedulable(object, unscheduled, input),
            _ => Ok(Verdict::pending(
                unscheduled.reason_or("NotScheduled"),
                unscheduled.message().to_owned(),
            )),
        };
    }
    let message = conditions.find("Ready").map(|ready| ready.message());
    Ok(Verdict::pending(
        "Starting",
        message.unwrap_or_default().to_owned(),
    ))
}

/// Pending within the grace period, then Failed. The period begins when the scheduler refused the
/// Pod, which may be long after its creation. If this time is unknown, Failed immediately, as in
/// kstatus.
fn unschedulable(
    object: &Object<'_>,
    unscheduled: Condition<'_>,
    input: &Input<'_>,
) -> Result<Verdict, Failure> {
    let grace_ms = input.setting_ms("unschedulableGraceSeconds", UNSCHEDULABLE_GRACE_S)?;
    let created_ms = object.at("/metadata/creationTimestamp").time_ms();
    let (reason, message) = ("Unschedulable", unscheduled.message().to_owned());
    Ok(match unscheduled.since_ms().or(created_ms) {
        Some(since_ms) => {
            let deadline_ms = since_ms.saturating_add(grace_ms);
            let verdict = Verdict::pending_until(deadline_ms, input.now_ms(), reason, message);
            verdict.since(unscheduled.since_ms())
        }
        None => Verdict::failed(reason, message),
    })
}
