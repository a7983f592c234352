//! Objects whose bodies are needed but were not read yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::Presence;

use super::ClusterIndex;
use super::entry::Entry;
use super::objects::Id;
use crate::index::ScopeId;

/// A namespace of one watch; the empty one for cluster-scoped objects.
pub(super) type ScopeNamespace = (ScopeId, Arc<str>);

/// The objects whose bodies are needed and missing.
#[derive(Debug, Default)]
pub(super) struct Missing {
    by_place: BTreeMap<ScopeNamespace, BTreeSet<Id>>,
    /// Namespaces with newly needed objects, or with missing objects at the end of a pass, since the last
    /// [`Missing::take_wanted`].
    wanted: BTreeSet<ScopeNamespace>,
}

impl Missing {
    pub(super) fn add(&mut self, id: Id, entry: &Entry) {
        let place = &*entry.collection;
        let objects = self.by_place.entry(place.clone()).or_default();
        if objects.insert(id) {
            self.wanted.insert(place.clone());
        }
    }

    pub(super) fn remove(&mut self, id: Id, entry: &Entry) {
        let place = &*entry.collection;
        if let Some(objects) = self.by_place.get_mut(place) {
            objects.remove(&id);
            if objects.is_empty() {
                self.by_place.remove(place);
            }
        }
    }

    pub(super) fn has(&self, id: Id, entry: &Entry) -> bool {
        let objects = self.by_place.get(&*entry.collection);
        objects.is_some_and(|objects| objects.contains(&id))
    }

    /// Returns whether objects of a scope are needed whole and are not.
    pub(super) fn are_any_of(&self, scope: ScopeId) -> bool {
        let first = (scope, Arc::from(""));
        let mut places = self.by_place.range(first..);
        places.next().is_some_and(|((found, _), _)| *found == scope)
    }

    /// Requests the missing bodies of a scope again. A session that ended may not have read them.
    pub(super) fn want_again(&mut self, scope: ScopeId) {
        let first = (scope, Arc::from(""));
        let places = self.by_place.range(first..).map(|(place, _)| place);
        let places = places.take_while(|(found, _)| *found == scope);
        self.wanted.extend(places.cloned());
    }

    pub(super) fn take_wanted(&mut self) -> BTreeSet<ScopeNamespace> {
        std::mem::take(&mut self.wanted)
    }
}

impl ClusterIndex {
    /// Returns whether the body of an object is needed and missing.
    pub(super) fn is_missing(&self, id: Id) -> bool {
        let entry = self.objects.get(id);
        entry.is_some_and(|entry| self.missing.has(id, entry))
    }

    /// Returns whether the body of an object is missing and will be read. If the server does not list the Kind now,
    /// no report waits for its objects.
    pub(super) fn is_awaited(&self, id: Id) -> bool {
        let scope = self.objects.get(id).map(Entry::scope);
        let coverage = scope.and_then(|scope| self.coverage_of(scope));
        let is_listed = coverage.is_none_or(|found| match found.state.presence() {
            Presence::Current => true,
            Presence::Kept | Presence::Unreported => false,
        });
        is_listed && self.is_missing(id)
    }
}

/// The objects of one Kind in a scope whose bodies are needed but were not read yet.
///
/// Connections read this before they list parts of a Kind.
pub trait Needed {
    /// Their names in a namespace.
    fn names(&self, namespace: &str) -> Vec<Arc<str>>;
    /// Number of all objects of the namespace.
    fn objects_in(&self, namespace: &str) -> usize;
    /// Number of all objects of the Kind.
    fn objects(&self) -> usize;
    /// Returns whether the versions of all of them are numbers, so that their order is known.
    fn are_ordered(&self) -> bool;
}

/// The objects of a watch whose bodies are needed and missing.
pub(super) struct NeededOf<'i> {
    pub(super) index: &'i ClusterIndex,
    pub(super) scope: ScopeId,
}

impl Needed for NeededOf<'_> {
    fn names(&self, namespace: &str) -> Vec<Arc<str>> {
        let place = (self.scope, namespace.into());
        let objects = self.index.missing.by_place.get(&place);
        let objects = objects.into_iter().flatten();
        let entries = objects.filter_map(|id| self.index.objects.get(*id));
        let mut names: Vec<Arc<str>> = entries.map(|entry| Arc::from(&*entry.name)).collect();
        names.sort();
        names
    }

    fn objects_in(&self, namespace: &str) -> usize {
        self.index.objects.count_in(self.scope, namespace)
    }

    fn objects(&self) -> usize {
        self.index.objects.count_of(self.scope)
    }

    fn are_ordered(&self) -> bool {
        let first = (self.scope, Arc::from(""));
        let places = self.index.missing.by_place.range(first..);
        let places = places.take_while(|((scope, _), _)| *scope == self.scope);
        let mut objects = places.flat_map(|(_, objects)| objects);
        objects.all(|id| {
            let entry = self.index.objects.get(*id);
            entry.is_none_or(|missing| missing.version > 0)
        })
    }
}
