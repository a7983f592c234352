//! Finds the related objects that an interpreter asks for.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use kindsight_model::Object;
use serde_json::Value;

use crate::describe::{RelatedRule, Relation};

/// Objects that were reported together, among which related ones are searched.
///
/// Its index is built at the first search by owner, so that other reports cost nothing.
#[derive(Debug, Default)]
pub struct Siblings {
    objects: Arc<[Object]>,
    index: OnceLock<Index>,
}

#[derive(Debug, Default)]
struct Index {
    by_owner_uid: HashMap<Arc<str>, Vec<usize>>,
    by_owner_name: HashMap<(Arc<str>, Arc<str>), Vec<usize>>,
}

impl Siblings {
    /// Objects that were reported together.
    pub fn of(objects: Arc<[Object]>) -> Self {
        Self {
            objects,
            ..Self::default()
        }
    }

    /// No objects: the object is judged alone.
    pub fn none() -> Self {
        Self::default()
    }

    /// Finds the related objects of `object` by a rule, in order of namespace and name; true where
    /// there were more than its limit.
    pub(crate) fn find(&self, rule: &RelatedRule, object: &Object) -> (Vec<&Object>, bool) {
        let mut found: Vec<&Object> = match &rule.relation {
            Relation::Owned => self.owned_by(object),
            Relation::SelectedBy(pointer) => self.selected_by(pointer, rule, object),
            // Declared and checked, not searched yet: nothing is found.
            Relation::Descendant | Relation::Owner | Relation::Labelled(_) | Relation::Named(_) => {
                Vec::new()
            }
        };
        found.retain(|candidate| candidate.gvk.matches(&rule.pattern));
        found.sort_by(|a, b| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)));
        let truncated = found.len() > rule.limit;
        found.truncate(rule.limit);
        (found, truncated)
    }

    fn owned_by(&self, owner: &Object) -> Vec<&Object> {
        let index = self.index.get_or_init(|| Index::of(&self.objects));
        let name = (Arc::clone(&owner.gvk.kind), Arc::clone(&owner.name));
        let by_uid = index.by_owner_uid.get(&owner.uid).into_iter().flatten();
        let by_name = index.by_owner_name.get(&name).into_iter().flatten();
        let mut positions: Vec<usize> = by_uid.chain(by_name).copied().collect();
        positions.sort_unstable();
        positions.dedup();
        let candidates = positions.iter().filter_map(|&at| self.objects.get(at));
        candidates
            .filter(|candidate| candidate.is_owned_by(owner))
            .collect()
    }

    fn selected_by(&self, pointer: &str, rule: &RelatedRule, object: &Object) -> Vec<&Object> {
        let value: Value = serde_json::from_str(&object.json).unwrap_or_default();
        let Some(selector) = value.pointer(pointer) else {
            return Vec::new();
        };
        let candidates = self.objects.iter().filter(|candidate| {
            candidate.gvk.matches(&rule.pattern) && candidate.namespace == object.namespace
        });
        candidates
            .filter(|candidate| selects(selector, &candidate.labels()))
            .collect()
    }
}

impl Index {
    fn of(objects: &[Object]) -> Self {
        let mut index = Self::default();
        for (at, object) in objects.iter().enumerate() {
            for owner in object.owners.iter() {
                if !owner.uid.is_empty() {
                    index
                        .by_owner_uid
                        .entry(Arc::clone(&owner.uid))
                        .or_default()
                        .push(at);
                }
                let name = (Arc::clone(&owner.kind), Arc::clone(&owner.name));
                index.by_owner_name.entry(name).or_default().push(at);
            }
        }
        index
    }
}

/// Returns whether labels match a label selector or a plain map. An empty selector selects nothing
/// here: it would select everything, which no rule about related objects can mean.
fn selects(selector: &Value, labels: &BTreeMap<String, String>) -> bool {
    let Some(members) = selector.as_object().filter(|members| !members.is_empty()) else {
        return false;
    };
    let expressions = members.get("matchExpressions");
    let map = members.get("matchLabels");
    if expressions.is_none() && map.is_none() {
        return has_all(selector, labels);
    }
    let mut expressions = expressions.and_then(Value::as_array).into_iter().flatten();
    map.is_none_or(|map| has_all(map, labels))
        && expressions.all(|expression| holds(expression, labels))
}

fn has_all(map: &Value, labels: &BTreeMap<String, String>) -> bool {
    let mut wanted = map.as_object().into_iter().flatten();
    wanted.all(|(key, value)| labels.get(key).map(String::as_str) == value.as_str())
}

fn holds(expression: &Value, labels: &BTreeMap<String, String>) -> bool {
    let label = expression
        .get("key")
        .and_then(Value::as_str)
        .and_then(|key| labels.get(key));
    let values = expression.get("values").and_then(Value::as_array);
    let listed = values.is_some_and(|values| {
        values
            .iter()
            .any(|value| label.map(String::as_str) == value.as_str())
    });
    match expression.get("operator").and_then(Value::as_str) {
        Some("In") => label.is_some() && listed,
        Some("NotIn") => label.is_none() || !listed,
        Some("Exists") => label.is_some(),
        Some("DoesNotExist") => label.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trim::Fields;
    use kindsight_model::KindPattern;

    fn object(json: &str) -> Object {
        Object::from_json(json).unwrap()
    }

    fn rule(relation: Relation, limit: usize) -> RelatedRule {
        RelatedRule {
            pattern: KindPattern {
                group: String::new(),
                version: "*".to_owned(),
                kind: "Pod".to_owned(),
            },
            relation,
            fields: Fields::default(),
            limit,
        }
    }

    fn pod(name: &str, owner: &str) -> Object {
        object(&format!(
            r#"{{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{name}", "namespace": "d",
                "labels": {{"app": "web", "tier": "{name}"}},
                "ownerReferences": [{{"kind": "Job", "name": "j", "uid": "{owner}"}}]}}}}"#
        ))
    }

    fn names(found: &[&Object]) -> Vec<String> {
        found.iter().map(|object| object.name.to_string()).collect()
    }

    #[test]
    fn owned_objects_come_in_order_and_capped() {
        let siblings = Siblings::of(vec![pod("c", "u"), pod("a", "u"), pod("b", "other")].into());
        let job = object(
            r#"{"apiVersion": "batch/v1", "kind": "Job",
                "metadata": {"name": "j", "namespace": "d", "uid": "u"}}"#,
        );
        let (found, truncated) = siblings.find(&rule(Relation::Owned, 9), &job);
        assert_eq!(
            (names(&found), truncated),
            (vec!["a".into(), "c".into()], false)
        );
        let (found, truncated) = siblings.find(&rule(Relation::Owned, 1), &job);
        assert_eq!((names(&found), truncated), (vec!["a".into()], true));
    }

    #[test]
    fn selectors_select_as_kubernetes_does() {
        let siblings = Siblings::of(vec![pod("a", "u"), pod("b", "u")].into());
        for (selector, expected) in [
            (r#"{"app": "web"}"#, vec!["a", "b"]),
            (r#"{"app": "web", "tier": "b"}"#, vec!["b"]),
            (r#"{"matchLabels": {"tier": "a"}}"#, vec!["a"]),
            (
                r#"{"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["a"]}]}"#,
                vec!["b"],
            ),
            (
                r#"{"matchExpressions": [{"key": "x", "operator": "Exists"}]}"#,
                vec![],
            ),
            ("{}", vec![]),
            ("3", vec![]),
        ] {
            let service = object(&format!(
                r#"{{"apiVersion": "v1", "kind": "Service",
                    "metadata": {{"name": "s", "namespace": "d"}}, "spec": {{"selector": {selector}}}}}"#
            ));
            let rule = rule(Relation::SelectedBy("/spec/selector".to_owned()), 9);
            assert_eq!(
                names(&siblings.find(&rule, &service).0),
                expected,
                "{selector}"
            );
        }
    }
}
