//! Namespace.
//!
//! No other tool has a rule. The phase determines the state. If a Namespace remains Terminating,
//! the conditions that the deletion sets contain the cause. Ten minutes after the deletion time,
//! the first of these conditions is also the reason. Without such a condition, the cause is a
//! finalizer in its metadata, or else in its spec.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "Namespace").deletion_check().fields(&[
        "/spec/finalizers",
        "/status/phase",
        "/status/conditions",
    ])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    let phase = object.at("/status/phase").text_or_empty();
    if object.deletion().is_some() || phase == "Terminating" {
        return terminating(object, input);
    }
    match phase {
        "Active" => Verdict::ready("Active", ""),
        "" => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        other => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    }
}

/// Terminating. Names the content, the finalizers of objects and the failed discovery that keep the
/// Namespace, or else its finalizers.
fn terminating(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    let own = object.deletion().map(|deletion| deletion.finalizers);
    let own = own.unwrap_or_default();
    let Some(first) = obstacles(object).next() else {
        let of_spec = object.at("/spec/finalizers").items();
        let of_spec: Vec<&str> = of_spec.filter_map(Node::text).collect();
        let finalizers = if own.is_empty() { &of_spec } else { &own };
        return standard::deletion_waiting_for(object, input, finalizers);
    };
    let mut causes: Vec<String> = obstacles(object)
        .map(|obstacle| obstacle.message().to_owned())
        .collect();
    if !own.is_empty() {
        causes.push(format!("it waits for finalizers: {}", own.join(", ")));
    }
    let causes = causes.join("; ");
    let early = Verdict::terminating("Deleting", format!("being deleted: {causes}"));
    standard::deletion_delayed_by(object, input, early, || {
        let message = format!("its deletion is delayed for more than ten minutes: {causes}");
        (first.name().to_owned().into(), message)
    })
}

/// The conditions of the deletion that are True and have a message.
fn obstacles<'a>(object: &Object<'a>) -> impl Iterator<Item = Condition<'a>> {
    let conditions = object.conditions().iter();
    conditions.filter(|condition| {
        condition.is_true()
            && condition.name().starts_with("Namespace")
            && !condition.message().is_empty()
    })
}
