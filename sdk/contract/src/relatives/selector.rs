//! Label selectors of Kubernetes.

use super::Relative;
use crate::node::Node;

/// A label selector, or a plain map of labels as a Service has.
pub(super) struct Selector<'a> {
    labels: Vec<(&'a str, Option<&'a str>)>,
    expressions: Vec<Node<'a>>,
}

impl<'a> Selector<'a> {
    /// Reads a selector. None for one that is empty or missing: it would select everything, which no rule
    /// about related objects can mean.
    pub(super) fn of(node: Node<'a>) -> Option<Self> {
        if !node.is_object() || node.is_empty() {
            return None;
        }
        let (map, expressions) = (node.get("matchLabels"), node.get("matchExpressions"));
        let is_plain = !map.is_present() && !expressions.is_present();
        let map = if is_plain { node } else { map };
        let selector = Self {
            labels: map
                .members()
                .map(|(key, value)| (key, value.text()))
                .collect(),
            expressions: expressions.items().collect(),
        };
        (!selector.labels.is_empty() || !selector.expressions.is_empty()).then_some(selector)
    }

    /// The fewest candidates that `labelled` knows for any part of the selector that names a label with
    /// its value; none where no part does.
    pub(super) fn narrowest<I: ExactSizeIterator<Item = usize>>(
        &self,
        labelled: impl Fn(&str, &str) -> I,
    ) -> Option<Vec<usize>> {
        let by_label = self.labels.iter();
        let by_label = by_label.filter_map(|(key, value)| Some(labelled(key, (*value)?)));
        let by_label = by_label.min_by_key(ExactSizeIterator::len);
        let listed = self.expressions.iter();
        let listed = listed.filter(|it| it.get("operator").text() == Some("In"));
        let by_value = listed.map(|it| {
            let key = it.get("key").text_or_empty();
            let values = it.get("values").items().filter_map(Node::text);
            values.map(|value| labelled(key, value)).collect::<Vec<I>>()
        });
        let len = |lists: &Vec<I>| lists.iter().map(ExactSizeIterator::len).sum::<usize>();
        let by_value = by_value.min_by_key(len);
        match (by_label, by_value) {
            (Some(one), Some(lists)) if len(&lists) < one.len() => {
                Some(lists.into_iter().flatten().collect())
            }
            (Some(one), _) => Some(one.collect()),
            (None, lists) => lists.map(|lists| lists.into_iter().flatten().collect()),
        }
    }

    /// Returns whether it selects an object by its labels.
    pub(super) fn selects(&self, object: &impl Relative) -> bool {
        let label = |key: &str| {
            object
                .labels()
                .find(|(name, _)| *name == key)
                .map(|it| it.1)
        };
        let has = |(key, value): &(&str, Option<&str>)| value.is_some() && label(key) == *value;
        self.labels.iter().all(has)
            && self.expressions.iter().all(|expression| {
                let label = label(expression.get("key").text_or_empty());
                holds(*expression, label)
            })
    }
}

fn holds(expression: Node<'_>, label: Option<&str>) -> bool {
    let mut values = expression.get("values").items();
    let listed = || values.any(|value| value.text().is_some() && value.text() == label);
    match expression.get("operator").text() {
        Some("In") => label.is_some() && { listed }(),
        Some("NotIn") => label.is_none() || !{ listed }(),
        Some("Exists") => label.is_some(),
        Some("DoesNotExist") => label.is_none(),
        _ => false,
    }
}
