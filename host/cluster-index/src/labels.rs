//! Labels that the index keeps of objects without an application.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_contract::{Node, Relation};

use crate::kind::ApiKind;
use crate::related_rules::RelatedRules;

/// A label and its value.
pub(crate) type Label = (Arc<str>, Arc<str>);

/// The labels that are kept of each object, for relations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Labels {
    /// None.
    #[default]
    None,
    /// Labels with these keys.
    Keys(BTreeSet<Arc<str>>),
    /// All.
    All,
}

impl Labels {
    /// The labels of a Kind that relations search.
    pub fn needed(rules: &RelatedRules, kind: &ApiKind) -> Self {
        let mut keys = BTreeSet::new();
        for rule in rules.with(kind.names()) {
            match &rule.relation {
                Relation::SelectedBy(_) => return Self::All,
                Relation::Labelled(key) => {
                    keys.insert(Arc::from(&**key));
                }
                Relation::Owned | Relation::Descendant | Relation::Owner | Relation::Named(_) => {}
            }
        }
        if keys.is_empty() {
            Self::None
        } else {
            Self::Keys(keys)
        }
    }

    /// Returns whether these labels include the other labels.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) | (_, Self::None) => true,
            (Self::Keys(kept), Self::Keys(needed)) => kept.is_superset(needed),
            _ => false,
        }
    }

    /// The labels in `metadata` that are kept.
    pub(super) fn of(&self, metadata: Node<'_>) -> Arc<[Label]> {
        let is_kept = |key: &str| match self {
            Self::None => false,
            Self::Keys(keys) => keys.contains(key),
            Self::All => true,
        };
        if *self == Self::None {
            return Arc::default();
        }
        let labels = metadata.get("labels").members();
        let labels = labels.filter(|(key, _)| is_kept(key));
        let labels = labels.filter_map(|(key, value)| Some((key.into(), value.text()?.into())));
        labels.collect()
    }
}
