//! Kubernetes label selectors.

use std::fmt;
use std::sync::Arc;

use crate::node::Node;

/// A label selector: requirements that must all hold. It does not borrow from the object that contains it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelSelector {
    requirements: Arc<[LabelRequirement]>,
}

/// A requirement on one label of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelRequirement {
    /// The key of the label.
    pub key: Arc<str>,
    /// The test of its value.
    pub test: LabelTest,
}

/// A test of the value of a label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelTest {
    /// The label has one of these values.
    In(Box<[Arc<str>]>),
    /// The label has none of these values, or does not exist.
    NotIn(Box<[Arc<str>]>),
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
}

impl LabelSelector {
    /// Creates a selector. A selector without requirements selects every object.
    pub fn new(requirements: impl IntoIterator<Item = LabelRequirement>) -> Self {
        Self {
            requirements: requirements.into_iter().collect(),
        }
    }

    /// Parses a selector, or a plain map of labels such as a Service has. Returns `None` if it is empty or missing: it
    /// would select everything, which is never the intention of a rule about related objects.
    pub fn of(node: Node<'_>) -> Option<Self> {
        if !node.is_object() || node.is_empty() {
            return None;
        }
        let (map, expressions) = (node.get("matchLabels"), node.get("matchExpressions"));
        let is_plain = !map.is_present() && !expressions.is_present();
        let map = if is_plain { node } else { map };
        // No label has a value that is not a text.
        let labels = map.members().map(|(key, value)| LabelRequirement {
            key: key.into(),
            test: LabelTest::In(value.text().map(Arc::from).into_iter().collect()),
        });
        let selector = Self::new(labels.chain(expressions.items().map(LabelRequirement::of)));
        (!selector.requirements.is_empty()).then_some(selector)
    }

    /// The selector of one label.
    pub fn labelled(key: &str, value: &Arc<str>) -> Self {
        Self::new([LabelRequirement {
            key: key.into(),
            test: LabelTest::In([Arc::clone(value)].into()),
        }])
    }

    /// Keys with values: each selected object has one of the values of each key.
    pub fn one_of_each(&self) -> impl Iterator<Item = (&str, &[Arc<str>])> {
        self.requirements
            .iter()
            .filter_map(|requirement| match &requirement.test {
                LabelTest::In(values) => Some((&*requirement.key, &**values)),
                _ => None,
            })
    }

    /// Returns whether the selector selects an object. `label` returns the value of the object's label with a key.
    pub fn selects<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        let mut requirements = self.requirements.iter();
        requirements.all(|requirement| requirement.test.holds(label(&requirement.key)))
    }
}

impl LabelRequirement {
    /// Parses one of `matchExpressions`. An unknown operator selects no object.
    fn of(node: Node<'_>) -> Self {
        let values = || {
            let values = node.get("values").items().filter_map(Node::text);
            values.map(Arc::from).collect()
        };
        Self {
            key: node.get("key").text_or_empty().into(),
            test: match node.get("operator").text() {
                Some("In") => LabelTest::In(values()),
                Some("NotIn") => LabelTest::NotIn(values()),
                Some("Exists") => LabelTest::Exists,
                Some("DoesNotExist") => LabelTest::DoesNotExist,
                _ => LabelTest::In(Box::default()),
            },
        }
    }
}

impl LabelTest {
    fn holds(&self, label: Option<&str>) -> bool {
        let is_one = |values: &[Arc<str>]| values.iter().any(|value| Some(&**value) == label);
        match self {
            Self::In(values) => is_one(values),
            Self::NotIn(values) => !is_one(values),
            Self::Exists => label.is_some(),
            Self::DoesNotExist => label.is_none(),
        }
    }
}

/// Writes the selector in the syntax of `kubectl --selector`.
impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, LabelRequirement { key, test }) in self.requirements.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match test {
                LabelTest::In(values) if let [value] = &**values => {
                    write!(f, "{comma}{key}={value}")?;
                }
                LabelTest::NotIn(values) if let [value] = &**values => {
                    write!(f, "{comma}{key}!={value}")?;
                }
                LabelTest::In(values) => write!(f, "{comma}{key} in ({})", values.join(","))?,
                LabelTest::NotIn(values) => write!(f, "{comma}{key} notin ({})", values.join(","))?,
                LabelTest::Exists => write!(f, "{comma}{key}")?,
                LabelTest::DoesNotExist => write!(f, "{comma}!{key}")?,
            }
        }
        Ok(())
    }
}
