//! Counts below their target. Full counts are no evidence, because their meaning is unknown.

mod absent;

use std::borrow::Cow;

use kindsight_sdk::prelude::*;

use crate::effort;
use crate::evidence::{Evidence, Says};

/// A count: its name, its value and its target.
type Compared<'a> = (Cow<'a, str>, i64, i64);

/// Prefixes of counts whose target is the count with the remaining name: `readyReplicas` and
/// `replicas`.
const PREFIXES: &[&str] = &["ready", "available", "updated", "healthy"];

/// Counts and targets whose names do not follow this pattern.
const PAIRS: &[(&str, &str)] = &[
    ("numberReady", "desiredNumberScheduled"),
    ("numberAvailable", "desiredNumberScheduled"),
    ("updatedNumberScheduled", "desiredNumberScheduled"),
    ("readyPods", "matchedPods"),
];

/// Counts of everything that exists, and the fields of the spec with the same names.
const ASKED: &[&str] = &["instances", "replicas"];

/// Evidence from counts below their target.
pub(crate) fn evidence(object: &Object<'_>) -> Vec<Evidence> {
    compared(object)
        .filter(|(_, have, want)| have < want)
        .map(|(name, have, want)| {
            let message = format!("{name} is {have} of {want}");
            Evidence::new(Says::Pending, &["CountsShort"], message)
        })
        .collect()
}

/// Returns whether there are counts and each has reached a target above 0.
pub(crate) fn are_full(object: &Object<'_>) -> bool {
    let mut counts = compared(object).peekable();
    counts.peek().is_some() && counts.all(|(_, have, want)| have >= want && want > 0)
}

/// Returns whether the counts are full, and at least one of them counts more than ready replicas,
/// because the ready replicas may be of an earlier revision.
pub(crate) fn have_settled(object: &Object<'_>) -> bool {
    let is_of_the_change = |name: &str| name.contains("vailable") || name.contains("pdated");
    are_full(object) && compared(object).any(|(name, ..)| is_of_the_change(&name))
}

/// The counts with their names, values and targets.
fn compared<'a>(object: &Object<'a>) -> impl Iterator<Item = Compared<'a>> + use<'a> {
    let (spec, status) = (object.spec(), object.status());
    // A target is searched among all members.
    let units = status.members().count();
    let named = status.members().filter_map(move |(name, have)| {
        let have = have.integer()?;
        Some((name.into(), have, target(spec, status, name, units)?))
    });
    let fractions = status
        .members()
        .filter_map(|(name, text)| fraction(name, text.text()?));
    named
        .chain(fractions)
        .chain(absent::counts(spec, status, units))
        .chain(fewer_than_asked(spec, status))
}

/// Counts of everything that exists, if it is less than the spec asks for. An equal count is not
/// listed, because it does not show that anything is ready.
fn fewer_than_asked<'a>(spec: Node<'a>, status: Node<'a>) -> impl Iterator<Item = Compared<'a>> {
    ASKED.iter().filter_map(move |name| {
        let (have, want) = (status.get(name).integer()?, spec.get(name).integer()?);
        (have < want).then_some(((*name).into(), have, want))
    })
}

/// The target of a count. The search in the status takes this number of units of effort.
fn target(spec: Node<'_>, status: Node<'_>, name: &str, units: usize) -> Option<i64> {
    let mut pairs = PAIRS.iter().filter(|(part, _)| *part == name);
    let paired = pairs.find_map(|(_, whole)| status.get(whole).integer());
    if paired.is_some() {
        return paired;
    }
    // A current count is only compared with the desired count, because others may count a different
    // revision.
    let current = name.strip_prefix("current");
    let mut prefixes = PREFIXES.iter();
    let what = current.or_else(|| prefixes.find_map(|prefix| name.strip_prefix(prefix)))?;
    what.starts_with(|first: char| first.is_ascii_uppercase())
        .then_some(())?;
    if !effort::spend(units) {
        return None;
    }
    if current.is_some() {
        return status.get(&format!("desired{what}")).integer();
    }
    let plain = uncapitalised(what);
    let asked = match what {
        "Replicas" => spec
            .get("replicas")
            .integer()
            .or_else(|| spec.get("size").integer()),
        "Instances" => spec.get("instances").integer(),
        _ => None,
    };
    let reported = [format!("desired{what}"), format!("expected{what}"), plain];
    asked.or_else(|| reported.iter().find_map(|name| status.get(name).integer()))
}

fn uncapitalised(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

/// A value such as `"0/1"` in a member whose name contains `ready` or `replicas`.
fn fraction<'a>(name: &'a str, text: &str) -> Option<Compared<'a>> {
    let lower = name.to_ascii_lowercase();
    if !lower.contains("ready") && !lower.contains("replicas") {
        return None;
    }
    let (have, want) = text.split_once('/')?;
    Some((
        name.into(),
        have.trim().parse().ok()?,
        want.trim().parse().ok()?,
    ))
}

/// Returns whether the status has counts whose target only the spec contains.
pub(crate) fn are_reported(object: &Object<'_>) -> bool {
    let status = object.status();
    let counts = [
        "replicas",
        "readyReplicas",
        "availableReplicas",
        "readyInstances",
    ];
    counts.iter().any(|count| status.get(count).is_present())
        || status.get("instances").integer().is_some()
}

/// Returns whether every count that is compared is a number. Any other value may be below its
/// target.
pub(crate) fn are_clear(object: &Object<'_>) -> bool {
    let (spec, status) = (object.spec(), object.status());
    let counts = status.members().filter(|(name, _)| is_count(name));
    let (current, desired) = (status.get("currentReplicas"), status.get("desiredReplicas"));
    let compared = [current, desired].into_iter();
    let compared = compared.filter(|_| current.is_present() && desired.is_present());
    let counts = counts.map(|(_, count)| count).chain([spec.get("replicas")]);
    let mut counts = counts.chain(compared);
    let mut texts = status.members().filter(|(name, _)| absent::is_target(name));
    let asked = spec.get("instances");
    counts.all(|count| !count.is_present() || count.integer().is_some())
        && texts.all(|(_, text)| is_no_word(text))
        && is_no_word(asked)
}

/// Returns whether a member with this name is always a count.
fn is_count(name: &str) -> bool {
    let what = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix));
    matches!(what, Some("Replicas" | "Instances")) || PAIRS.iter().any(|(part, _)| *part == name)
}

/// Returns whether a member is a number, or a list or an object, which is not compared.
fn is_no_word(member: Node<'_>) -> bool {
    member.text().is_none() || member.integer().is_some()
}

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness::judge;

    use crate::Generic;

    #[test]
    fn a_count_that_falls_short_is_pending() {
        let table = [
            (r#"{"replicas": 3, "updatedReplicas": 2}"#, true),
            (r#"{"expectedNodes": 2, "availableNodes": 1}"#, true),
            (r#"{"desiredWorkers": "3", "readyWorkers": "1"}"#, true),
            (
                r#"{"desiredNumberScheduled": 5, "numberAvailable": 3}"#,
                true,
            ),
            (r#"{"tasksReady": "0/1"}"#, true),
            (r#"{"currentReplicas": 1, "desiredReplicas": 3}"#, true),
            (r#"{"currentReplicas": 1, "replicas": 3}"#, false),
            (r#"{"members": 3, "readyMembers": 3}"#, false),
            (r#"{"pods": 3, "readyPods": 1}"#, true),
            (r#"{"matchedPods": 3, "pods": 1, "readyPods": 3}"#, false),
            (
                r#"{"desiredWorkerReplicas": 2, "maxWorkerReplicas": 9}"#,
                true,
            ),
            (
                r#"{"desiredWorkerReplicas": 2, "availableWorkerReplicas": 2}"#,
                false,
            ),
            (r#"{"desiredWorkerReplicas": 0}"#, false),
            (r#"{"desiredReplicas": 2, "replicas": 2}"#, false),
            (r#"{"desiredRevision": 2}"#, false),
            (r#"{"replicas": 3, "updatedReplicas": 3}"#, true),
            (r#"{"replicas": 3, "unavailableReplicas": 3}"#, true),
            (
                r#"{"replicas": 3, "unavailableReplicas": 3, "availableReplicas": 3}"#,
                false,
            ),
            (r#"{"replicas": 3}"#, false),
            (r#"{"phase": "Active", "instances": 3}"#, false),
            (r#"{"readyMembers": 3}"#, false),
            (r#"{"replicas": "many", "readyReplicas": 2}"#, false),
            (r#"{"updated": 3, "readyFor": "0/1/2"}"#, false),
        ];
        for (status, short) in table {
            let verdict = judge::<Generic>(&format!(r#"{{"spec": {{}}, "status": {status}}}"#));
            let state = verdict.expect("a verdict").state;
            assert_eq!(state == "Pending", short, "{status} is {state}");
        }
    }
}
