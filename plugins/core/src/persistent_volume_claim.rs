//! PersistentVolumeClaim.
//!
//! The same as in Argo CD: a Lost claim has lost its data and requires an operator. A claim that
//! waits for its first Pod is Pending. Its StorageClass, if it is reported, shows whether the class
//! exists that can bind the claim (argo-cd#29201).
//!
//! If the resize or the attribute change of a bound claim failed, the claim still serves its Pods
//! and is Degraded. A claim that is still being resized is Ready. No other tool checks either.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "PersistentVolumeClaim")
        .deletion_check()
        .fields(&[
            "/metadata/annotations/volume.kubernetes.io~1selected-node",
            "/spec/storageClassName",
            "/status/phase",
            "/status/conditions",
            "/status/allocatedResourceStatuses",
            "/status/resizeStatus",
            "/status/modifyVolumeStatus/status",
        ])
        .related(
            ("storage.k8s.io", "StorageClass"),
            Relation::Named("/spec/storageClassName"),
            &["/volumeBindingMode"],
            1,
        )
}

/// The annotation with the node of the first Pod, for which the volume is being created.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    match object.at("/status/phase").text_or_empty() {
        "Bound" => failed_change(object).unwrap_or_else(|| Verdict::ready("Bound", "")),
        "Lost" => Verdict::failed("Lost", "the volume it was bound to is gone"),
        "Pending" => by_class(object, input.related(0))
            .unwrap_or_else(|| Verdict::pending("Unbound", "it has no volume yet")),
        "" => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        other => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    }
}

/// Pending, explained by the StorageClass that an unbound claim names: the volume will be bound
/// with the first Pod, or the class does not exist. Does not apply if the claim itself reports
/// further progress.
fn by_class(object: &Object<'_>, found: RelatedSet<'_>) -> Option<Verdict> {
    let name = object.at("/spec/storageClassName").text_or_empty();
    let is_further_on = object.annotation(SELECTED_NODE).is_some()
        || object
            .conditions()
            .iter()
            .any(|condition| condition.is_true());
    if name.is_empty() || is_further_on {
        return None;
    }
    match found.objects().next() {
        Some(class) => {
            let mode = class.at("/volumeBindingMode").text_or_empty();
            (mode == "WaitForFirstConsumer").then(|| {
                let message = format!(
                    "StorageClass {name} gives it a volume once a Pod that uses it is scheduled"
                );
                Verdict::pending("WaitForFirstConsumer", message)
            })
        }
        None if found.coverage() == Coverage::Complete => {
            let message =
                format!("there is no StorageClass {name}: make it, or a volume of that class");
            Some(Verdict::pending("StorageClassNotFound", message))
        }
        None => None,
    }
}

/// Conditions that are True after a change of the volume failed.
const CHANGE_ERRORS: [&str; 3] = [
    "ControllerResizeError",
    "NodeResizeError",
    "ModifyVolumeError",
];

/// Degraded, if a change of the bound volume failed: according to a condition, to the state of each
/// resource (Kubernetes 1.28), to the state of the complete claim (earlier versions), or to its
/// attributes.
fn failed_change(object: &Object<'_>) -> Option<Verdict> {
    let conditions = object.conditions();
    let mut errors = CHANGE_ERRORS
        .iter()
        .filter_map(|name| conditions.find(name));
    if let Some(error) = errors.find(Condition::is_true) {
        // The reason, if any, is text of the driver. The type of the condition shows which change
        // failed.
        return Some(Verdict::degraded(
            error.name().to_owned(),
            error.message().to_owned(),
        ));
    }
    let status = object.status();
    let resources = status.get("allocatedResourceStatuses").members();
    let resizes = resources.map(|(_, state)| state);
    let mut resizes = resizes
        .chain([status.get("resizeStatus")])
        .filter_map(Node::text);
    if let Some(state) = resizes.find(|state| has_failed(state)) {
        let message = "the volume could not be resized and keeps its size";
        return Some(Verdict::degraded(state.to_owned(), message));
    }
    let change = status.at("/modifyVolumeStatus/status").text()?;
    has_failed(change).then(|| {
        let message = "the attributes of the volume could not be changed";
        Verdict::degraded("ModifyVolumeInfeasible", message)
    })
}

/// `ControllerResizeInfeasible`, `NodeResizeFailed`, `Infeasible` and their older names.
fn has_failed(state: &str) -> bool {
    state.ends_with("Infeasible") || state.ends_with("Failed")
}
