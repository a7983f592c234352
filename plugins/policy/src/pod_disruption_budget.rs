//! PodDisruptionBudget.
//!
//! Argo CD's failures, by the reason the controller gives when it cannot compute the budget
//! (`InsufficientPods` is no failure: argo-cd#20171), and Karmada's count: a budget below its minimum
//! is Pending, during every rollout too (argo-cd#21198). A status that
//! was observed and holds no counts is what kstatus calls Current; without them there is no evidence,
//! so it is Present here. The API server stores a new budget with all counts 0, which is no evidence
//! before the controller has looked at it.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("policy", "*", "PodDisruptionBudget")
        .fields(&standard::FIELDS)
        .fields(&["/status/currentHealthy", "/status/desiredHealthy"])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object) {
        return verdict;
    }
    let mut conditions = object.conditions().iter();
    if let Some(failed) = conditions.find(|it| it.is_false() && it.reason() == "SyncFailed") {
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
    match (current, desired) {
        (Some(0), Some(0)) if !was_observed => Verdict::pending(
            "GenerationNotObserved",
            "the controller has not counted its Pods yet",
        ),
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
