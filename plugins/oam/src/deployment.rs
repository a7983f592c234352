//! The Deployment of a workload, as a part of it.
//!
//! The conditions and counts are the same as in the rule for Deployments of the interpreter `apps`. Live Deployments have a
//! spec with all defaults, so this rule needs no other forms.

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

/// The fields of a Deployment that this rule reads.
pub(crate) const FIELDS: [&str; 15] = [
    "/metadata/deletionTimestamp",
    "/metadata/generation",
    "/metadata/name",
    "/spec/paused",
    "/spec/replicas",
    "/status/availableReplicas",
    "/status/conditions/*/lastTransitionTime",
    "/status/conditions/*/message",
    "/status/conditions/*/observedGeneration",
    "/status/conditions/*/reason",
    "/status/conditions/*/status",
    "/status/conditions/*/type",
    "/status/observedGeneration",
    "/status/replicas",
    "/status/updatedReplicas",
];

/// The verdict on a Deployment. If it is the only one of its workload, the Pods of the workload are its Pods, and explain
/// why it is not ready.
pub(crate) fn rule(
    deployment: &Object<'_>,
    input: &Input<'_>,
    is_only: bool,
) -> Result<Verdict, Failure> {
    let Some(want) = deployment.at("/spec/replicas").integer() else {
        return Ok(named(deployment, standard::spec_not_reported()));
    };
    let verdict = stopped(deployment)
        .or_else(|| unfinished(deployment, want))
        .unwrap_or_else(|| done(want));
    let verdict = if is_only {
        let works = verdict.state == READY;
        Workload::new(deployment, input, want)
            .newest("pod-template-hash", None)
            .works(works)
            .judge(verdict)?
    } else {
        verdict
    };
    Ok(named(deployment, verdict))
}

/// The verdict with the name of the Deployment in its message.
fn named(deployment: &Object<'_>, verdict: Verdict) -> Verdict {
    let name = deployment.metadata().get("name").text_or_empty();
    let message = format!("Deployment {name}: {}", verdict.message);
    Verdict {
        message: message.into(),
        ..verdict
    }
}

/// Deleted, paused, or with a rollout that stopped.
fn stopped(deployment: &Object<'_>) -> Option<Verdict> {
    if deployment.at("/metadata/deletionTimestamp").is_present() {
        return Some(Verdict::pending("DeploymentDeleted", "it is being deleted"));
    }
    if deployment.spec().get("paused").is_true() {
        return Some(Verdict::suspended("Paused", "the rollout is paused"));
    }
    let conditions = deployment.conditions();
    let late = conditions.find("Progressing").filter(Condition::is_false);
    let refused = conditions.find("ReplicaFailure").filter(Condition::is_true);
    let problem = late.or(refused)?;
    let message = problem.message().to_owned();
    let verdict = Verdict::failed(problem.reason_or("RolloutStopped"), message);
    Some(verdict.since(problem.since_ms()))
}

/// Pending, until the controller has observed the spec, the counts agree with it, and the controller confirms them.
fn unfinished(deployment: &Object<'_>, want: i64) -> Option<Verdict> {
    let pending = |message: String| Some(Verdict::pending("RolloutInProgress", message));
    if deployment.observed_generation().is_none() || deployment.is_stale() {
        return pending("the controller has not observed its newest spec".to_owned());
    }
    let updated = deployment.status_count("updatedReplicas");
    if updated < want {
        return pending(format!("{updated} of {want} replicas are updated"));
    }
    let total = deployment.status_count("replicas");
    if total > want {
        return pending(format!("{total} replicas exist, {want} are desired"));
    }
    let available = deployment.status_count("availableReplicas");
    if available < want {
        return pending(format!("{available} of {want} replicas are available"));
    }
    let conditions = deployment.conditions();
    // Without a deadline, the controller sets no condition Progressing.
    let progressing = conditions.find("Progressing");
    if progressing.is_some_and(|it| it.reason() != "NewReplicaSetAvailable") {
        return pending("the controller does not confirm that the rollout is complete".to_owned());
    }
    if !conditions.is_true("Available") {
        return pending("the controller does not confirm that it is available".to_owned());
    }
    None
}

fn done(want: i64) -> Verdict {
    match want {
        0 => Verdict::ready("ScaledToZero", "no replicas are desired"),
        _ => Verdict::ready(
            "DeploymentAvailable",
            format!("{want} replicas are available"),
        ),
    }
}
