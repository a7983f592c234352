//! The related objects of a rule, as variables of its expressions.

use std::rc::Rc;

use kindsight_cel::{Map, Value};
use kindsight_sdk::prelude::*;

use crate::rules::kept;

/// A list of related objects, under its name in expressions.
pub(crate) struct RelatedList {
    name: &'static str,
    /// Group and Kind.
    kind: (&'static str, &'static str),
    relation: Relation,
    fields: Vec<&'static str>,
    limit: u32,
}

impl RelatedList {
    pub(crate) fn of_node(node: Node<'_>) -> Result<Self, String> {
        let limit = node.get("limit").integer();
        let limit = limit.and_then(|limit| u32::try_from(limit).ok());
        Ok(Self {
            name: kept(node.get("name")),
            kind: (kept(node.get("group")), kept(node.get("kind"))),
            relation: relation(node)?,
            fields: node.get("fields").items().map(kept).collect(),
            limit: limit.ok_or("a list of related objects has no limit")?,
        })
    }

    /// Adds the request for the objects to a Kind.
    pub(crate) fn request(&self, kind: Kind) -> Kind {
        kind.related(self.kind, self.relation, &self.fields, self.limit)
    }
}

fn relation(node: Node<'_>) -> Result<Relation, String> {
    let by = || kept(node.get("by"));
    match node.get("relation").text_or_empty() {
        "owned" => Ok(Relation::Owned),
        "descendant" => Ok(Relation::Descendant),
        "owner" => Ok(Relation::Owner),
        "selected-by" => Ok(Relation::SelectedBy(by())),
        "labelled" => Ok(Relation::Labelled(by())),
        "named" => Ok(Relation::Named(by())),
        other => Err(format!("the relation `{other}` is not known")),
    }
}

/// A map from the names of the lists to their objects.
pub(crate) fn objects<'a>(lists: &'a [RelatedList], input: &Input<'a>) -> Value<'a> {
    by_name(lists, input, |set| {
        let objects = set.objects().map(|object| Value::of_node(object.root()));
        Value::from(objects.collect::<Vec<_>>())
    })
}

/// A map from the names of the lists to the words of their coverage. A list that is cut off by its limit is partial.
pub(crate) fn coverage<'a>(lists: &'a [RelatedList], input: &Input<'a>) -> Value<'a> {
    by_name(lists, input, |set| {
        let passed = i64::try_from(set.objects().len());
        let is_cut = passed.is_ok_and(|passed| passed < set.total());
        Value::from(match set.coverage() {
            Coverage::Complete if is_cut => Coverage::Partial.as_str(),
            coverage => coverage.as_str(),
        })
    })
}

fn by_name<'a>(
    lists: &'a [RelatedList],
    input: &Input<'a>,
    value: impl Fn(RelatedSet<'a>) -> Value<'a>,
) -> Value<'a> {
    let entries = lists.iter().enumerate();
    let entries = entries.map(|(index, list)| (list.name.into(), value(input.related(index))));
    Value::Map(Map::Shared(entries.collect::<Rc<[_]>>()))
}
