//! PersistentVolumeClaim.
//!
//! As Argo CD: a Lost claim has lost its data and needs an operator. One that waits for its first Pod
//! is Pending; telling it from one that cannot be bound requires the StorageClass (argo-cd#29201).
//! A bound claim whose resize or change of attributes failed serves its Pods as before, and is Degraded;
//! one that is still being resized is Ready. No other tool looks at either.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "PersistentVolumeClaim")
        .fields(&standard::DELETION_FIELDS)
        .fields(&[
            "/status/phase",
            "/status/conditions",
            "/status/allocatedResourceStatuses",
            "/status/resizeStatus",
            "/status/modifyVolumeStatus/status",
        ])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object) {
        return verdict;
    }
    match object.at("/status/phase").text_or_empty() {
        "Bound" => failed_change(object).unwrap_or_else(|| Verdict::ready("Bound", "")),
        "Lost" => Verdict::failed("Lost", "the volume it was bound to is gone"),
        "Pending" => Verdict::pending("Unbound", "it has no volume yet"),
        "" => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        other => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    }
}

/// Conditions that are True after a change of the volume failed.
const CHANGE_ERRORS: [&str; 3] = [
    "ControllerResizeError",
    "NodeResizeError",
    "ModifyVolumeError",
];

/// Degraded, when a change of the bound volume failed: by a condition, or by the state that is kept for
/// each resource (Kubernetes 1.28), for the whole claim (before that), or for its attributes.
fn failed_change(object: &Object<'_>) -> Option<Verdict> {
    let conditions = object.conditions();
    let mut errors = CHANGE_ERRORS
        .iter()
        .filter_map(|name| conditions.find(name));
    if let Some(error) = errors.find(Condition::is_true) {
        // Its reason is a word of the driver, if any; its type says what failed.
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
