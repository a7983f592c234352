//! The objects of a list or a watch: a Kind, a namespace and selectors.

use std::ops::Range;

use crate::failure::Failure;
use crate::history::ObjectId;
use crate::kinds::KindId;
use crate::objects;
use crate::query::Query;
use crate::seed::Seed;

/// The objects of a list or a watch.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) kind: KindId,
    /// The numbers of the objects in the namespace.
    pub(crate) numbers: Range<u32>,
    /// True if the path names a namespace.
    pub(crate) is_of_namespace: bool,
    /// The only selected name.
    name: Option<String>,
    labels: Vec<Requirement>,
}

/// A requirement on a label.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    /// The allowed values; none if each value is allowed.
    values: Option<Vec<String>>,
    is_negative: bool,
}

impl Selection {
    pub(crate) fn new(
        seed: &Seed,
        (kind, namespace): (KindId, Option<&str>),
        query: &Query,
    ) -> Result<Self, Failure> {
        let numbers = namespace.map_or(0..objects::count(seed, kind), |namespace| {
            objects::of_namespace(seed, kind, namespace)
        });
        let name = match query.field_selector.split_once('=') {
            Some(("metadata.name", name)) => Some(name.trim_start_matches('=').to_owned()),
            None if query.field_selector.is_empty() => None,
            _ => {
                let field = &query.field_selector;
                let message = format!("field selector not supported: {field}");
                return Err(Failure::bad_request(message));
            }
        };
        Ok(Self {
            kind,
            numbers,
            is_of_namespace: namespace.is_some(),
            name,
            labels: requirements(&query.label_selector)?,
        })
    }

    /// Returns whether a selector leaves out objects.
    pub(crate) fn is_filtered(&self) -> bool {
        self.name.is_some() || !self.labels.is_empty()
    }

    pub(crate) fn has(&self, seed: &Seed, number: u32) -> bool {
        if !self.numbers.contains(&number) {
            return false;
        }
        let kind = self.kind;
        let id = ObjectId { kind, number };
        let is_named = |name: &String| objects::key(seed, id).1 == *name;
        self.name.as_ref().is_none_or(is_named)
            && (self.labels.is_empty() || {
                let labels = objects::labels(seed, id);
                self.labels.iter().all(|required| required.is_met(&labels))
            })
    }

    /// The key of an object, relative to the list.
    pub(crate) fn key(&self, seed: &Seed, number: u32) -> String {
        let kind = self.kind;
        let (namespace, name) = objects::key(seed, ObjectId { kind, number });
        if self.is_of_namespace || namespace.is_empty() {
            name
        } else {
            format!("{namespace}/{name}")
        }
    }

    /// The first number whose key is greater than this one.
    pub(crate) fn after(&self, seed: &Seed, key: &str) -> u32 {
        let Range { mut start, mut end } = self.numbers.clone();
        // A slash sorts after the letters of names, so parts are compared.
        let parts = |key: &str| key.split('/').map(str::to_owned).collect::<Vec<_>>();
        let wanted = parts(key);
        while start < end {
            let middle = start + (end - start) / 2;
            if parts(&self.key(seed, middle)) <= wanted {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }
}

impl Requirement {
    fn is_met(&self, labels: &[(&str, String)]) -> bool {
        let found = labels.iter().find(|(key, _)| *key == self.key);
        let is_allowed = found.is_some_and(|(_, value)| {
            let allowed = self.values.as_ref();
            allowed.is_none_or(|allowed| allowed.contains(value))
        });
        is_allowed != self.is_negative
    }
}

/// Reads a label selector: `key`, `!key`, `key=value`, `key!=value`, `key in (a,b)` and `key notin (a,b)`.
fn requirements(text: &str) -> Result<Vec<Requirement>, Failure> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let close = rest.find(')').unwrap_or(0);
        let end = rest[close..].find(',').map_or(rest.len(), |at| close + at);
        let (part, after) = rest.split_at(end);
        rest = after.trim_start_matches(',').trim();
        found.push(requirement(part.trim()).ok_or_else(|| {
            Failure::bad_request(format!("unable to parse the requirement {part:?}"))
        })?);
    }
    Ok(found)
}

fn requirement(text: &str) -> Option<Requirement> {
    let is_key = |key: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._/".contains(c);
        !key.is_empty() && key.chars().all(is_allowed)
    };
    let (key, values, is_negative) = if let Some((key, set)) = text.split_once(" notin ") {
        (key, Some(set), true)
    } else if let Some((key, set)) = text.split_once(" in ") {
        (key, Some(set), false)
    } else if let Some((key, value)) = text.split_once("!=") {
        (key, Some(value), true)
    } else if let Some((key, value)) = text.split_once('=') {
        (key, Some(value.strip_prefix('=').unwrap_or(value)), false)
    } else if let Some(key) = text.strip_prefix('!') {
        (key, None, true)
    } else {
        (text, None, false)
    };
    let values = values.map(|set| {
        let set = set.trim().trim_start_matches('(').trim_end_matches(')');
        set.split(',').map(|value| value.trim().to_owned())
    });
    let values: Option<Vec<String>> = values.map(Iterator::collect);
    let is_valid = |value: &String| value.is_empty() || is_key(value);
    let are_valid = values.iter().flatten().all(is_valid);
    (is_key(key.trim()) && are_valid).then(|| Requirement {
        key: key.trim().to_owned(),
        values,
        is_negative,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_selectors_are_met_by_labels() {
        let labels = [("app", "web".to_owned()), ("tier", "one".to_owned())];
        for (text, expected) in [
            ("app", true),
            ("!app", false),
            ("app=web", true),
            ("app==web,tier!=two", true),
            ("app in (api,web),tier", true),
            ("app notin (api,web)", false),
            ("other", false),
        ] {
            let read = requirements(text).unwrap();
            let is_met = read.iter().all(|required| required.is_met(&labels));
            assert_eq!(is_met, expected, "{text}");
        }
        assert!(requirements("a===").is_err());
    }
}
