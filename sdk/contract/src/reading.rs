//! Reads JSON values by their place, and collects their problems.

use serde_json::{Map, Value};

use crate::limits::PROBLEMS_MAX;

/// Shortens a text of unknown origin for a message: its beginning, with control characters escaped.
pub fn cut(text: &str) -> String {
    let text = text.get(..text.floor_char_boundary(80)).unwrap_or_default();
    text.escape_debug().to_string()
}

/// Problems and warnings, at most [`PROBLEMS_MAX`] of each.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) problems: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl Report {
    /// Adds a problem with the value at `place`.
    pub(crate) fn problem(&mut self, place: &str, what: &str) {
        push(&mut self.problems, place, what);
    }

    /// Adds a warning about the value at `place`.
    pub(crate) fn warning(&mut self, place: &str, what: &str) {
        push(&mut self.warnings, place, what);
    }
}

fn push(list: &mut Vec<String>, place: &str, what: &str) {
    if list.len() < PROBLEMS_MAX {
        list.push(if place.is_empty() {
            what.to_owned()
        } else {
            format!("{place}: {what}")
        });
    }
}

/// An object of a document with its place, which is empty for the document itself.
pub(crate) struct Members<'v> {
    place: String,
    members: &'v Map<String, Value>,
}

impl<'v> Members<'v> {
    /// The object at `place`, which may have the members `known`. Adds a warning for each other
    /// member.
    pub(crate) fn of(
        value: &'v Value,
        place: &str,
        known: &[&str],
        report: &mut Report,
    ) -> Option<Self> {
        let Value::Object(members) = value else {
            report.problem(place, &expected("an object", value));
            return None;
        };
        for name in members
            .keys()
            .filter(|name| !known.contains(&name.as_str()))
        {
            let at = join(place, &cut(name));
            report.warning(&at, &unknown_member(known));
        }
        Some(Self {
            place: place.to_owned(),
            members,
        })
    }

    /// The place of a member.
    pub(crate) fn at(&self, name: &str) -> String {
        join(&self.place, name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'v Value> {
        self.members.get(name)
    }

    /// A text that may be missing.
    pub(crate) fn optional_text(&self, name: &str, report: &mut Report) -> Option<&'v str> {
        match self.get(name)? {
            Value::String(text) => Some(text),
            value => {
                report.problem(&self.at(name), &expected("a text", value));
                None
            }
        }
    }

    /// A text that must exist.
    pub(crate) fn text(&self, name: &str, report: &mut Report) -> Option<&'v str> {
        if !self.has(name) {
            report.problem(&self.at(name), "is missing");
        }
        self.optional_text(name, report)
    }

    /// A flag, false if it is missing.
    pub(crate) fn flag(&self, name: &str, report: &mut Report) -> bool {
        match self.get(name) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(value) => {
                report.problem(&self.at(name), &expected("true or false", value));
                false
            }
        }
    }

    /// A list of at most `max` items, with the place of each item. Empty if the list is missing.
    pub(crate) fn list(
        &self,
        name: &str,
        max: usize,
        report: &mut Report,
    ) -> impl Iterator<Item = (String, &'v Value)> + use<'v> {
        let place = self.at(name);
        let items: &[Value] = match self.get(name) {
            None => &[],
            Some(Value::Array(items)) => items,
            Some(value) => {
                report.problem(&place, &expected("a list", value));
                &[]
            }
        };
        if items.len() > max {
            let count = items.len();
            report.problem(
                &place,
                &format!("{count} items are over the limit of {max}"),
            );
        }
        let items = items.iter().take(max).enumerate();
        items.map(move |(index, item)| (format!("{place}[{index}]"), item))
    }

    /// The same as [`Self::list`], with at least one item.
    pub(crate) fn filled_list(
        &self,
        name: &str,
        max: usize,
        report: &mut Report,
    ) -> impl Iterator<Item = (String, &'v Value)> + use<'v> {
        let is_empty = self
            .get(name)
            .is_none_or(|value| value.as_array().is_some_and(Vec::is_empty));
        if is_empty {
            report.problem(&self.at(name), "is empty, at least one is needed");
        }
        self.list(name, max, report)
    }
}

/// The text of a value.
pub(crate) fn text<'v>(value: &'v Value, place: &str, report: &mut Report) -> Option<&'v str> {
    let text = value.as_str();
    if text.is_none() {
        report.problem(place, &expected("a text", value));
    }
    text
}

/// The message about a member that is not part of the contract.
pub(crate) fn unknown_member(known: &[&str]) -> String {
    format!(
        "not a member of the contract, ignored; the known members are {}",
        known.join(", ")
    )
}

fn join(place: &str, name: &str) -> String {
    match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    }
}

fn expected(what: &str, value: &Value) -> String {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("expected {what}, this is {is}")
}
