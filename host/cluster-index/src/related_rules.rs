//! Relations that interpreters ask for, between the objects of an application and related objects.

use kindsight_contract::{KindPattern, Relation};

/// One relation that interpreters ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedKinds {
    /// Pattern of the objects that are judged.
    pub judged: KindPattern,
    /// JSON pointer of a field that objects must have to be judged by this relation; none for all objects.
    pub when: Option<String>,
    /// Pattern of the objects that are related to them.
    pub related: KindPattern,
    /// Their relation.
    pub relation: Relation,
    /// True if the related objects are needed without their content.
    pub is_identity_enough: bool,
}

/// All relations that interpreters ask for, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RelatedRules(Vec<RelatedKinds>);

impl RelatedRules {
    /// All relations of judged objects of this Kind.
    pub fn about(
        &self,
        (group, version, kind): (&str, &str, &str),
    ) -> impl Iterator<Item = &RelatedKinds> {
        let rules = self.0.iter();
        rules.filter(move |rule| rule.judged.matches(group, version, kind))
    }

    /// The relations whose related objects are of this Kind.
    pub fn with(
        &self,
        (group, version, kind): (&str, &str, &str),
    ) -> impl Iterator<Item = &RelatedKinds> {
        let rules = self.0.iter();
        rules.filter(move |rule| rule.related.matches(group, version, kind))
    }

    /// All relations.
    pub fn iter(&self) -> impl Iterator<Item = &RelatedKinds> {
        self.0.iter()
    }

    /// Returns whether a relation looks for objects of this Kind among the descendants of other objects.
    pub(crate) fn look_for_descendants(&self, names: (&str, &str, &str)) -> bool {
        self.with(names)
            .any(|rule| rule.relation == Relation::Descendant)
    }
}

impl RelatedKinds {
    /// Returns whether the relation is about objects of every Kind, and not of a Kind that an interpreter names.
    pub fn is_about_any_kind(&self) -> bool {
        self.judged.kind == "*"
    }

    /// The group and the Kind of the related objects, if the pattern names both.
    pub fn kind(&self) -> Option<(&str, &str)> {
        let KindPattern { group, kind, .. } = &self.related;
        (!group.starts_with('*') && kind != "*").then_some((group, kind))
    }
}

impl FromIterator<RelatedKinds> for RelatedRules {
    fn from_iter<I: IntoIterator<Item = RelatedKinds>>(rules: I) -> Self {
        let mut all = Vec::new();
        for rule in rules {
            if !all.contains(&rule) {
                all.push(rule);
            }
        }
        Self(all)
    }
}
