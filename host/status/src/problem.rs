//! Errors of queries; each names the valid values.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{Display, Write as _};

use kindsight_api::problem::PartialProblem;

/// Maximum length of an invalid value that a problem quotes, in characters.
pub const VALUE_SHOWN_CHARS_MAX: usize = 80;
/// Maximum number of known names that a problem lists.
pub const KNOWN_SHOWN_MAX: usize = 20;
/// Maximum number of further known names that a problem counts. The count shows whether there are few or
/// many, and takes some microseconds.
pub const KNOWN_COUNTED_MAX: usize = 1000;

/// The reason why a query has no answer.
///
/// Never an internal fault: a valid query about existing names always has an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The query cannot be parsed. Lists every problem.
    #[error("the query is not valid")]
    Invalid(Vec<PartialProblem>),
    /// Names in the query do not exist. Lists every one.
    #[error("the query names something that does not exist")]
    NotFound(Vec<PartialProblem>),
}

/// A value for a problem, truncated to [`VALUE_SHOWN_CHARS_MAX`] characters.
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

/// Lists the first known names as a hint for an unknown name. The names must be in order and without
/// duplicates. At most [`KNOWN_COUNTED_MAX`] further names are counted.
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

/// The first [`KNOWN_SHOWN_MAX`] names in order. Most names cost one comparison.
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

/// The problem for a name that does not exist. `known` lists the names that exist.
pub(crate) fn unknown(parameter: &str, name: impl Display, known: String) -> PartialProblem {
    PartialProblem::new(parameter, format!("there is no `{name}`"), known)
}

pub(crate) fn not_found(problem: PartialProblem) -> QueryError {
    QueryError::NotFound(vec![problem])
}
