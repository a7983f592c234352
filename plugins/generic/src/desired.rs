//! Evidence of a desired state that is not reached yet: a state that differs from the current one,
//! and a missing condition Ready of Kinds that always set it at the end.

use kindsight_sdk::prelude::*;

use crate::effort;
use crate::evidence::{Evidence, Says};
use crate::words::{meaning, tokens};

/// First words of members that contain the desired state.
const ASKED: &[&str] = &["desired", "expected", "target"];

/// First words of members that contain the current state.
const THERE: &[&str] = &["current", "actual", "observed"];

/// The last part of such names: `desiredState` is desired, and `currentState` or `state` is
/// current.
const COMPARED: &[&str] = &[
    "Health", "Phase", "Revision", "Stage", "State", "Status", "Version",
];

/// Fields in the spec of Crossplane's Kinds. These Kinds report Synced as soon as they have sent
/// the desired state, and Ready when it is reached.
pub(crate) const MANAGED: [&str; 3] = [
    "/spec/providerConfigRef/name",
    "/spec/compositionRef/name",
    "/spec/crossplane/compositionRef/name",
];

/// Evidence from members of the status that differ from the desired ones.
pub(crate) fn differing(object: &Object<'_>) -> Option<Evidence> {
    let (spec, status) = (object.spec(), object.status());
    let in_status = status
        .members()
        .filter_map(|(name, asked)| Some((compared(name)?, asked)));
    let in_spec = [("State", spec.get("desiredState"))];
    let asked = in_status.chain(in_spec);
    let mut asked = asked.filter_map(|(what, asked)| Some((what, asked.text()?)));
    asked.find_map(|(what, asked)| {
        // The current value is searched among all members.
        if asked.is_empty() || !effort::spend(status.members().count()) {
            return None;
        }
        let (name, there) = there(status, what)?;
        let message = format!("{name} is {there}, and {asked} is asked for");
        differ(asked, there).then(|| Evidence::new(Says::Pending, &["NotAsDesired"], message))
    })
}

/// The subject of a desired member, from its name: `State` for `desiredState`.
fn compared(name: &str) -> Option<&str> {
    let what = ASKED.iter().find_map(|asked| name.strip_prefix(asked))?;
    COMPARED.contains(&what).then_some(what)
}

/// The name and value of the member that contains the current value.
fn there<'a>(status: Node<'a>, what: &str) -> Option<(String, &'a str)> {
    let prefixed = THERE.iter().map(|there| format!("{there}{what}"));
    let mut names = prefixed.chain([what.to_ascii_lowercase()]);
    names.find_map(|name| {
        let there = status.get(&name).text().filter(|there| !there.is_empty())?;
        Some((name, there))
    })
}

/// Returns whether two values differ in every spelling, and also differ in meaning.
fn differ(asked: &str, there: &str) -> bool {
    let means_same = || meaning(asked).is_some_and(|asked| meaning(there) == Some(asked));
    tokens(asked) != tokens(there) && !means_same()
}

/// Returns whether the status contains the current state but not the desired one, which may be in
/// the spec.
pub(crate) fn is_half(status: Node<'_>) -> bool {
    let is_told = |first: &str| status.get(&format!("{first}State")).is_present();
    THERE.iter().any(|there| is_told(there)) && !ASKED.iter().any(|asked| is_told(asked))
}

/// Pending, if a Kind that sets Ready at the end was only synced so far.
pub(crate) fn ready_missing(object: &Object<'_>) -> Option<Evidence> {
    let conditions = object.conditions();
    let synced = conditions.find("Synced").filter(Condition::is_true)?;
    let is_managed = MANAGED.iter().any(|field| object.at(field).is_present());
    // Both names are Crossplane's. They are used if its spec is not reported.
    let is_reconciled = synced.reason() == "ReconcileSuccess";
    let is_applied = conditions.find("LastAsyncOperation").is_some();
    let ends_with_ready = is_managed || is_reconciled || is_applied;
    (ends_with_ready && conditions.find("Ready").is_none()).then(|| {
        let message = "it was synced, and does not report Ready yet";
        Evidence::new(Says::Pending, &["ReadyMissing"], message)
    })
}

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness::judge;

    use crate::Generic;

    #[test]
    fn a_kind_whose_spec_names_a_provider_ends_with_ready() {
        let table = [
            (r#"{"providerConfigRef": {"name": "default"}}"#, "Pending"),
            (r#"{"compositionRef": {"name": "network"}}"#, "Pending"),
            (
                r#"{"crossplane": {"compositionRef": {"name": "network"}}}"#,
                "Pending",
            ),
            (r#"{"template": {"metadata": {"name": "secret"}}}"#, "Ready"),
        ];
        for (spec, state) in table {
            let object = format!(
                r#"{{"spec": {spec}, "status": {{"conditions": [{{"type": "Synced", "status": "True"}}]}}}}"#
            );
            let verdict = judge::<Generic>(&object).expect("a verdict");
            assert_eq!(verdict.state, state, "{spec}");
        }
    }
}
