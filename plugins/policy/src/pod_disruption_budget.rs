//! PodDisruptionBudget.
//!
//! The failures are the same as in Argo CD, from the reason of the controller if it cannot compute
//! the budget (`InsufficientPods` is not a failure: argo-cd#20171). The count is compared as in
//! Karmada: a budget below its minimum is Pending, even during a rollout (argo-cd#21198). kstatus
//! calls an observed status without counts Current. Without counts there is no evidence, so it is
//! Present here. The API server stores a new budget with all counts 0, which is no evidence until
//! the controller has observed the budget.
//!
//! A budget without expected Pods is Present, like a Service whose selector finds no Pod, even if it
//! requires Pods: its workload may be scaled to zero, or its selector may be wrong. If Pods are
//! healthy although none is expected, they have no controller that can be scaled, or their workload is
//! being scaled to zero. The disruption controller then permits no disruption. The other tools do not
//! read this count.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("policy", "*", "PodDisruptionBudget")
        .standard_checks()
        .fields(&["/status/currentHealthy", "/status/desiredHealthy"])
        .fields(&["/status/expectedPods"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
        return verdict;
    }
    let mut conditions = object.conditions().iter();
    if let Some(failed) =
        conditions.find(|condition| condition.is_false() && condition.reason() == "SyncFailed")
    {
        return Verdict::failed("SyncFailed", failed.message().to_owned());
    }
    let status = object.status();
    if status.is_empty() {
        return Verdict::pending("NoStatusYet", "the controller has not looked at it yet");
    }
    let current = status.get("currentHealthy").integer();
    let desired = status.get("desiredHealthy").integer();
    let was_observed = object
        .observed_generation()
        .is_some_and(|observed| observed > 0);
    let expects_none = was_observed && status.get("expectedPods").integer() == Some(0);
    match (current, desired) {
        (Some(0), Some(0)) if !was_observed => Verdict::pending(
            "GenerationNotObserved",
            "the controller has not counted its Pods yet",
        ),
        (Some(current), Some(_)) if expects_none => without_expected_pods(current),
        (Some(current), Some(desired)) if current < desired => Verdict::pending(
            "InsufficientPods",
            format!("{current} of {desired} Pods are healthy"),
        ),
        (Some(current), Some(desired)) => Verdict::ready(
            "SufficientPods",
            format!("{current} Pods are healthy, {desired} are required"),
        ),
        _ => Verdict::present("NoCounts", "its status does not count healthy Pods"),
    }
}

/// Present: the budget protects no Pods, so the counts are no evidence.
fn without_expected_pods(healthy: i64) -> Verdict {
    if healthy == 0 {
        let message = "no Pods are expected for its selector, so it protects none";
        return Verdict::present("NoPods", message);
    }
    Verdict::present(
        "NoExpectedPods",
        format!("{healthy} Pods are healthy, but no workload that can be scaled requests them"),
    )
}
