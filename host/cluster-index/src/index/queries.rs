//! Searches of groups among all objects of a cluster, updated with each changed object.
//!
//! Each search is registered under a property that all of its results have: a name, an owner or a label. A changed
//! object is therefore compared with few searches only.

mod hints;
mod sorted;

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;
use kindsight_contract::LabelSelector;

use super::GroupId;
use super::entry::Entry;
use super::objects::Id;
use super::slots::Slots;
use crate::index::ScopeId;
use crate::uid::Uid;
use hints::{HintHash, hints_of};
use sorted::Sorted;

/// A search among the objects of one watch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Query {
    /// The object with this name in this namespace.
    Named(ScopeId, Arc<str>, Arc<str>),
    /// The identity of this object, without its content.
    Exists(ScopeId, Arc<str>, Arc<str>),
    /// The object with this uid.
    Uid(ScopeId, Uid),
    /// Objects with an owner of this uid.
    OwnedBy(ScopeId, Uid),
    /// Objects of a namespace that a selector selects.
    Selected(ScopeId, Arc<str>, Arc<LabelSelector>),
}

impl Query {
    fn scope(&self) -> ScopeId {
        match self {
            Self::Named(scope, ..)
            | Self::Exists(scope, ..)
            | Self::Uid(scope, _)
            | Self::OwnedBy(scope, _)
            | Self::Selected(scope, ..) => *scope,
        }
    }

    /// The watch whose objects the search needs with their content; none if their identity is enough.
    pub(super) fn reads(&self) -> Option<ScopeId> {
        match self {
            Self::Exists(..) => None,
            Self::Named(..) | Self::Uid(..) | Self::OwnedBy(..) | Self::Selected(..) => {
                Some(self.scope())
            }
        }
    }

    /// Returns whether the search finds an object.
    pub(super) fn finds(&self, entry: &Entry) -> bool {
        let is_kind = self.scope() == entry.scope();
        is_kind
            && match self {
                Self::Named(_, namespace, name) | Self::Exists(_, namespace, name) => {
                    namespace == entry.namespace() && **name == *entry.name
                }
                Self::Uid(_, uid) => *uid == entry.uid,
                Self::OwnedBy(_, uid) => entry.owners().contains(uid),
                Self::Selected(_, namespace, selector) => {
                    namespace == entry.namespace() && selector.selects(|key| entry.label(key))
                }
            }
    }
}

/// The objects that the searches of a group found. An object can be in both sets.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Objects that an object of the group names, owns or is owned by.
    pub(super) by_reference: BTreeSet<Id>,
    /// Objects that a selector of an object of the group selects by their labels.
    pub(super) by_labels: BTreeSet<Id>,
}

/// Number of a search, valid while a group needs the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct QueryId(u32);

impl QueryId {
    const FIRST: Self = Self(0);
    const LAST: Self = Self(u32::MAX);
}

/// The searches of all groups.
#[derive(Debug, Default)]
pub(super) struct Queries {
    asked: Slots<RegisteredQuery>,
    by_query: HashTable<QueryId>,
    /// The searches that are registered under each hint.
    waiting: BTreeSet<(HintHash, QueryId)>,
    by_group: HashMap<Arc<GroupId>, Sorted<QueryId>>,
    /// For each found object, the number of searches that found it.
    named: HashMap<Id, u32>,
    /// For each watch, the number of found objects whose content is needed, counted once for each search.
    needed_of: HashMap<ScopeId, usize>,
    hasher: RandomState,
}

/// One search, the groups that need it, and the objects that it found.
#[derive(Debug)]
struct RegisteredQuery {
    query: Query,
    groups: Sorted<Arc<GroupId>>,
    found: Sorted<Id>,
    /// Hints under which the search is registered.
    hints: Box<[HintHash]>,
}

impl Queries {
    /// Returns whether a search that found an object needs its content.
    pub(super) fn need_content_of(&self, id: Id, entry: &Entry) -> bool {
        let found = self.finding(id, entry);
        found.into_iter().any(|asked| asked.query.reads().is_some())
    }

    /// Returns whether searches need the content of objects of a watch that they found.
    pub(super) fn need_content_of_any(&self, scope: ScopeId) -> bool {
        self.needed_of.contains_key(&scope)
    }

    /// Number of different searches.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.asked.len()
    }

    pub(super) fn get(&self, id: QueryId) -> Option<&Query> {
        self.asked.get(id.0).map(|it| &it.query)
    }

    /// All objects that the searches of a group found.
    pub(super) fn found(&self, group: &GroupId) -> Found {
        let mut found = Found::default();
        let queries = self.by_group.get(group).into_iter().flat_map(Sorted::iter);
        for asked in queries.filter_map(|id| self.asked.get(id.0)) {
            let ids = asked.found.iter().copied();
            match asked.query {
                Query::Selected(..) => found.by_labels.extend(ids),
                _ => found.by_reference.extend(ids),
            }
        }
        found
    }

    /// The groups whose searches found an object.
    pub(super) fn finders(&self, id: Id, entry: &Entry) -> BTreeSet<Arc<GroupId>> {
        let found = self.finding(id, entry);
        let groups = found.into_iter().flat_map(|asked| asked.groups.iter());
        groups.cloned().collect()
    }

    /// The searches that found an object.
    fn finding(&self, id: Id, entry: &Entry) -> Vec<&RegisteredQuery> {
        if !self.named.contains_key(&id) {
            return Vec::new();
        }
        let near = self.near(entry).into_iter();
        let near = near.filter_map(|query| self.asked.get(query.0));
        near.filter(|asked| asked.found.contains(&id)).collect()
    }

    /// Removes an object from the results before it changes or is removed. Returns the groups whose searches found
    /// it.
    pub(super) fn forget(&mut self, id: Id, entry: &Entry) -> BTreeSet<Arc<GroupId>> {
        let mut groups = BTreeSet::new();
        if !self.named.contains_key(&id) {
            return groups;
        }
        for query in self.near(entry) {
            if let Some(asked) = self.asked.get_mut(query.0)
                && asked.found.remove(&id)
            {
                groups.extend(asked.groups.iter().cloned());
                let reads = asked.query.reads();
                self.lose(reads);
            }
        }
        self.named.remove(&id);
        groups
    }

    /// Adds an object to the results of the searches that find it. Returns the groups of these searches.
    pub(super) fn take(&mut self, id: Id, entry: &Entry) -> BTreeSet<Arc<GroupId>> {
        let mut groups = BTreeSet::new();
        if self.waiting.is_empty() {
            return groups;
        }
        for query in self.near(entry) {
            if let Some(asked) = self.asked.get_mut(query.0)
                && asked.query.finds(entry)
                && asked.found.insert(id)
            {
                groups.extend(asked.groups.iter().cloned());
                let reads = asked.query.reads();
                self.find(reads, id);
            }
        }
        groups
    }

    /// Replaces the searches of a group. Returns the new searches, which the caller must answer, and the objects
    /// that no search finds any more.
    pub(super) fn ask(
        &mut self,
        group: &Arc<GroupId>,
        queries: BTreeSet<Query>,
    ) -> (Vec<QueryId>, BTreeSet<Id>) {
        let before = self.by_group.remove(group).unwrap_or_default();
        let mut new = Vec::new();
        let mut after = Vec::with_capacity(queries.len());
        for query in queries {
            let id = self.id_of(query, &mut new);
            if let Some(asked) = self.asked.get_mut(id.0) {
                asked.groups.insert(Arc::clone(group));
            }
            after.push(id);
        }
        let after = Sorted::from(after);
        let mut dropped = BTreeSet::new();
        for id in before.iter().filter(|id| !after.contains(id)) {
            self.drop_group(group, *id, &mut dropped);
        }
        for id in &new {
            self.wait(*id);
        }
        if !after.is_empty() {
            self.by_group.insert(Arc::clone(group), after);
        }
        (new, dropped)
    }

    /// The number of a search. If the search is new, its number is added to `new`.
    fn id_of(&mut self, query: Query, new: &mut Vec<QueryId>) -> QueryId {
        let hash = self.hasher.hash_one(&query);
        let is_same = |id: &QueryId| {
            self.asked
                .get(id.0)
                .is_some_and(|asked| asked.query == query)
        };
        if let Some(id) = self.by_query.find(hash, is_same) {
            return *id;
        }
        let id = QueryId(self.asked.add(RegisteredQuery {
            query,
            groups: Sorted::default(),
            found: Sorted::default(),
            hints: Box::default(),
        }));
        new.push(id);
        let (asked, hasher) = (&self.asked, &self.hasher);
        self.by_query.insert_unique(hash, id, |id| {
            asked
                .get(id.0)
                .map_or(0, |registered| hasher.hash_one(&registered.query))
        });
        id
    }

    /// Registers a search under the set of hints that the fewest other searches use. Some labels are on every
    /// object of an application, so searches by them would be compared with each of these objects.
    fn wait(&mut self, id: QueryId) {
        let Some(asked) = self.asked.get_mut(id.0) else {
            return;
        };
        let sets = asked.query.hints(&self.hasher).into_iter();
        let waiting = |hint: &HintHash| hints::count(&self.waiting, *hint);
        let fewest = sets.min_by_key(|set| set.iter().map(waiting).sum::<usize>());
        asked.hints = fewest.unwrap_or_default().into();
        let pairs = asked.hints.iter().map(|hint| (*hint, id));
        self.waiting.extend(pairs);
    }

    /// The searches that may find an object.
    pub(super) fn near(&self, entry: &Entry) -> Vec<QueryId> {
        let hints = hints_of(entry, &self.hasher).into_iter();
        let waiting = hints.flat_map(|hint| hints::waiting(&self.waiting, hint));
        waiting.collect()
    }

    /// Notes the objects that a new search found.
    pub(super) fn answer(&mut self, query: QueryId, found: Vec<Id>) {
        let Some(asked) = self.asked.get_mut(query.0) else {
            return;
        };
        let reads = asked.query.reads();
        let found = Sorted::from(found);
        let before = std::mem::replace(&mut asked.found, found.clone());
        for id in found.iter().filter(|id| !before.contains(id)) {
            self.find(reads, *id);
        }
    }

    fn drop_group(&mut self, group: &Arc<GroupId>, id: QueryId, dropped: &mut BTreeSet<Id>) {
        let Some(asked) = self.asked.get_mut(id.0) else {
            return;
        };
        asked.groups.remove(group);
        if !asked.groups.is_empty() {
            return;
        }
        let hash = self.hasher.hash_one(&asked.query);
        if let Ok(known) = self.by_query.find_entry(hash, |known| *known == id) {
            known.remove();
        }
        let Some(asked) = self.asked.remove(id.0) else {
            return;
        };
        for hint in asked.hints {
            self.waiting.remove(&(hint, id));
        }
        for found in asked.found.iter() {
            self.lose(asked.query.reads());
            dropped.insert(*found);
            if let Some(count) = self.named.get_mut(found) {
                *count -= 1;
                if *count == 0 {
                    self.named.remove(found);
                }
            }
        }
    }

    /// Counts an object that a search found. `reads` is the watch if the search needs the content.
    fn find(&mut self, reads: Option<ScopeId>, id: Id) {
        *self.named.entry(id).or_default() += 1;
        if let Some(scope) = reads {
            *self.needed_of.entry(scope).or_default() += 1;
        }
    }

    /// Counts an object that a search no longer finds. `reads` is the watch if the search needed the content.
    fn lose(&mut self, reads: Option<ScopeId>) {
        if let Some(scope) = reads
            && let Some(count) = self.needed_of.get_mut(&scope)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.needed_of.remove(&scope);
            }
        }
    }
}
