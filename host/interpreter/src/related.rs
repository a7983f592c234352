//! Objects among which related ones are searched, and what is known of those that are not there.

use std::sync::Arc;

use kindsight_contract::{Coverage, Node, RelatedRule, Relation, Relatives};
use kindsight_model::{CoveredKinds, KindCoverage, Object};

/// Objects that were reported together, among which related ones are searched.
#[derive(Debug, Default)]
pub struct Siblings {
    relatives: Relatives<Arc<[Object]>>,
    known: Known,
}

/// Knowledge of objects that are not among the siblings.
#[derive(Debug, Default)]
enum Known {
    /// Nothing.
    #[default]
    Nothing,
    /// The same for every Kind, as a fixture promises it.
    Given(Coverage),
    /// The Kinds that the reporter covers.
    Kinds(Arc<CoveredKinds>),
}

/// Related objects of one object by one rule.
#[derive(Debug)]
pub(crate) struct RelatedSet {
    /// Positions among the siblings, in order of namespace and name; at most the rule's limit.
    pub(crate) positions: Vec<usize>,
    /// Number of all that were found.
    pub(crate) total: usize,
    /// Coverage of such objects.
    pub(crate) coverage: Coverage,
}

impl Siblings {
    /// Objects that were reported together, by a reporter of which it is not known what it covers.
    pub fn of(objects: Arc<[Object]>) -> Self {
        Self {
            relatives: Relatives::of(objects),
            known: Known::Nothing,
        }
    }

    /// Objects that were reported together, and others that some of them name by a relation.
    pub fn beside(objects: &Arc<[Object]>, related: &[Object]) -> Self {
        if related.is_empty() {
            return Self::of(Arc::clone(objects));
        }
        Self::of(objects.iter().chain(related).cloned().collect())
    }

    /// No objects: the object is judged alone.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same objects, by a reporter that covers these Kinds.
    #[must_use]
    pub fn covered(mut self, kinds: Arc<CoveredKinds>) -> Self {
        self.known = Known::Kinds(kinds);
        self
    }

    /// The same objects, with the same coverage of every Kind: for fixtures.
    #[must_use]
    pub(crate) fn given(mut self, coverage: Coverage) -> Self {
        self.known = Known::Given(coverage);
        self
    }

    /// The same objects, of which every rule finds all that its pattern matches: for the search of a relation
    /// that finds too little.
    #[must_use]
    pub(crate) fn ignoring_relations(self) -> Self {
        Self {
            relatives: self.relatives.ignoring_relations(),
            ..self
        }
    }

    /// The objects.
    pub fn objects(&self) -> &Arc<[Object]> {
        self.relatives.objects()
    }

    /// Finds the related objects of an object, whose root `json` is, by a rule.
    pub(crate) fn find(&self, rule: &RelatedRule, object: &Object, json: Node<'_>) -> RelatedSet {
        let found = self.relatives.find(rule, object, json);
        let coverage = match self.coverage(rule) {
            Coverage::Complete if !found.is_whole => Coverage::Partial,
            coverage => coverage,
        };
        RelatedSet {
            positions: found.positions,
            total: found.total,
            coverage,
        }
    }

    fn coverage(&self, rule: &RelatedRule) -> Coverage {
        let kinds = match &self.known {
            Known::Nothing => return Coverage::Unknown,
            Known::Given(coverage) => return *coverage,
            Known::Kinds(kinds) => kinds,
        };
        let pattern = &rule.pattern;
        let is_one_kind = !pattern.group.starts_with('*') && pattern.kind != "*";
        if !is_one_kind {
            return Coverage::Partial;
        }
        let covered = kinds.covers(&pattern.group, &pattern.kind);
        match (covered, &rule.relation) {
            // Owners in between may be of Kinds that nobody reports, so that the way to some is not known.
            (KindCoverage::Complete, Relation::Descendant) | (KindCoverage::Partial, _) => {
                Coverage::Partial
            }
            (KindCoverage::Complete, _) => Coverage::Complete,
            (KindCoverage::Unknown, _) => Coverage::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
