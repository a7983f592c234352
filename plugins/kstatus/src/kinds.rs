//! Pods, Jobs, Services, claims and definitions of Kinds.

use kindsight_sdk::prelude::*;

use crate::{conditions, current, failed};

pub(crate) const POD_FIELDS: [&str; 3] = [
    "/metadata/creationTimestamp",
    "/status/containerStatuses",
    "/status/phase",
];
pub(crate) const JOB_FIELDS: [&str; 6] = [
    "/spec/completions",
    "/spec/parallelism",
    "/status/active",
    "/status/failed",
    "/status/startTime",
    "/status/succeeded",
];

/// Time that kstatus gives the scheduler, in milliseconds.
const SCHEDULE_WINDOW_MS: i64 = 15_000;

pub(crate) fn pod(pod: &Object<'_>, input: &Input<'_>) -> Verdict {
    match pod.status().get("phase").text_or_empty() {
        "Succeeded" => current("the Pod has completed"),
        "Failed" => current("the Pod has completed without success"),
        "Running" => running(pod),
        "Pending" => pending(pod, input),
        "" => Verdict::pending("PodNotObserved", "the Pod has no phase yet"),
        phase => Verdict::unknown(
            "UnknownPhase",
            format!("kstatus does not know the phase {phase}"),
        ),
    }
}

fn running(pod: &Object<'_>) -> Verdict {
    if conditions(pod).any(|condition| matches!(condition, ["Ready", "True", ..])) {
        return current("the Pod is ready");
    }
    let containers = pod.status().get("containerStatuses").items();
    let crashing = containers.filter(|container| {
        container.at("/state/waiting/reason").text() == Some("CrashLoopBackOff")
    });
    let crashing: Vec<&str> = crashing
        .map(|container| container.get("name").text_or_empty())
        .collect();
    if crashing.is_empty() {
        return Verdict::pending("PodRunningNotReady", "the Pod runs and is not ready");
    }
    let message = format!("containers crash repeatedly: {}", crashing.join(", "));
    Verdict::failed("ContainerCrashLooping", message)
}

fn pending(pod: &Object<'_>, input: &Input<'_>) -> Verdict {
    let is_unschedulable =
        |condition: [&str; 4]| matches!(condition, ["PodScheduled", "False", "Unschedulable", _]);
    if !conditions(pod).any(is_unschedulable) {
        return Verdict::pending("PodPending", "the Pod is pending");
    }
    let created_ms = pod.at("/metadata/creationTimestamp").time_ms().unwrap_or(0);
    let failed_from_ms = created_ms.saturating_add(SCHEDULE_WINDOW_MS);
    if input.now_ms() < failed_from_ms {
        let early = Verdict::pending("PodNotScheduled", "no node takes the Pod yet");
        return early.recheck_at(failed_from_ms);
    }
    Verdict::failed("PodUnschedulable", "no node can take the Pod")
}

pub(crate) fn service(service: &Object<'_>) -> Verdict {
    let spec = service.spec();
    let is_balanced = spec.get("type").text() == Some("LoadBalancer");
    if is_balanced && spec.get("clusterIP").text_or_empty().is_empty() {
        return Verdict::pending("NoIPAssigned", "the load balancer has no cluster IP yet");
    }
    current("the Service is ready")
}

pub(crate) fn persistent_volume_claim(claim: &Object<'_>) -> Verdict {
    match claim.status().get("phase").text().unwrap_or("unknown") {
        "Bound" => current("the claim is bound"),
        phase => Verdict::pending(
            "NotBound",
            format!("the claim is not bound, its phase is {phase}"),
        ),
    }
}

pub(crate) fn job(job: &Object<'_>) -> Verdict {
    let count = |pointer: &str| job.at(pointer).integer();
    let parallelism = count("/spec/parallelism").unwrap_or(1);
    let completions = count("/spec/completions").unwrap_or(parallelism);
    let [succeeded, failures, active] =
        ["/status/succeeded", "/status/failed", "/status/active"].map(|at| count(at).unwrap_or(0));
    for condition in conditions(job) {
        match condition {
            ["Complete", "True", ..] => {
                return current(format!("{succeeded} of {completions} runs have succeeded"));
            }
            ["Failed", "True", ..] => {
                let message = format!("{failures} runs have failed, {completions} are required");
                return Verdict::failed("JobFailed", message);
            }
            _ => {}
        }
    }
    if job.status().get("startTime").text_or_empty().is_empty() {
        return Verdict::pending("JobNotStarted", "the Job has not started");
    }
    current(format!(
        "in progress: {succeeded} succeeded, {active} active, {failures} failed"
    ))
}

pub(crate) fn custom_resource_definition(definition: &Object<'_>) -> Verdict {
    for condition in conditions(definition) {
        match condition {
            ["NamesAccepted", "False", reason, message] => return failed(reason, message),
            ["Established", "False", reason, message] if reason != "Installing" => {
                return failed(reason, message);
            }
            ["Established", "True", ..] => return current("the definition is established"),
            _ => {}
        }
    }
    Verdict::pending("Installing", "the definition is being installed")
}
