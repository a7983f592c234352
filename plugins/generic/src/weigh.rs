//! Puts the evidence together.
//!
//! The conditions and members of the status itself come first; its parts speak where it says
//! nothing, and against it where it says ready.

use kindsight_sdk::prelude::*;

use crate::evidence::{self, Evidence, Says};
use crate::{conditions, counts, members, nested};

/// What the object says of itself, if anything.
pub(crate) fn verdict(object: &Object<'_>) -> Option<Verdict> {
    let mut evidence = own(object);
    let parts = nested::evidence(object.status(), object.generation());
    if evidence.iter().all(|piece| piece.says == Says::Doubtful) {
        evidence.extend(parts);
    } else if are_good(&evidence) {
        let against = parts.into_iter().filter(speaks_against);
        evidence.extend(against.map(Evidence::contradicting));
    }
    if are_good(&evidence) {
        unbelievable(object).or_else(|| evidence::verdict(evidence))
    } else {
        evidence::verdict(evidence)
    }
}

/// Present, where all that is said is good but the report does not bear it.
fn unbelievable(object: &Object<'_>) -> Option<Verdict> {
    if !object.spec().is_object() && speaks_of_a_spec(object) {
        return Some(standard::spec_not_reported());
    }
    if !conditions::are_genuine(object.status()) {
        let message = "it says that it is ready in a condition whose status is not a text";
        return Some(Verdict::present("ConditionUnclear", message));
    }
    if !generations_are_clear(object) || !counts::are_clear(object) {
        let message = "it says that it is ready beside a generation or a count that is no number";
        return Some(Verdict::present("NumberUnclear", message));
    }
    None
}

/// Whether the status belongs to a spec: it counts what that asks for, or names its generation. The
/// spec may say that the object is suspended.
fn speaks_of_a_spec(object: &Object<'_>) -> bool {
    let status = object.status();
    counts::are_reported(object)
        || status.get("observedGeneration").is_present()
        || conditions::name_a_generation(status)
}

/// Whether what tells a status of now from an older one can be read where it is there.
fn generations_are_clear(object: &Object<'_>) -> bool {
    let pointers = ["/metadata/generation", "/status/observedGeneration"];
    let is_clear = |node: Node<'_>| !node.is_present() || node.integer().is_some();
    pointers.iter().all(|pointer| is_clear(object.at(pointer)))
}

/// What the status says, its parts apart.
fn own(object: &Object<'_>) -> Vec<Evidence> {
    let status = object.status();
    let conditions = conditions::evidence(status, object.generation());
    let is_ready = conditions.iter().any(|piece| piece.says == Says::Ready);
    let corroborated =
        conditions::any_holds(status, object.generation()) || counts::are_full(object);
    let members = members::evidence(status, corroborated);
    let members = members.into_iter().filter_map(|piece| match piece.says {
        // A condition that sums up is worth more than a word nobody knows.
        Says::Doubtful if is_ready => None,
        Says::Failed if is_ready => Some(piece.contradicting()),
        _ => Some(piece),
    });
    let mut evidence: Vec<_> = conditions.into_iter().chain(members).collect();
    evidence.extend(counts::evidence(object));
    evidence
}

fn are_good(evidence: &[Evidence]) -> bool {
    !evidence.is_empty() && evidence.iter().all(|piece| piece.says.is_good())
}

/// Whether a part speaks against ready. One that is stopped does not, for many things are switched
/// off on purpose, nor one that says nothing known.
fn speaks_against(part: &Evidence) -> bool {
    matches!(part.says, Says::Pending | Says::Failed)
}
