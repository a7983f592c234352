//! `rules[].related` of a file.

use kindsight_contract::RelatedRule;
use kindsight_contract::limits::RELATED_MAX;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cel::RelatedList;

/// A list of related objects: a name, and the members of a request in the contract. There are no fields, because the
/// conversion finds them in the expressions.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRelated {
    name: String,
    #[serde(default)]
    group: String,
    kind: String,
    relation: String,
    at: Option<String>,
    label: Option<String>,
    limit: Option<u64>,
}

/// Reads the lists of the rule at `rules[index]`.
///
/// # Errors
/// The problems, each with its place.
pub(super) fn read(lists: Vec<FileRelated>, index: usize) -> Result<Vec<RelatedList>, String> {
    let mut problems = Vec::new();
    let mut read = Vec::new();
    for (position, list) in lists.into_iter().enumerate() {
        let place = format!("rules[{index}].related[{position}]");
        match RelatedRule::parse(&list.request(), &place) {
            Ok(request) => read.push(RelatedList {
                name: list.name,
                request,
            }),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok(read)
    } else {
        Err(problems.join("\n"))
    }
}

impl FileRelated {
    /// The request as in a description.
    fn request(&self) -> Value {
        let texts = [
            ("group", Some(&self.group)),
            ("kind", Some(&self.kind)),
            ("relation", Some(&self.relation)),
            ("at", self.at.as_ref()),
            ("label", self.label.as_ref()),
        ];
        let texts = texts.into_iter();
        let texts = texts.filter_map(|(name, text)| Some((name.to_owned(), text?.as_str().into())));
        let mut request: Map<String, Value> = texts.collect();
        let limit = self.limit.map_or_else(|| RELATED_MAX.into(), Value::from);
        request.insert("limit".to_owned(), limit);
        request.into()
    }
}
