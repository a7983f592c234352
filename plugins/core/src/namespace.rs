//! Namespace.
//!
//! No peer has a rule. The phase says it all; one that does not go away says why in the conditions
//! that namespace deletion leaves.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Namespace")
        .fields(&["/metadata/deletionTimestamp"])
        .fields(&["/status/phase", "/status/conditions"])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    let phase = object.at("/status/phase").text_or_empty();
    if object.deletion().is_some() || phase == "Terminating" {
        return Verdict::terminating("Deleting", obstacles(object));
    }
    match phase {
        "Active" => Verdict::ready("Active", ""),
        "" => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        other => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    }
}

/// What the deletion waits for: content, finalizers, or a discovery that does not answer.
fn obstacles(object: &Object<'_>) -> String {
    let obstacles = object
        .conditions()
        .iter()
        .filter(|condition| condition.is_true() && condition.name().starts_with("Namespace"))
        .map(|condition| condition.message());
    let obstacles: Vec<&str> = obstacles.filter(|message| !message.is_empty()).collect();
    match obstacles.as_slice() {
        [] => "being deleted".to_owned(),
        obstacles => format!("being deleted: {}", obstacles.join("; ")),
    }
}
