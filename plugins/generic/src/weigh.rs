//! Combines the evidence into a verdict.
//!
//! The conditions and members of the status itself have priority. Nested parts count if the status
//! itself reports nothing, and count against it if it reports ready. Beside a summary of the health in
//! one part, the failure of another part is an impairment.

use kindsight_sdk::prelude::*;

use crate::evidence::{self, Evidence, Outweighed, Says};
use crate::{conditions, counts, desired, errors, members, nested, results};

/// The verdict that follows from the evidence in the object, if there is any.
pub(crate) fn verdict(object: &Object<'_>) -> Option<Verdict> {
    let mut evidence = own(object);
    evidence.extend(of_parts(object.status(), object.generation(), &evidence));
    evidence.extend(results::evidence(object.status()));
    if !evidence.iter().any(|piece| piece.says.is_good()) {
        evidence.retain(|piece| !is_result(piece));
    }
    if are_good(&evidence) {
        untrusted(object).or_else(|| evidence::verdict(&evidence))
    } else {
        evidence::verdict(&evidence)
    }
}

/// The evidence from nested parts that counts beside the evidence from the status itself.
fn of_parts(status: Node<'_>, generation: Option<i64>, own: &[Evidence]) -> Vec<Evidence> {
    let parts = nested::evidence(status, generation).into_iter();
    if own.iter().all(|piece| piece.says == Says::Doubtful) {
        // An Argo CD Application: its health is Healthy, and its last operation failed.
        let is_green = nested::any_sums_up(status);
        let parts = parts.map(|part| match part.says {
            Says::Failed if is_green => part.contradicting(),
            _ => part,
        });
        return parts.collect();
    }
    if own.iter().any(|piece| piece.says > Says::Doubtful) {
        return Vec::new();
    }
    // The steps of an object that has completed include attempts that failed.
    let has_finished = members::has_finished(status);
    let counts = if has_finished {
        is_result
    } else {
        speaks_against
    };
    let against = parts.filter(counts);
    against.map(Evidence::contradicting).collect()
}

/// Present, if all evidence is good but the report is incomplete or malformed.
fn untrusted(object: &Object<'_>) -> Option<Verdict> {
    if !object.spec().is_object() && belongs_to_a_spec(object) {
        return Some(standard::spec_not_reported());
    }
    if !conditions::are_genuine(object.status()) {
        let message = "it reports ready in a condition whose status is not a string";
        return Some(Verdict::present("ConditionUnclear", message));
    }
    if !generations_are_clear(object) || !counts::are_clear(object) {
        let message = "it reports ready, but a generation or a count is not a number";
        return Some(Verdict::present("NumberUnclear", message));
    }
    None
}

/// Returns whether the status refers to a spec: it counts replicas, contains a generation, or
/// contains a current state but not the desired one. The spec may show that the object is
/// suspended.
fn belongs_to_a_spec(object: &Object<'_>) -> bool {
    let status = object.status();
    counts::are_reported(object)
        || status.get("observedGeneration").is_present()
        || conditions::name_a_generation(status)
        || desired::is_half(status)
}

/// Returns whether the generations, if they are present, are numbers.
fn generations_are_clear(object: &Object<'_>) -> bool {
    let pointers = ["/metadata/generation", "/status/observedGeneration"];
    let is_clear = |node: Node<'_>| !node.is_present() || node.integer().is_some();
    pointers.iter().all(|pointer| is_clear(object.at(pointer)))
}

/// Evidence from the status itself, without nested parts.
fn own(object: &Object<'_>) -> Vec<Evidence> {
    let status = object.status();
    let is_settled = || counts::have_settled(object) || members::are_good(status);
    let conditions = conditions::evidence(status, object.generation(), &is_settled);
    let is_ready = conditions.iter().any(|piece| piece.says == Says::Ready);
    let is_full = counts::are_full(object);
    let corroborated = conditions::any_holds(status, object.generation()) || is_full;
    let differing = desired::differing(object);
    let members = members::evidence(status, corroborated);
    let members = members.into_iter().filter_map(|piece| match piece.says {
        // A summary outweighs an unknown word.
        Says::Doubtful if is_ready => None,
        Says::Failed if is_ready => Some(piece.contradicting()),
        // An object that is stopped but should run is not ready yet.
        Says::Suspended if differing.is_some() => None,
        _ => Some(piece),
    });
    let mut evidence: Vec<_> = conditions.into_iter().chain(members).collect();
    evidence.extend(errors::evidence(status));
    evidence.extend(counts::evidence(object));
    evidence.extend(differing);
    evidence.extend(desired::ready_missing(object));
    let is_outweighable = |piece: &Evidence| piece.outweighed == Outweighed::ByHealth;
    let is_well = evidence.iter().any(|piece| piece.says.is_good())
        || (evidence.iter().any(is_outweighable) && nested::any_is_well(status));
    let weighed = evidence.into_iter();
    weighed
        .map(|piece| piece.weighed_against(is_full, is_well))
        .collect()
}

/// Returns whether the evidence only counts beside evidence for Ready.
fn is_result(piece: &Evidence) -> bool {
    piece.outweighed == Outweighed::UnlessReady
}

fn are_good(evidence: &[Evidence]) -> bool {
    !evidence.is_empty() && evidence.iter().all(|piece| piece.says.is_good())
}

/// Returns whether a part is evidence against Ready. A suspended part is not, because many parts
/// are switched off on purpose, and a part with an unknown word is not either.
fn speaks_against(part: &Evidence) -> bool {
    matches!(part.says, Says::Impaired | Says::Pending | Says::Failed)
}

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness::judge;

    use crate::Generic;

    #[test]
    fn a_contradiction_names_both_signals() {
        let ready = r#"{"type": "Ready", "status": "True", "message": "all is well"}"#;
        let backup = r#"{"type": "BackupReady", "status": "False", "reason": "StorageError", "message": "no space"}"#;
        let table = [
            (
                format!(r#"{{"phase": "Failed", "conditions": [{ready}]}}"#),
                "Ready is True, but phase is Failed",
            ),
            (
                format!(r#"{{"conditions": [{backup}, {ready}]}}"#),
                "Ready is True, but BackupReady is False: no space",
            ),
            (
                format!(
                    r#"{{"conditions": [{ready}, {{"type": "Degraded", "status": "True", "message": "no space"}}]}}"#
                ),
                "Ready is True, but Degraded is True: no space",
            ),
            (
                r#"{"health": {"status": "Healthy"}, "backups": [{"phase": "Failed"}]}"#.to_owned(),
                "health.status is Healthy, but backups[0].phase is Failed",
            ),
            (
                r#"{"state": "attached", "robustness": "degraded"}"#.to_owned(),
                "state is attached, but robustness is degraded",
            ),
            (
                r#"{"conditions": [{"type": "Ready", "status": "True", "reason": "SyncError"}]}"#
                    .to_owned(),
                "Ready is True for the reason SyncError",
            ),
        ];
        for (status, message) in table {
            let object = format!(r#"{{"spec": {{}}, "status": {status}}}"#);
            let verdict = judge::<Generic>(&object).expect("a verdict");
            assert_eq!(verdict.state, "Degraded", "{status}");
            assert_eq!(verdict.message, message, "{status}");
        }
    }
}
