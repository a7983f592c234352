//! The objects of one cluster, found by Kind and name, and by uid.
//!
//! Millions of objects may belong to no application. Each object takes a slot, its name, and its number in a table
//! of names and in a table of uids.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Bucket;

use super::entry::Entry;
use super::missing::ScopeNamespace;
use super::slots::Slots;
use crate::index::ScopeId;
use crate::uid::Uid;

/// Number of an object, valid while the index has the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u32);

impl Id {
    /// The smallest number.
    pub(super) const FIRST: Self = Self(0);
}

/// The objects of one cluster.
#[derive(Debug, Default)]
pub(super) struct Objects {
    slots: Slots<Entry>,
    /// By watch and namespace.
    collections: BTreeMap<ScopeId, BTreeMap<Arc<str>, Collection>>,
    by_uid: HashTable<Id>,
    hasher: RandomState,
}

/// The objects of one namespace of a watch. The empty namespace has the cluster-scoped objects.
#[derive(Debug)]
struct Collection {
    place: Arc<ScopeNamespace>,
    by_name: HashTable<Id>,
}

impl Collection {
    fn new(scope: ScopeId, namespace: &Arc<str>) -> Self {
        Self {
            place: Arc::new((scope, Arc::clone(namespace))),
            by_name: HashTable::new(),
        }
    }
}

impl Objects {
    /// Number of objects.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn get(&self, id: Id) -> Option<&Entry> {
        self.slots.get(id.0)
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut Entry> {
        self.slots.get_mut(id.0)
    }

    /// All objects.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &Entry)> {
        let all = self.slots.iter();
        all.map(|(number, entry)| (Id(number), entry))
    }

    /// The object of a name, in a namespace of a watch.
    pub(super) fn find(&self, scope: ScopeId, namespace: &str, name: &str) -> Option<Id> {
        let collection = self.collection(scope, namespace)?;
        let is_named = |id: &Id| self.get(*id).is_some_and(|entry| *entry.name == *name);
        let id = collection
            .by_name
            .find(self.hasher.hash_one(name), is_named);
        id.copied()
    }

    /// The object with this uid.
    pub(super) fn with_uid(&self, uid: Uid) -> Option<Id> {
        let has_uid = |id: &Id| self.get(*id).is_some_and(|entry| entry.uid == uid);
        let id = self.by_uid.find(self.hasher.hash_one(uid), has_uid);
        id.copied()
    }

    /// The objects of a watch.
    pub(super) fn of_scope(&self, scope: ScopeId) -> impl Iterator<Item = (Id, &Entry)> {
        self.entries(
            self.collections
                .get(&scope)
                .into_iter()
                .flat_map(BTreeMap::values),
        )
    }

    /// The objects of a namespace of a watch.
    pub(super) fn of_namespace(
        &self,
        scope: ScopeId,
        namespace: &str,
    ) -> impl Iterator<Item = (Id, &Entry)> {
        self.entries(self.collection(scope, namespace).into_iter())
    }

    /// The objects of some namespaces of a watch.
    pub(super) fn of_namespaces(
        &self,
        scope: ScopeId,
        is_wanted: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = (Id, &Entry)> {
        let collections = self.collections.get(&scope).into_iter().flatten();
        let wanted = collections.filter(move |(namespace, _)| is_wanted(namespace));
        self.entries(wanted.map(|(_, collection)| collection))
    }

    /// Number of the objects of a watch.
    pub(super) fn count_of(&self, scope: ScopeId) -> usize {
        let collections = self.collections.get(&scope).into_iter();
        let collections = collections.flat_map(BTreeMap::values);
        collections.map(|collection| collection.by_name.len()).sum()
    }

    /// Number of the objects of a namespace of a watch.
    pub(super) fn count_in(&self, scope: ScopeId, namespace: &str) -> usize {
        let collection = self.collection(scope, namespace);
        collection.map_or(0, |collection| collection.by_name.len())
    }

    fn collection(&self, scope: ScopeId, namespace: &str) -> Option<&Collection> {
        self.collections.get(&scope)?.get(namespace)
    }

    fn entries<'o>(
        &'o self,
        collections: impl Iterator<Item = &'o Collection>,
    ) -> impl Iterator<Item = (Id, &'o Entry)> {
        let ids = collections.flat_map(|it| &it.by_name);
        ids.filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// Adds an object that the index does not have. Only its name is set.
    pub(super) fn add(&mut self, scope: ScopeId, namespace: &Arc<str>, name: &str) -> Id {
        let collections = self.collections.entry(scope).or_default();
        let collection = collections
            .entry(Arc::clone(namespace))
            .or_insert_with(|| Collection::new(scope, namespace));
        let id = Id(self
            .slots
            .add(Entry::new(Arc::clone(&collection.place), name)));
        let (slots, hasher) = (&self.slots, &self.hasher);
        let hash = |id: &Id| {
            slots
                .get(id.0)
                .map_or(0, |entry| hasher.hash_one(&*entry.name))
        };
        collection.by_name.insert_unique(hash(&id), id, hash);
        id
    }

    /// Removes an object. The caller has removed its uid with [`Self::forget_uid`].
    pub(super) fn remove(&mut self, id: Id) -> Option<Entry> {
        let (slots, hasher) = (&self.slots, &self.hasher);
        let entry = slots.get(id.0)?;
        let (scope, namespace) = &*entry.collection;
        if let Some(collections) = self.collections.get_mut(scope) {
            if let Some(collection) = collections.get_mut(namespace) {
                let hash = hasher.hash_one(&*entry.name);
                if let Ok(named) = collection.by_name.find_entry(hash, |known| *known == id) {
                    named.remove();
                }
                if collection.by_name.is_empty() {
                    collections.remove(namespace);
                }
            }
            if collections.is_empty() {
                self.collections.remove(scope);
            }
        }
        self.slots.remove(id.0)
    }

    /// Notes the uid of an object. A search by this uid no longer finds an earlier object.
    pub(super) fn note_uid(&mut self, id: Id) {
        let (slots, hasher) = (&self.slots, &self.hasher);
        let uid_of = |id: &Id| slots.get(id.0).map_or(Uid::NONE, |it| it.uid);
        let uid = uid_of(&id);
        if uid.is_none() {
            return;
        }
        let hash = |id: &Id| hasher.hash_one(uid_of(id));
        match self
            .by_uid
            .entry(hash(&id), |known| uid_of(known) == uid, hash)
        {
            Bucket::Occupied(mut known) => *known.get_mut() = id,
            Bucket::Vacant(new) => {
                new.insert(id);
            }
        }
    }

    /// Forgets the uid of an object before it changes.
    pub(super) fn forget_uid(&mut self, id: Id) {
        let uid = self.get(id).map_or(Uid::NONE, |it| it.uid);
        let hash = self.hasher.hash_one(uid);
        if let Ok(known) = self.by_uid.find_entry(hash, |known| *known == id) {
            known.remove();
        }
    }
}
