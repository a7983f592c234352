//! Coverage: the state of each Kind in each scope, as one source knows it.

mod entry;
mod extents;
mod kind_state;
mod rows;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use entry::CoverageEntry;
use extents::Extents;
pub use kind_state::{Absence, KindCoverage, KindState, Presence};
pub use rows::CoverageRow;

/// Scope of a question about coverage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'s> {
    /// Every namespace, and objects without one.
    Cluster,
    /// One namespace.
    Namespace(&'s str),
}

impl<'s> Scope<'s> {
    /// The scope of an object in this namespace; a cluster-scoped object has an empty one.
    pub fn of(namespace: &'s str) -> Self {
        if namespace.is_empty() {
            Self::Cluster
        } else {
            Self::Namespace(namespace)
        }
    }
}

/// The state of each Kind, by group and scope. Cheap to clone.
///
/// A coverage names no version: a watch of `v1` also covers a manifest of `v1beta1`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Coverage(Arc<Table>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Table {
    /// By Kind and group.
    kinds: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Extents>>,
    /// Number of Kinds and groups among them that are not covered in every scope.
    uncovered: usize,
    /// The state of the Kinds of a group that names none of its Kinds.
    groups: BTreeMap<Arc<str>, KindCoverage>,
    /// The state of every other Kind.
    others: KindCoverage,
    /// The reason why objects of any Kind may be missing.
    left_out: Option<Arc<str>>,
}

impl Default for Coverage {
    /// Complete for every Kind.
    fn default() -> Self {
        Self::of_others(KindState::Complete)
    }
}

impl Coverage {
    /// The same state for every Kind.
    pub fn of_others(state: KindState) -> Self {
        Self(Arc::new(Table {
            kinds: BTreeMap::new(),
            uncovered: 0,
            groups: BTreeMap::new(),
            others: KindCoverage::new(state),
            left_out: None,
        }))
    }

    /// No Kind is requested.
    pub fn nothing() -> Self {
        Self::of_others(KindState::NotRequested)
    }

    /// Incomplete for every Kind: the objects are read from files or from a request.
    pub fn partial() -> Self {
        Self::of_others(KindState::Incomplete)
    }

    /// These Kinds, given as group and Kind, are complete; every other Kind is incomplete.
    pub fn complete_for<'k>(kinds: impl IntoIterator<Item = (&'k str, &'k str)>) -> Self {
        let mut coverage = Self::partial();
        for (group, kind) in kinds {
            let complete = KindCoverage::new(KindState::Complete);
            coverage.set(group, kind, Scope::Cluster, complete);
        }
        coverage
    }

    /// This state, with its cause, for every Kind.
    pub(crate) fn of_others_caused(others: KindCoverage) -> Self {
        let mut coverage = Self::of_others(others.state);
        Arc::make_mut(&mut coverage.0).others = others;
        coverage
    }

    /// The state of every Kind without a state of its own, in a group without one.
    pub fn others(&self) -> &KindCoverage {
        &self.0.others
    }

    /// Makes a Kind at most incomplete in every scope, for this reason. A less known state remains.
    pub fn limit(&mut self, group: &str, kind: &str, reason: &Arc<str>) {
        let incomplete = KindCoverage::caused(KindState::Incomplete, Arc::clone(reason));
        let known = self.0.kinds.get(kind).and_then(|groups| groups.get(group));
        let scopes = known.into_iter().flat_map(Extents::iter);
        let mut scopes: Vec<(Option<Arc<str>>, KindCoverage)> = scopes
            .map(|(namespace, coverage)| (namespace.map(Arc::from), coverage.clone()))
            .collect();
        if scopes.is_empty() {
            scopes.push((None, self.of(Some(group), kind, Scope::Cluster)));
        }
        for (namespace, coverage) in scopes {
            if coverage.state < KindState::Incomplete {
                let scope = namespace
                    .as_deref()
                    .map_or(Scope::Cluster, Scope::Namespace);
                self.set(group, kind, scope, incomplete.clone());
            }
        }
    }

    /// Sets the state of a Kind in one scope.
    pub fn set(&mut self, group: &str, kind: &str, scope: Scope<'_>, coverage: KindCoverage) {
        let table = Arc::make_mut(&mut self.0);
        let groups = table.kinds.entry(kind.into()).or_default();
        let extents = groups.entry(group.into()).or_default();
        table.uncovered -= usize::from(!extents.is_covered());
        extents.set(scope, coverage);
        table.uncovered += usize::from(!extents.is_covered());
    }

    /// Sets the state of the Kinds of a group that names none of its Kinds.
    pub fn set_group(&mut self, group: &str, coverage: KindCoverage) {
        let groups = &mut Arc::make_mut(&mut self.0).groups;
        groups.insert(group.into(), coverage);
    }

    /// Makes every Kind at most incomplete, because objects are left out for this reason.
    pub fn leave_out(&mut self, reason: impl Into<Arc<str>>) {
        Arc::make_mut(&mut self.0).left_out = Some(reason.into());
    }

    /// The state of a Kind in a scope: the only coverage query. `None` as group means that the group is
    /// unknown; the result is then the least known state of all groups with such a Kind.
    pub fn of(&self, group: Option<&str>, kind: &str, scope: Scope<'_>) -> KindCoverage {
        let is_in = |name: &str| group.is_none_or(|group| is_served_by(group, name));
        let groups = self.0.kinds.get(kind).into_iter().flatten();
        let extents = groups.filter(|(name, _)| is_in(name));
        let states = extents.filter_map(|(_, extents)| extents.of(scope));
        let found = states.max_by_key(|found| found.state);
        let group = || {
            let mut groups = self.0.groups.iter();
            let silent = groups.find(|(name, _)| group.is_some() && is_in(name));
            silent.map(|(_, coverage)| coverage.clone())
        };
        let found = found.or_else(group);
        self.limited(found.unwrap_or_else(|| self.0.others.clone()))
    }

    /// The state that was set for a Kind in the cluster scope. Left-out objects do not change it.
    pub(crate) fn own(&self, group: &str, kind: &str) -> Option<KindCoverage> {
        let extents = self.0.kinds.get(kind)?.get(group)?;
        extents.of(Scope::Cluster)
    }

    /// Returns whether every Kind with a state of its own is covered, and no object is left out. Called for each
    /// report, so the cost does not grow with the number of Kinds.
    pub fn is_complete(&self) -> bool {
        self.0.groups.is_empty() && self.0.left_out.is_none() && self.0.uncovered == 0
    }

    /// Returns whether a Kind without a state of its own counts as reported.
    pub fn is_every_kind(&self) -> bool {
        self.0.others.state.is_covered()
    }

    /// For each Kind, the less known of the two states.
    ///
    /// A source that sends new coverage together with reports sends this merged coverage before the reports,
    /// and the new coverage after them. Otherwise a reader could combine a report that lacks objects of a
    /// Kind with a coverage that calls this Kind complete.
    #[must_use]
    pub fn worst_of(&self, next: &Self) -> Self {
        let mut worst = next.clone();
        for row in self.rows().chain(next.rows()) {
            let Some(group) = row.group else {
                worst.leave_out(row.coverage.cause());
                continue;
            };
            let Some(kind) = row.kind else {
                worst.set_group(group, row.coverage);
                continue;
            };
            let scope = row.namespace.map_or(Scope::Cluster, Scope::Namespace);
            let states = [self, next].map(|coverage| coverage.of(Some(group), kind, scope));
            let state = states.into_iter().max_by_key(|found| found.state);
            worst.set(group, kind, scope, state.unwrap_or(row.coverage));
        }
        worst
    }

    /// Adds the start of each state: an unchanged state keeps the start that it has in `before`, any other
    /// state starts now.
    #[must_use]
    pub fn dated(mut self, before: Option<&Self>, now_ms: i64) -> Self {
        let known = before.map(|before| &*before.0);
        let table = Arc::make_mut(&mut self.0);
        for (kind, groups) in &mut table.kinds {
            let known = known.and_then(|known| known.kinds.get(kind));
            for (group, extents) in groups {
                extents.date(known.and_then(|known| known.get(group)), now_ms);
            }
        }
        for (group, coverage) in &mut table.groups {
            coverage.date(known.and_then(|known| known.groups.get(group)), now_ms);
        }
        self
    }

    fn limited(&self, found: KindCoverage) -> KindCoverage {
        match &self.0.left_out {
            Some(reason) if found.state.is_covered() => KindCoverage {
                since_ms: found.since_ms,
                ..KindCoverage::caused(KindState::Incomplete, Arc::clone(reason))
            },
            _ => found,
        }
    }
}

impl KindCoverage {
    /// Sets the start of the state.
    fn date(&mut self, before: Option<&Self>, now_ms: i64) {
        let known = before.filter(|before| before.state == self.state);
        let known = known.and_then(|before| before.since_ms);
        self.since_ms = self.since_ms.or(known).or(Some(now_ms));
    }
}

/// Returns whether a list of group `listed` may have objects of `group`. Kubernetes moved some Kinds out of
/// `extensions`.
pub fn is_served_by(group: &str, listed: &str) -> bool {
    group == listed || (group == "extensions" && matches!(listed, "apps" | "networking.k8s.io"))
}

#[cfg(test)]
mod tests;
