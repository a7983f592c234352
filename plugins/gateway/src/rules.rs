//! One rule per Kind: its parts, and the conditions they must report.
//!
//! As Argo CD's scripts, which do not cover TLS, TCP and UDP routes. Conditions of an older generation
//! do not count. Three things are stricter: a Gateway must report Programmed and any other Kind
//! Accepted, where Argo CD takes a missing condition for True; a refused listener fails its
//! Gateway also while that is being programmed; and a route waits for each parent its spec names, where
//! Argo CD is content with the parents that answer.

use kindsight_sdk::prelude::*;

use crate::parents;
use crate::parts::{Part, complaint};

pub(crate) fn gateway_class(object: &Object<'_>) -> Verdict {
    judge(object, "Accepted", std::iter::once(own(object, "Accepted")))
}

/// Gateway and `ListenerSet`: its own conditions, then those of each listener.
pub(crate) fn gateway(object: &Object<'_>) -> Verdict {
    let listeners = object.at("/status/listeners").items();
    let listeners = listeners.map(|listener| Part {
        what: "listener",
        named_by: Some(listener),
        conditions: object.conditions_of(listener),
        required: None,
    });
    let own = std::iter::once(own(object, "Programmed"));
    judge(object, "Programmed", own.chain(listeners))
}

/// Every parent in the spec must have an answer, but not a current one: parents whose conditions are all
/// of an older generation belong to a controller that is slow, or gone. One current parent is enough.
pub(crate) fn route(object: &Object<'_>) -> Verdict {
    let parents = object.at("/status/parents").items();
    let current = parents.filter(|parent| !object.conditions_of(*parent).are_all_stale());
    let parts = current.map(|parent| Part {
        what: "parent",
        named_by: Some(parent.get("parentRef")),
        conditions: object.conditions_of(parent),
        required: Some("Accepted"),
    });
    let verdict = judge(object, "Accepted", parts);
    if verdict.state != "Ready" {
        return verdict;
    }
    if !object.spec().is_object() {
        return standard::spec_not_reported();
    }
    parents::unanswered(object).unwrap_or(verdict)
}

/// Every ancestor must have observed the newest generation.
pub(crate) fn backend_tls_policy(object: &Object<'_>) -> Verdict {
    let ancestors = object.at("/status/ancestors").items();
    let parts = ancestors.map(|ancestor| Part {
        what: "ancestor",
        named_by: Some(ancestor.get("ancestorRef")),
        conditions: object.conditions_of(ancestor),
        required: Some("Accepted"),
    });
    judge(object, "Accepted", parts)
}

/// The parts are gone through anew for each question: a status may list very many.
fn judge<'a>(
    object: &Object<'a>,
    reason: &'static str,
    parts: impl Iterator<Item = Part<'a>> + Clone,
) -> Verdict {
    if let Some(verdict) = standard::checks(object) {
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

/// Present, where the generation cannot be compared with that of the conditions.
fn unclear(object: &Object<'_>) -> Option<Verdict> {
    let generation = object.at("/metadata/generation");
    let is_clear = !generation.is_present() || generation.integer().is_some();
    let message = "its generation is not a number, so its conditions may be of an older one";
    (!is_clear).then(|| Verdict::present("NumberUnclear", message))
}

/// The object's own conditions.
fn own<'a>(object: &Object<'a>, required: &'static str) -> Part<'a> {
    Part {
        what: "",
        named_by: None,
        conditions: object.conditions(),
        required: Some(required),
    }
}
