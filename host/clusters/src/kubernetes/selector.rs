//! Label selectors that outlive the object they are of.
//!
//! They select what the contract's own do, which a test compares.

use std::sync::Arc;

use kindsight_contract::{EVERY_ITEM, Node, pointer};

/// A label and its value.
pub(super) type Label = (Arc<str>, Arc<str>);

/// A label, and the value that it is to have: none where that is no text, which is no label's.
type Wanted = (Arc<str>, Option<Arc<str>>);

/// A label selector, or a plain map of labels as a Service has.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct LabelSelector {
    labels: Box<[Wanted]>,
    expressions: Box<[Expression]>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Expression {
    key: Arc<str>,
    operator: Operator,
    values: Box<[Arc<str>]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Unknown,
}

impl LabelSelector {
    /// Reads a selector. None for one that is empty or missing.
    pub(super) fn of(node: Node<'_>) -> Option<Self> {
        if !node.is_object() || node.is_empty() {
            return None;
        }
        let (map, expressions) = (node.get("matchLabels"), node.get("matchExpressions"));
        let is_plain = !map.is_present() && !expressions.is_present();
        let map = if is_plain { node } else { map };
        let labels = map.members();
        let labels = labels.map(|(key, value)| (key.into(), value.text().map(Arc::from)));
        let selector = Self {
            labels: labels.collect(),
            expressions: expressions.items().map(Expression::of).collect(),
        };
        (!selector.labels.is_empty() || !selector.expressions.is_empty()).then_some(selector)
    }

    /// The selector of one label.
    pub(super) fn labelled(key: &str, value: &Arc<str>) -> Self {
        Self {
            labels: [(key.into(), Some(Arc::clone(value)))].into(),
            expressions: Box::default(),
        }
    }

    /// Sets of labels; each object that is selected has one of each set. None where it may have others.
    pub(super) fn one_of_each(&self) -> Vec<Vec<Label>> {
        let exact = self.labels.iter().map(|(key, value)| {
            let value = value.as_ref().map(|it| (Arc::clone(key), Arc::clone(it)));
            value.into_iter().collect()
        });
        let listed = self.expressions.iter();
        let listed = listed.filter(|it| it.operator == Operator::In).map(|it| {
            let values = it.values.iter();
            let labels = values.map(|value| (Arc::clone(&it.key), Arc::clone(value)));
            labels.collect()
        });
        exact.chain(listed).collect()
    }

    /// Returns whether it selects an object with these labels.
    pub(super) fn selects(&self, labels: &[Label]) -> bool {
        let label = |key: &str| {
            let label = labels.iter().find(|(name, _)| **name == *key);
            label.map(|(_, value)| &**value)
        };
        let has = |(key, value): &Wanted| value.is_some() && label(key) == value.as_deref();
        self.labels.iter().all(has) && self.expressions.iter().all(|it| it.holds(label(&it.key)))
    }
}

impl Expression {
    fn of(node: Node<'_>) -> Self {
        let values = node.get("values").items().filter_map(Node::text);
        Self {
            key: node.get("key").text_or_empty().into(),
            operator: match node.get("operator").text() {
                Some("In") => Operator::In,
                Some("NotIn") => Operator::NotIn,
                Some("Exists") => Operator::Exists,
                Some("DoesNotExist") => Operator::DoesNotExist,
                _ => Operator::Unknown,
            },
            values: values.map(Arc::from).collect(),
        }
    }

    fn holds(&self, label: Option<&str>) -> bool {
        let is_listed = |label: &str| self.values.iter().any(|value| **value == *label);
        match self.operator {
            Operator::In => label.is_some_and(is_listed),
            Operator::NotIn => !label.is_some_and(is_listed),
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
            Operator::Unknown => false,
        }
    }
}

/// The texts that a pointer leads to, through every item of a list for `*`; without empty ones.
pub(super) fn texts_at(root: Node<'_>, at: &str) -> Vec<Arc<str>> {
    let steps: Vec<String> = pointer::tokens(at).collect();
    let mut texts = Vec::new();
    collect(root, &steps, &mut texts);
    texts
}

fn collect(node: Node<'_>, steps: &[String], texts: &mut Vec<Arc<str>>) {
    let Some((step, rest)) = steps.split_first() else {
        texts.extend(node.text().filter(|it| !it.is_empty()).map(Arc::from));
        return;
    };
    if node.is_array() && step == EVERY_ITEM {
        for item in node.items() {
            collect(item, rest, texts);
        }
    } else {
        collect(node.get(step), rest, texts);
    }
}

#[cfg(test)]
mod tests {
    use kindsight_contract::{KindPattern, RelatedRule, Relation, Relatives};
    use kindsight_model::Object;
    use serde_json::json;

    use super::*;

    #[test]
    fn it_selects_what_the_contract_selects() {
        let labels = [
            json!({}),
            json!({"app": "web"}),
            json!({"app": "web", "tier": "a"}),
            json!({"app": "web", "tier": "b"}),
            json!({"tier": "b"}),
        ];
        let pods = labels.into_iter().enumerate().map(|(at, labels)| {
            let pod = json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": at.to_string(), "namespace": "web", "labels": labels}});
            Object::from_json(pod.to_string()).unwrap()
        });
        let pods: Vec<Object> = pods.collect();
        let rule = RelatedRule {
            pattern: KindPattern {
                group: String::new(),
                version: "*".to_owned(),
                kind: "Pod".to_owned(),
            },
            relation: Relation::SelectedBy("/spec/selector".to_owned()),
            fields: Vec::new(),
            limit: 256,
        };
        let expression = |key, operator, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        for selector in [
            json!({"app": "web"}),
            json!({"app": "web", "tier": "a"}),
            json!({"app": "web", "tier": 3}),
            json!({"matchLabels": {"tier": "b"}}),
            json!({"matchLabels": {"app": "web"}, "matchExpressions": [
                {"key": "tier", "operator": "NotIn", "values": ["a"]}]}),
            expression("tier", "In", &["a", "b"]),
            expression("tier", "In", &[]),
            expression("tier", "NotIn", &["a"]),
            expression("tier", "Exists", &[]),
            expression("tier", "DoesNotExist", &[]),
            expression("tier", "Like", &["a"]),
            json!({"matchLabels": {}}),
            json!({}),
            json!(3),
        ] {
            let service = json!({"apiVersion": "v1", "kind": "Service",
                "metadata": {"name": "s", "namespace": "web"}, "spec": {"selector": selector}});
            let service = Object::from_json(service.to_string()).unwrap();
            let (tree, text) = (service.tree(), Arc::clone(&service.json));
            let document = tree.document(&text);
            let found = Relatives::of(&pods[..]).find(&rule, &service, document.root());
            let ours = LabelSelector::of(document.root().at("/spec/selector"));
            let selects = |pod: &Object| ours.as_ref().is_some_and(|it| it.selects(&pod.labels));
            let selected = (0..pods.len()).filter(|&at| selects(&pods[at]));
            assert_eq!(selected.collect::<Vec<_>>(), found.positions, "{selector}");
            // What is looked for by label first is among them.
            let sets = ours.as_ref().map(LabelSelector::one_of_each);
            for at in found.positions {
                let has = |label: &Label| pods[at].labels.contains(label);
                let mut sets = sets.iter().flatten();
                assert!(sets.all(|set| set.iter().any(has)), "{selector}");
            }
        }
    }

    #[test]
    fn texts_are_found_in_lists_and_behind_escapes() {
        let root = r#"{"a": [{"n/m": "x"}, {"n/m": ""}, {"n/m": 3}, {"n/m": "y"}], "b": "z"}"#;
        let tree = kindsight_contract::Tree::read(root).unwrap();
        let document = tree.document(root);
        let at = |pointer| texts_at(document.root(), pointer);
        assert_eq!(at("/a/*/n~1m"), ["x".into(), "y".into()]);
        assert_eq!(at("/b"), ["z".into()]);
        assert!(at("/c/*").is_empty());
    }
}
