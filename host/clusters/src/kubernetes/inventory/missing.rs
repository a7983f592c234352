//! Objects that are needed whole and of which only the metadata is known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Inventory, Key};
use crate::kubernetes::news::WatchId;
use crate::kubernetes::watches::Needed;

/// A namespace of one watch; the empty one for cluster-scoped objects.
pub(in crate::kubernetes) type Place = (WatchId, Arc<str>);

/// The objects that are needed whole and are not.
#[derive(Debug, Default)]
pub(super) struct Missing {
    by_place: BTreeMap<Place, BTreeSet<Arc<str>>>,
    /// Places of objects that came to be needed since they were last asked for.
    wanted: BTreeSet<Place>,
}

impl Missing {
    pub(super) fn add(&mut self, key: &Key) {
        let place = place_of(key);
        let names = self.by_place.entry(place.clone()).or_default();
        if names.insert(Arc::clone(&key.name)) {
            self.wanted.insert(place);
        }
    }

    pub(super) fn remove(&mut self, key: &Key) {
        let place = place_of(key);
        if let Some(names) = self.by_place.get_mut(&place) {
            names.remove(&key.name);
            if names.is_empty() {
                self.by_place.remove(&place);
            }
        }
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        let names = self.by_place.get(&place_of(key));
        names.is_some_and(|names| names.contains(&key.name))
    }

    pub(super) fn take_wanted(&mut self) -> BTreeSet<Place> {
        std::mem::take(&mut self.wanted)
    }
}

fn place_of(key: &Key) -> Place {
    (key.watch, Arc::clone(&key.namespace))
}

/// The objects of a watch that are needed whole and are not.
pub(in crate::kubernetes) struct NeededOf<'i> {
    pub(super) inventory: &'i Inventory,
    pub(super) watch: WatchId,
}

impl Needed for NeededOf<'_> {
    fn names(&self, namespace: &str) -> Vec<Arc<str>> {
        let place = (self.watch, namespace.into());
        let names = self.inventory.missing.by_place.get(&place);
        names.into_iter().flatten().cloned().collect()
    }

    fn objects_in(&self, namespace: &str) -> usize {
        let all = self.inventory.objects_from(self.watch, namespace);
        all.take_while(|(key, _)| *key.namespace == *namespace)
            .count()
    }

    fn objects(&self) -> usize {
        self.inventory.objects_from(self.watch, "").count()
    }

    fn are_ordered(&self) -> bool {
        let first = (self.watch, Arc::from(""));
        let places = self.inventory.missing.by_place.range(first..);
        let mut places = places.take_while(|((watch, _), _)| *watch == self.watch);
        places.all(|((watch, namespace), names)| {
            names.iter().all(|name| {
                let key = Key {
                    watch: *watch,
                    namespace: Arc::clone(namespace),
                    name: Arc::clone(name),
                };
                let entry = self.inventory.entries.get(&key);
                entry.is_none_or(|it| it.version > 0)
            })
        })
    }
}
