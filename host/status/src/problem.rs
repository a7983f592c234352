//! Errors of queries; each names the valid values.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};

use kindsight_api::problem::PartialProblem;

/// Maximum length of an invalid value when a problem repeats it, in characters.
pub const VALUE_SHOWN_CHARS_MAX: usize = 80;
/// Maximum number of known names that a problem lists.
pub const KNOWN_SHOWN_MAX: usize = 20;
/// Maximum number of further known names that a problem counts: enough to tell few from many, and some
/// microseconds of work.
pub const KNOWN_COUNTED_MAX: usize = 1000;

/// The reason why a query has no answer.
///
/// Never an internal fault: a valid query about existing names always has an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query cannot be parsed; lists every problem.
    #[error("the query is not valid")]
    Invalid(Vec<PartialProblem>),
    /// Names in the query do not exist; lists each of them.
    #[error("the query names something that does not exist")]
    NotFound(Vec<PartialProblem>),
}

/// A value cut after [`VALUE_SHOWN_CHARS_MAX`] characters, as problems repeat it.
pub fn clipped(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(VALUE_SHOWN_CHARS_MAX) {
        None => value.into(),
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()).into(),
    }
}

/// Lists the first [`KNOWN_SHOWN_MAX`] names in the given order, and counts the others.
pub fn one_of(names: impl IntoIterator<Item = impl Display>) -> String {
    let mut names = names.into_iter();
    let listed = names.by_ref().take(KNOWN_SHOWN_MAX);
    let listed: Vec<_> = listed.map(|name| format!("`{name}`")).collect();
    match names.count() {
        0 if listed.is_empty() => "one that is known; there is none yet".to_owned(),
        0 => format!("one of {}", listed.join(", ")),
        more => format!("one of {} and {more} more", listed.join(", ")),
    }
}

/// Lists the first of known names that are in order and without duplicates, as a hint for a name that is
/// not found. No more than [`KNOWN_COUNTED_MAX`] others are counted.
pub(crate) fn known(names: impl IntoIterator<Item = impl Display>) -> String {
    let mut names = names.into_iter();
    let mut text = one_of(names.by_ref().take(KNOWN_SHOWN_MAX));
    // Writing to a String does not fail.
    let _ = match names.by_ref().take(KNOWN_COUNTED_MAX).count() {
        0 => Ok(()),
        more if names.next().is_none() => write!(text, " and {more} more"),
        more => write!(text, " and over {more} more"),
    };
    text
}

/// The first [`KNOWN_SHOWN_MAX`] names in order. Most of many names cost one comparison.
pub(crate) fn first_of<T: Ord>(names: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut first = BTreeSet::new();
    for name in names {
        if first.len() < KNOWN_SHOWN_MAX || first.last().is_some_and(|last| name < *last) {
            first.insert(name);
            if first.len() > KNOWN_SHOWN_MAX {
                first.pop_last();
            }
        }
    }
    first
}

/// The problem of a name that does not exist. `known` lists those that do.
pub(crate) fn unknown(parameter: &str, name: impl Display, known: String) -> PartialProblem {
    PartialProblem::new(parameter, format!("there is no `{name}`"), known)
}

pub(crate) fn not_found(problem: PartialProblem) -> QueryError {
    QueryError::NotFound(vec![problem])
}
