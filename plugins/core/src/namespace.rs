//! Namespace.
//!
//! No other tool has a rule. The phase determines the state. If a Namespace remains Terminating,
//! the conditions that the deletion sets contain the cause.

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

/// The message of a deletion: the content, finalizers or failed discovery for which it waits.
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
