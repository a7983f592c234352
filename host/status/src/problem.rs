//! Errors of queries, in words that name what would be right.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;

use kindsight_api::problem::PartialProblem;

/// Characters of a wrong value that a problem repeats.
pub const VALUE_SHOWN_CHARS_MAX: usize = 80;
/// Names that are listed as known where another one was asked for.
pub const KNOWN_SHOWN_MAX: usize = 20;

/// The reason why a query has no answer. Never an internal fault: a valid query of something known has
/// one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It cannot be understood; every problem is named.
    #[error("the query is not valid")]
    Invalid(Vec<PartialProblem>),
    /// It names what does not exist; every such name is named.
    #[error("the query names what does not exist")]
    NotFound(Vec<PartialProblem>),
}

/// A value as a problem repeats it: cut after [`VALUE_SHOWN_CHARS_MAX`].
pub fn clipped(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(VALUE_SHOWN_CHARS_MAX) {
        None => value.into(),
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()).into(),
    }
}

/// Lists the first [`KNOWN_SHOWN_MAX`] of these names, in their order, and counts the others.
pub fn one_of(names: impl IntoIterator<Item = impl Display>) -> String {
    let mut names = names.into_iter();
    let shown = names.by_ref().take(KNOWN_SHOWN_MAX);
    let shown: Vec<_> = shown.map(|name| format!("`{name}`")).collect();
    match names.count() {
        0 if shown.is_empty() => "nothing of the kind is known".to_owned(),
        0 => format!("one of {}", shown.join(", ")),
        more => format!("one of {} and {more} more", shown.join(", ")),
    }
}

/// Lists what is known, sorted and each once, for someone who asked for something else.
pub(crate) fn known(names: impl IntoIterator<Item = impl Display>) -> String {
    let names = names.into_iter().map(|name| name.to_string());
    one_of(names.collect::<BTreeSet<String>>())
}

/// A name that is none of those that are known.
pub(crate) fn unknown(parameter: &str, name: impl Display, known: String) -> PartialProblem {
    PartialProblem::new(parameter, format!("there is no `{name}`"), known)
}

pub(crate) fn not_found(problem: PartialProblem) -> QueryError {
    QueryError::NotFound(vec![problem])
}
