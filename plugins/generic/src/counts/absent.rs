//! Counts that are absent because they are zero. The API machinery of Kubernetes omits such a count
//! (`omitempty`). A count that a Kind never reports is absent too, so other members must show that
//! the Kind has it.

use kindsight_sdk::prelude::*;

use super::{ASKED, Compared, uncapitalised};
use crate::effort;

/// Prefixes of counts that show how many are there or ready.
const REPORTED: &[&str] = &["available", "current", "healthy", "ready", "updated"];

/// Prefixes of the counts of ready ones.
const READY: &[&str] = &["available", "healthy", "ready"];

/// Prefixes of counts that a controller reports beside the count of ready ones.
const BESIDE_READY: &[&str] = &["unavailable", "updated"];

/// Last words of the names of counts. Other desired numbers (`desiredRevision`) are no counts.
const COUNTED: &[&str] = &[
    "Instances",
    "Machines",
    "Members",
    "Nodes",
    "Pods",
    "Replicas",
    "Workers",
];

/// Counts that are absent beside their target.
pub(super) fn counts<'a>(
    spec: Node<'a>,
    status: Node<'a>,
    units: usize,
) -> impl Iterator<Item = Compared<'a>> {
    let desired = status.members().filter_map(move |(name, want)| {
        let (what, want) = (desired(name)?, want.integer()?);
        let is_absent = want > 0 && effort::spend(units) && !any(status, REPORTED, what);
        let is_absent = is_absent && !status.get(&uncapitalised(what)).is_present();
        is_absent.then(|| (format!("ready{what}").into(), 0, want))
    });
    let existing = ASKED.iter().filter_map(move |name| {
        let want = status.get(name).integer().filter(|want| *want > 0)?;
        let what = capitalised(name);
        let is_absent = !any(status, READY, &what) && reports_ready(spec, status, &what);
        is_absent.then(|| (format!("ready{what}").into(), 0, want))
    });
    desired.chain(existing)
}

/// Returns whether a member with this name is the target of a count that may be absent.
pub(super) fn is_target(name: &str) -> bool {
    ASKED.contains(&name) || desired(name).is_some()
}

/// The name of the counted things, from the name of their desired number.
fn desired(name: &str) -> Option<&str> {
    let what = name.strip_prefix("desired")?;
    let is_counted = COUNTED.iter().any(|counted| what.ends_with(counted));
    is_counted.then_some(what)
}

/// Returns whether the Kind has a count of ready ones, according to other members.
fn reports_ready(spec: Node<'_>, status: Node<'_>, what: &str) -> bool {
    // CloudNativePG. The `instances` of Keycloak are the ready ones; it has no phase.
    let is_postgres = what == "Instances"
        && spec.get("instances").integer().is_some()
        && status.get("phase").text().is_some();
    is_postgres || any(status, BESIDE_READY, what)
}

fn any(status: Node<'_>, prefixes: &[&str], what: &str) -> bool {
    let mut names = prefixes.iter().map(|prefix| format!("{prefix}{what}"));
    names.any(|name| status.get(&name).is_present())
}

fn capitalised(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
