//! Evidence from the result of one operation, or from the view of one observer (`verdict`,
//! `connectivity`).
//!
//! A good result does not show that the object works, and a failed operation may be repeated. A
//! failure therefore only counts beside evidence for Ready.

use kindsight_sdk::prelude::*;

use crate::condition_types::{Role, role};
use crate::evidence::{Evidence, Outweighed, Says};
use crate::members::{ends_in_one_of, is_of_now};
use crate::words::tokens;

/// Last words of the names of members with a result.
const RESULTS: &[&str] = &[
    "availability",
    "condition",
    "connectivity",
    "lifecycle",
    "outcome",
    "result",
    "verdict",
];

/// Evidence from the results in one object.
pub(crate) fn evidence(holder: Node<'_>) -> impl Iterator<Item = Evidence> {
    let results = holder.members().filter(|(name, _)| is_result(name));
    let results = results.filter_map(|(name, value)| Some((name, value.text()?)));
    results
        .filter(|(_, text)| role(text) == Role::Abnormal)
        .map(|(name, text)| {
            let signal = format!("{name} is {text}");
            let failed = Evidence::of_signal(Says::Impaired, &[text, name], signal);
            failed.outweighed(Outweighed::UnlessReady)
        })
}

fn is_result(name: &str) -> bool {
    // Fast path: the ends of most names are sufficient to reject them.
    if !ends_in_one_of(RESULTS, name) || !is_of_now(name) {
        return false;
    }
    let tokens = tokens(name);
    let last = tokens.last().map_or("", String::as_str);
    RESULTS.contains(&last)
}
