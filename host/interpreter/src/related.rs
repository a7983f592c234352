//! The objects among which related objects are searched, and the coverage of related objects that
//! are not found.

use kindsight_contract::{Coverage as RelationCoverage, Node, RelatedRule, Relation, Relatives};
use kindsight_model::{Coverage, Object, ObjectList, Scope};

/// Objects that were reported together. Related objects are searched among them.
#[derive(Debug, Default)]
pub struct Siblings {
    relatives: Relatives<ObjectList>,
    known: Known,
}

/// The coverage of objects that are not among the siblings.
#[derive(Debug, Clone, Default)]
enum Known {
    /// The coverage is unknown.
    #[default]
    Nothing,
    /// The same coverage for every Kind, as a fixture specifies it.
    Given(RelationCoverage),
    /// The coverage of related objects, by Kind.
    Kinds(Coverage),
}

/// The related objects of one object by one rule.
#[derive(Debug)]
pub(crate) struct RelatedSet {
    /// Positions among the siblings, in order of namespace and name, up to the rule's limit.
    pub(crate) positions: Vec<usize>,
    /// Number of all related objects that were found.
    pub(crate) total: usize,
    /// The coverage of the objects that match the rule.
    pub(crate) coverage: RelationCoverage,
}

impl Siblings {
    /// Objects that were reported together by a reporter with unknown coverage.
    pub fn of(objects: impl Into<ObjectList>) -> Self {
        Self {
            relatives: Relatives::of(objects.into()),
            known: Known::Nothing,
        }
    }

    /// Objects that were reported together, and other objects to which some of them are related.
    pub fn beside(objects: &ObjectList, related: &ObjectList) -> Self {
        if related.is_empty() {
            return Self::of(objects.clone());
        }
        let all = objects.iter().chain(related.iter());
        Self::of(all.cloned().collect::<ObjectList>())
    }

    /// The same objects, with later versions at some positions of the reported objects, which are the first ones. Each
    /// must be [the same relative](Object::is_same_relative) as its earlier version. If no other objects are beside
    /// the reported ones, both share their list. The cost grows with the number of changed objects alone.
    #[must_use]
    pub fn with_versions(&self, reported: &ObjectList, changed: &[usize]) -> Self {
        let all = self.relatives.objects();
        let objects = if all.len() == reported.len() {
            reported.clone()
        } else {
            let versions = changed.iter();
            all.with(versions.filter_map(|&at| Some((at, reported.get(at)?.clone()))))
        };
        Self {
            relatives: self.relatives.with_versions(objects),
            known: self.known.clone(),
        }
    }

    /// No siblings: the object is judged alone.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same objects, with this coverage of related objects.
    #[must_use]
    pub fn covered(mut self, coverage: Coverage) -> Self {
        self.known = Known::Kinds(coverage);
        self
    }

    /// The same objects, with the same coverage of every Kind, for fixtures.
    #[must_use]
    pub(crate) fn given(mut self, coverage: RelationCoverage) -> Self {
        self.known = Known::Given(coverage);
        self
    }

    /// The same objects, but each rule finds all objects that match its pattern. Used to search for
    /// a relation that finds too few objects.
    #[must_use]
    pub(crate) fn ignoring_relations(self) -> Self {
        Self {
            relatives: self.relatives.ignoring_relations(),
            ..self
        }
    }

    /// Only the objects at these positions, with the same coverage of related objects.
    #[must_use]
    pub(crate) fn only(&self, positions: impl IntoIterator<Item = usize>) -> Self {
        let kept = positions.into_iter();
        let kept = kept.filter_map(|at| self.objects().get(at).cloned());
        Self {
            relatives: Relatives::of(kept.collect()),
            known: self.known.clone(),
        }
    }

    /// The objects.
    pub fn objects(&self) -> &ObjectList {
        self.relatives.objects()
    }

    /// The positions of the owners of an object, and of their owners, nearest first.
    pub fn ancestors(&self, object: &Object) -> Vec<usize> {
        self.relatives.ancestors(object)
    }

    /// The positions of the objects that an object owns.
    pub fn owned_by(&self, owner: &Object) -> Vec<usize> {
        self.relatives.owned(owner)
    }

    /// Finds the related objects of an object with the root `json` by a rule.
    pub(crate) fn find(&self, rule: &RelatedRule, object: &Object, json: Node<'_>) -> RelatedSet {
        let found = self.relatives.find(rule, object, json);
        let coverage = match self.coverage(rule) {
            RelationCoverage::Complete if !found.is_whole => RelationCoverage::Partial,
            coverage => coverage,
        };
        RelatedSet {
            positions: found.positions,
            total: found.total,
            coverage,
        }
    }

    fn coverage(&self, rule: &RelatedRule) -> RelationCoverage {
        let coverage = match &self.known {
            Known::Nothing => return RelationCoverage::Unknown,
            Known::Given(coverage) => return *coverage,
            Known::Kinds(coverage) => coverage,
        };
        let pattern = &rule.pattern;
        let is_one_kind = !pattern.group.starts_with('*') && pattern.kind != "*";
        if !is_one_kind {
            return RelationCoverage::Partial;
        }
        let found = coverage.of(Some(&pattern.group), &pattern.kind, Scope::Cluster);
        match (found.state.for_relations(), &rule.relation) {
            // Intermediate owners may be of Kinds that no source reports, so some descendants may
            // not be found.
            (RelationCoverage::Complete, Relation::Descendant) => RelationCoverage::Partial,
            (coverage, _) => coverage,
        }
    }
}

#[cfg(test)]
mod tests;
