//! Evidence of what is asked for and not there yet: another state than the current one, and the condition
//! Ready of Kinds that always end with it.

use kindsight_sdk::prelude::*;

use crate::effort;
use crate::evidence::{Evidence, Says};
use crate::words::{meaning, tokens};

/// First words of members that hold what is asked for.
const ASKED: &[&str] = &["desired", "expected", "target"];

/// First words of members that hold what is there.
const THERE: &[&str] = &["current", "actual", "observed"];

/// Contents of such members: `desiredState` is asked for, `currentState` or `state` is there.
const COMPARED: &[&str] = &[
    "Health", "Phase", "Revision", "Stage", "State", "Status", "Version",
];

/// Fields that Kinds of Crossplane have in their spec. They report Synced as soon as they have sent what
/// is asked for, and Ready when it is there.
pub(crate) const MANAGED: [&str; 3] = [
    "/spec/providerConfigRef/name",
    "/spec/compositionRef/name",
    "/spec/crossplane/compositionRef/name",
];

/// Evidence from members of the status that differ from what is asked for.
pub(crate) fn differing(object: &Object<'_>) -> Option<Evidence> {
    let (spec, status) = (object.spec(), object.status());
    let in_status = status
        .members()
        .filter_map(|(name, asked)| Some((compared(name)?, asked)));
    let in_spec = [("State", spec.get("desiredState"))];
    let asked = in_status.chain(in_spec);
    let mut asked = asked.filter_map(|(what, asked)| Some((what, asked.text()?)));
    asked.find_map(|(what, asked)| {
        // What is there is looked for among all members.
        if asked.is_empty() || !effort::spend(status.members().count()) {
            return None;
        }
        let (name, there) = there(status, what)?;
        let message = format!("{name} is {there}, and {asked} is asked for");
        differ(asked, there).then(|| Evidence::new(Says::Pending, &["NotAsDesired"], message))
    })
}

/// The wish of a member, by its name: `State` for `desiredState`.
fn compared(name: &str) -> Option<&str> {
    let what = ASKED.iter().find_map(|asked| name.strip_prefix(asked))?;
    COMPARED.contains(&what).then_some(what)
}

/// Name and value of the member that holds what is there.
fn there<'a>(status: Node<'a>, what: &str) -> Option<(String, &'a str)> {
    let prefixed = THERE.iter().map(|there| format!("{there}{what}"));
    let mut names = prefixed.chain([what.to_ascii_lowercase()]);
    names.find_map(|name| {
        let there = status.get(&name).text().filter(|there| !there.is_empty())?;
        Some((name, there))
    })
}

/// Returns whether two values are not the same, in any spelling, and do not mean the same either.
fn differ(asked: &str, there: &str) -> bool {
    let means_same = || meaning(asked).is_some_and(|it| meaning(there) == Some(it));
    tokens(asked) != tokens(there) && !means_same()
}

/// Returns whether the status tells the current state and not the one that is asked for, which the spec
/// may do.
pub(crate) fn is_half(status: Node<'_>) -> bool {
    let is_told = |first: &str| status.get(&format!("{first}State")).is_present();
    THERE.iter().any(|there| is_told(there)) && !ASKED.iter().any(|asked| is_told(asked))
}

/// Pending, where a Kind that ends with Ready has only been synced so far.
pub(crate) fn ready_missing(object: &Object<'_>) -> Option<Evidence> {
    let conditions = object.conditions();
    let synced = conditions.find("Synced").filter(Condition::is_true)?;
    let is_managed = MANAGED.iter().any(|field| object.at(field).is_present());
    // Both are Crossplane's words, for where its spec is not reported.
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
    fn what_its_spec_hands_to_a_provider_ends_with_ready() {
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
