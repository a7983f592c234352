//! One rule per Kind: its parts, and the conditions they must report.
//!
//! The same as in Argo CD's scripts, which do not cover TLS, TCP and UDP routes. Conditions of an
//! older generation do not count. Nor does the answer for a parent that the spec of a route no longer
//! names; for Argo CD, it counts. Seven rules are stricter:
//!
//! - A Gateway must report Programmed, and any other Kind must report Accepted. Argo CD treats a
//!   missing condition as True.
//! - A refused listener makes its Gateway Failed even while the Gateway is being programmed.
//! - A listener that conflicts with another one makes its Gateway Failed.
//! - A class whose controller does not support the installed version of the API is Degraded.
//! - A Gateway that is accepted although some of its listeners are not valid is Degraded.
//! - A route that is only valid in part is Degraded. Argo CD does not read this condition.
//! - A route waits for each parent that its spec names. For Argo CD, the parents that answer are
//!   sufficient.

use kindsight_sdk::prelude::*;

use crate::parents::Parents;
use crate::parts::{Part, complaint};

pub(crate) fn gateway_class(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    judge(
        object,
        input,
        "Accepted",
        std::iter::once(own(object, "Accepted")),
    )
}

/// The rule of Gateway and `ListenerSet`: its own conditions, then the conditions of each listener.
pub(crate) fn gateway(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    let listeners = object.at("/status/listeners").items();
    let listeners = listeners.map(|listener| Part {
        what: "listener",
        named_by: Some(listener),
        conditions: object.conditions_of(listener),
        required: None,
    });
    let own = std::iter::once(own(object, "Programmed"));
    judge(object, input, "Programmed", own.chain(listeners))
}

/// Every parent in the spec must have an answer, but not a current one: if all conditions of a
/// parent are of an older generation, its controller is slow or was removed. One current parent is
/// sufficient.
pub(crate) fn route(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    let parents = Parents::of(object);
    let current = parents
        .answers()
        .filter(|parent| !object.conditions_of(*parent).are_all_stale());
    let parts = current.map(|parent| Part {
        what: "parent",
        named_by: Some(parent.get("parentRef")),
        conditions: object.conditions_of(parent),
        required: Some("Accepted"),
    });
    let verdict = judge(object, input, "Accepted", parts);
    if verdict.state != "Ready" {
        return verdict;
    }
    if !object.spec().is_object() {
        return standard::spec_not_reported();
    }
    parents.unanswered().unwrap_or(verdict)
}

/// Every ancestor must have observed the newest generation.
pub(crate) fn backend_tls_policy(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    let ancestors = object.at("/status/ancestors").items();
    let parts = ancestors.map(|ancestor| Part {
        what: "ancestor",
        named_by: Some(ancestor.get("ancestorRef")),
        conditions: object.conditions_of(ancestor),
        required: Some("Accepted"),
    });
    judge(object, input, "Accepted", parts)
}

/// Each question iterates over the parts again, because a status may contain very many of them.
fn judge<'a>(
    object: &Object<'a>,
    input: &Input<'_>,
    reason: &'static str,
    parts: impl Iterator<Item = Part<'a>> + Clone,
) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
        return verdict;
    }
    if parts.clone().next().is_none() {
        let message = "no controller has reported on its newest generation";
        return Verdict::pending("WaitingForController", message);
    }
    complaint(parts)
        .or_else(|| unclear(object))
        .unwrap_or_else(|| Verdict::ready(reason, ""))
}

/// Present, if the generation cannot be compared with the generation of the conditions.
fn unclear(object: &Object<'_>) -> Option<Verdict> {
    let generation = object.at("/metadata/generation");
    let is_clear = !generation.is_present() || generation.integer().is_some();
    let message = "its generation is not a number, so its conditions may be of an older one";
    (!is_clear).then(|| Verdict::present("NumberUnclear", message))
}

/// The conditions of the object itself.
fn own<'a>(object: &Object<'a>, required: &'static str) -> Part<'a> {
    Part {
        what: "",
        named_by: None,
        conditions: object.conditions(),
        required: Some(required),
    }
}
