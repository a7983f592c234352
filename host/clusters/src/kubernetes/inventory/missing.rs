//! Objects that are needed whole and of which only the metadata is known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Inventory;
use super::entry::Entry;
use super::objects::Id;
use crate::kubernetes::news::WatchId;
use crate::kubernetes::watches::Needed;

/// A namespace of one watch; the empty one for cluster-scoped objects.
pub(in crate::kubernetes) type Place = (WatchId, Arc<str>);

/// The objects that are needed whole and are not.
#[derive(Debug, Default)]
pub(super) struct Missing {
    by_place: BTreeMap<Place, BTreeSet<Id>>,
    /// Places of objects that came to be needed since they were last asked for.
    wanted: BTreeSet<Place>,
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

    pub(super) fn take_wanted(&mut self) -> BTreeSet<Place> {
        std::mem::take(&mut self.wanted)
    }
}

impl Inventory {
    /// Returns whether an object is needed whole and is not.
    pub(super) fn is_missing(&self, id: Id) -> bool {
        let entry = self.objects.get(id);
        entry.is_some_and(|entry| self.missing.has(id, entry))
    }
}

/// The objects of a watch that are needed whole and are not.
pub(in crate::kubernetes) struct NeededOf<'i> {
    pub(super) inventory: &'i Inventory,
    pub(super) watch: WatchId,
}

impl Needed for NeededOf<'_> {
    fn names(&self, namespace: &str) -> Vec<Arc<str>> {
        let place = (self.watch, namespace.into());
        let objects = self.inventory.missing.by_place.get(&place);
        let objects = objects.into_iter().flatten();
        let entries = objects.filter_map(|id| self.inventory.objects.get(*id));
        let mut names: Vec<Arc<str>> = entries.map(|it| Arc::from(&*it.name)).collect();
        names.sort();
        names
    }

    fn objects_in(&self, namespace: &str) -> usize {
        self.inventory.objects.count_in(self.watch, namespace)
    }

    fn objects(&self) -> usize {
        self.inventory.objects.count_of(self.watch)
    }

    fn are_ordered(&self) -> bool {
        let first = (self.watch, Arc::from(""));
        let places = self.inventory.missing.by_place.range(first..);
        let places = places.take_while(|((watch, _), _)| *watch == self.watch);
        let mut objects = places.flat_map(|(_, objects)| objects);
        objects.all(|id| {
            let entry = self.inventory.objects.get(*id);
            entry.is_none_or(|it| it.version > 0)
        })
    }
}
