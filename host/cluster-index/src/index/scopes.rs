//! The Kinds of a cluster, each in a scope, as sources send them.
//!
//! A watched Kind keeps its number over sessions, and also if the server prefers another version of it. Its objects are
//! kept until a pass over the new version ends without them.

use std::sync::Arc;

use kindsight_model::{KindCoverage, KindState, Presence, Removal};

use super::ClusterIndex;
use super::relations::{Watched, rules_of};
use crate::index::ScopeId;
use crate::kind::ApiKind;
use crate::labels::Labels;

impl ClusterIndex {
    /// The number of a Kind in a scope: in a namespace, or in the entire cluster if there is none. `labels` are the
    /// labels of its objects that relations need.
    pub fn watch(
        &mut self,
        kind: &Arc<ApiKind>,
        namespace: Option<&Arc<str>>,
        labels: &Labels,
    ) -> ScopeId {
        let mut watched = self.scopes.iter_mut();
        let known = watched.find(|(_, watched)| {
            watched.kind.is_same_kind(kind) && watched.namespace.as_ref() == namespace
        });
        if let Some((id, watched)) = known {
            let id = *id;
            // The next list brings the labels that the objects lack.
            watched.is_complete &= watched.labels.covers(labels);
            watched.labels = labels.clone();
            if watched.kind != *kind {
                watched.kind = Arc::clone(kind);
                self.inventories
                    .watch(id, kind, self.health_scopes.are_followed());
                self.forget_versions(id);
                self.resolve();
            }
            return id;
        }
        let id = self.next_scope;
        self.next_scope += 1;
        let watched = Watched {
            rules: rules_of(&self.rules, kind, &self.scopes),
            are_descendants_sought: self.rules.look_for_descendants(kind.names()),
            kind: Arc::clone(kind),
            others: Arc::default(),
            namespace: namespace.cloned(),
            labels: labels.clone(),
            is_complete: false,
            pass: 0,
            coverage: None,
        };
        self.scopes.insert(id, watched);
        self.inventories
            .watch(id, kind, self.health_scopes.are_followed());
        self.relate_scopes(kind);
        if self.rules.with(kind.names()).next().is_some() {
            self.resolve();
        }
        id
    }

    /// Forgets which version of each object was read: the server sends the same version in another form if the Kind
    /// has another API version.
    pub(super) fn forget_versions(&mut self, scope: ScopeId) {
        let all: Vec<_> = self.objects.of_scope(scope).map(|(id, _)| id).collect();
        for id in all {
            if let Some(entry) = self.objects.get_mut(id) {
                entry.version = 0;
            }
        }
    }

    /// Removes the objects of a Kind that the server removed.
    pub fn remove_kind(&mut self, scope: ScopeId) {
        let all = self.objects.of_scope(scope);
        let all: Vec<_> = all.map(|(id, _)| id).collect();
        for id in all {
            self.remove_object(id, Removal::KindRemoved);
        }
    }

    /// Removes the Kinds and scopes that are not watched any more. An object that is also in a watched scope has moved
    /// there.
    ///
    /// `is_awaited` says whether a watched scope of a Kind and a namespace has never been listed. The objects of the
    /// old scope remain until it is listed. They are not all objects of the old scope, because no watch follows it.
    pub fn retain(
        &mut self,
        is_watched: impl Fn(ScopeId) -> bool,
        is_awaited: impl Fn(&ApiKind, &str) -> bool,
    ) {
        let old = self.scopes.iter().filter(|(id, _)| !is_watched(**id));
        let old = old.map(|(id, watched)| (*id, Arc::clone(&watched.kind)));
        let old: Vec<(ScopeId, Arc<ApiKind>)> = old.collect();
        let mut is_any_removed = false;
        for (id, kind) in old {
            let left = |namespace: &str| !is_awaited(&kind, namespace);
            let left = self.objects.of_namespaces(id, left);
            let left: Vec<_> = left.map(|(id, _)| id).collect();
            for object in left {
                self.remove_object(object, Removal::OutOfScope);
            }
            if self.objects.count_of(id) > 0 {
                self.set_coverage(id, KindCoverage::new(KindState::Unavailable), false);
                continue;
            }
            self.inventories.unwatch(id);
            self.scopes.remove(&id);
            self.relate_scopes(&kind);
            is_any_removed = true;
        }
        if is_any_removed {
            self.resolve();
        }
    }

    /// The Kinds with objects in the index.
    pub fn held_kinds(&self) -> impl Iterator<Item = &Arc<ApiKind>> {
        let held = self.scopes.iter();
        let held = held.filter(|(id, _)| self.objects.count_of(**id) > 0);
        held.map(|(_, watched)| &watched.kind)
    }

    /// The Kind in a scope; none if the scope is unknown.
    pub fn kind_of(&self, scope: ScopeId) -> Option<&Arc<ApiKind>> {
        self.scopes.get(&scope).map(|watched| &watched.kind)
    }

    /// The last coverage of a Kind in a scope; none before the first.
    pub fn coverage_of(&self, scope: ScopeId) -> Option<&KindCoverage> {
        self.scopes.get(&scope)?.coverage.as_ref()
    }

    /// Sets the coverage of a Kind in a scope. `is_complete` says whether every object of the scope is known with
    /// the labels that relations need.
    pub fn set_coverage(&mut self, scope: ScopeId, coverage: KindCoverage, is_complete: bool) {
        let Some(watched) = self.scopes.get_mut(&scope) else {
            return;
        };
        let is_current = |coverage: &KindCoverage| coverage.state.presence() == Presence::Current;
        let is_listed = is_current(&coverage);
        let was_listed = watched.coverage.replace(coverage);
        let was_listed = was_listed.as_ref().is_none_or(is_current);
        let before = std::mem::replace(&mut watched.is_complete, is_complete);
        let names = watched.kind.names();
        let is_related = before != is_complete && self.rules.with(names).next().is_some();
        // Groups were reported without the objects that could not be read. They are read now.
        let is_readable = is_listed && !was_listed && self.missing.are_any_of(scope);
        if is_related || is_readable {
            self.groups.note_all_changed();
        }
    }

    /// Begins a pass over a Kind in its scope.
    pub(super) fn begin_pass(&mut self, scope: ScopeId) {
        if let Some(watched) = self.scopes.get_mut(&scope) {
            watched.pass += 1;
        }
    }

    /// The number of the running pass over a Kind, or of the last pass.
    pub fn pass(&self, scope: ScopeId) -> u64 {
        self.scopes.get(&scope).map_or(0, |watched| watched.pass)
    }

    /// Finds the other scopes of the Kind of a scope, for each of them.
    fn relate_scopes(&mut self, kind: &ApiKind) {
        let of_kind = self.scopes.iter_mut();
        let of_kind = of_kind.filter(|(_, watched)| watched.kind.is_same_kind(kind));
        let mut of_kind: Vec<_> = of_kind.collect();
        let scopes: Vec<ScopeId> = of_kind.iter().map(|(scope, _)| **scope).collect();
        for (scope, watched) in &mut of_kind {
            let others = scopes.iter().filter(|other| *other != *scope);
            watched.others = others.copied().collect();
        }
    }
}
