//! `ContainerizedWorkload` and `PodSpecWorkload`.
//!
//! The controllers of both Kinds create a Deployment and Services, and list them in `status.resources`. The only condition,
//! Synced, says that the last application of these children succeeded. It makes no statement about Pods. So the Deployments
//! decide: the workload is Ready if every listed Deployment is reported and is ready.
//!
//! The controllers list only Deployments and Services. A list with another Kind is from another controller, whose children
//! this rule cannot judge.
//!
//! The status names no generation. A changed spec is visible once the controller has changed the Deployment. After an error,
//! the controller tries again, so Synced=False is Retrying.
//!
//! Sources: oam-kubernetes-runtime (commit 22c3abee), `containerizedworkload_controller.go`; `KubeVela` (commit 0c5c1ea6),
//! `podspecworkload_controller.go`; crossplane-runtime v0.9.0, `condition.go` (Synced).

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

use crate::{RETRYING, deployment};

/// Maximum number of owned Deployments that are judged. The controllers create one.
const DEPLOYMENTS_MAX: u32 = 16;

/// The position of the rule for Deployments. The first rule is for Pods.
const DEPLOYMENTS: usize = 1;

pub(crate) fn kind(group: &str, kind: &str) -> Kind {
    Workload::owner_kind(Kind::new(group, "*", kind))
        .related(
            ("apps", "Deployment"),
            Relation::Owned,
            &deployment::FIELDS,
            DEPLOYMENTS_MAX,
        )
        .deletion_check()
        .fields(&["/status/conditions", "/status/resources"])
}

/// The verdict on a workload of either Kind.
pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    if let Some(verdict) = standard::deletion(object, input) {
        return Ok(verdict);
    }
    let children = input.related(DEPLOYMENTS);
    let mut judged = Vec::new();
    for child in children.objects() {
        let is_only = children.total() == 1;
        judged.push(deployment::rule(&child, input, is_only)?);
    }
    let worst = judged.into_iter().max_by_key(rank);
    if let Some(failed) = worst.as_ref().filter(|worst| worst.state == FAILED) {
        return Ok(failed.clone());
    }
    if let Some(verdict) = not_synced(object).or_else(|| not_known(object, children)) {
        return Ok(verdict);
    }
    Ok(worst.unwrap_or_else(|| {
        let message = "its status lists no Deployment, and no Deployment of it is reported";
        Verdict::pending("NoDeployment", message)
    }))
}

/// The order of verdicts on Deployments, from the best to the worst.
fn rank(verdict: &Verdict) -> u8 {
    match verdict.state {
        READY => 0,
        SUSPENDED => 1,
        DEGRADED => 2,
        FAILED => 5,
        UNKNOWN => 4,
        _ => 3,
    }
}

/// The verdict unless the controller reports that it applied the children.
fn not_synced(object: &Object<'_>) -> Option<Verdict> {
    let Some(synced) = object.conditions().find("Synced") else {
        let message = "the controller has not reported yet";
        return Some(Verdict::pending("NoStatusYet", message));
    };
    let since_ms = synced.since_ms();
    if synced.is_true() {
        return None;
    }
    let message = synced.message().to_owned();
    let verdict = if synced.is_false() {
        Verdict::new(RETRYING, synced.reason_or("ReconcileError"), message)
    } else {
        Verdict::pending(synced.reason_or("NotSynced"), message)
    };
    Some(verdict.since(since_ms))
}

/// The verdict unless the status lists a Deployment and every listed child can be judged.
fn not_known(object: &Object<'_>, children: RelatedSet<'_>) -> Option<Verdict> {
    let listed = object.status().get("resources");
    if listed.items().len() == 0 {
        let message = "its status lists no Deployment";
        return Some(Verdict::pending("NoDeployment", message));
    }
    let mut has_deployment = false;
    for child in listed.items() {
        let text = |member| child.get(member).text_or_empty();
        let (api_version, kind, name) = (text("apiVersion"), text("kind"), text("name"));
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        match (group, kind) {
            ("apps", "Deployment") => {
                has_deployment = true;
                let is_named = |it: &Object<'_>| it.metadata().get("name").text() == Some(name);
                if !children.objects().any(|it| is_named(&it)) {
                    return Some(missing(name, children));
                }
            }
            ("", "Service" | "ConfigMap") => {}
            _ => {
                let message = format!("no rule judges its child {kind} {name}");
                return Some(Verdict::unknown("UnknownChild", message));
            }
        }
    }
    let are_cut = i64::try_from(children.objects().len()) != Ok(children.total());
    if are_cut {
        let message = format!("only {DEPLOYMENTS_MAX} of its Deployments are judged");
        return Some(Verdict::unknown("TooManyDeployments", message));
    }
    (!has_deployment).then(|| {
        let message = "its status lists no Deployment";
        Verdict::pending("NoDeployment", message)
    })
}

/// The verdict on a workload whose listed Deployment is not among the reported ones.
fn missing(name: &str, children: RelatedSet<'_>) -> Verdict {
    match children.coverage() {
        Coverage::Complete => {
            let message = format!("Deployment {name} does not exist");
            Verdict::pending("DeploymentMissing", message)
        }
        Coverage::Partial | Coverage::Unknown => {
            let message = format!("Deployment {name} is not reported");
            Verdict::unknown("DeploymentNotReported", message)
        }
    }
}
