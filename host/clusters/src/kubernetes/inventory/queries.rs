//! Searches of groups among all objects of a cluster, kept up to date as objects come, change and go.
//!
//! Each search waits under what every object has that it finds: a name, an owner, a label. So a change costs
//! the searches that may concern it, and not all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::entry::Entry;
use super::{GroupId, Key};
use crate::kubernetes::news::WatchId;
use crate::kubernetes::selector::LabelSelector;
use crate::kubernetes::uid::Uid;

/// A search among the objects of one watch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Query {
    /// The object of a name.
    Named(Key),
    /// The object with this uid.
    Uid(WatchId, Uid),
    /// Objects that name this uid as their owner's.
    OwnedBy(WatchId, Uid),
    /// Objects of a namespace that a selector selects.
    Selected(WatchId, Arc<str>, Arc<LabelSelector>),
}

/// A part of each object that a query may find.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Hint {
    Named(Key),
    Uid(WatchId, Uid),
    OwnedBy(WatchId, Uid),
    Label(WatchId, Arc<str>, Arc<str>, Arc<str>),
    Namespace(WatchId, Arc<str>),
}

impl Query {
    /// Sets of hints; each object that it finds has one of each set.
    fn hints(&self) -> Vec<Vec<Hint>> {
        match self {
            Self::Named(key) => vec![vec![Hint::Named(key.clone())]],
            Self::Uid(watch, uid) => vec![vec![Hint::Uid(*watch, *uid)]],
            Self::OwnedBy(watch, uid) => vec![vec![Hint::OwnedBy(*watch, *uid)]],
            Self::Selected(watch, namespace, selector) => {
                let label = |(key, value)| Hint::Label(*watch, Arc::clone(namespace), key, value);
                let sets = selector.one_of_each().into_iter();
                let mut sets: Vec<Vec<Hint>> =
                    sets.map(|it| it.into_iter().map(label).collect()).collect();
                if sets.is_empty() {
                    sets.push(vec![Hint::Namespace(*watch, Arc::clone(namespace))]);
                }
                sets
            }
        }
    }

    /// Returns whether it finds an object.
    pub(super) fn finds(&self, key: &Key, entry: &Entry) -> bool {
        match self {
            Self::Named(named) => named == key,
            Self::Uid(watch, uid) => *watch == key.watch && *uid == entry.uid,
            Self::OwnedBy(watch, uid) => *watch == key.watch && entry.owners.contains(uid),
            Self::Selected(watch, namespace, selector) => {
                *watch == key.watch
                    && *namespace == key.namespace
                    && selector.selects(&entry.labels)
            }
        }
    }
}

fn hints_of(key: &Key, entry: &Entry) -> Vec<Hint> {
    let (watch, namespace) = (key.watch, &key.namespace);
    let mut hints = vec![
        Hint::Named(key.clone()),
        Hint::Uid(watch, entry.uid),
        Hint::Namespace(watch, Arc::clone(namespace)),
    ];
    let owners = entry.owners.iter();
    hints.extend(owners.map(|uid| Hint::OwnedBy(watch, *uid)));
    let labels = entry.labels.iter();
    hints.extend(labels.map(|(key, value)| {
        Hint::Label(
            watch,
            Arc::clone(namespace),
            Arc::clone(key),
            Arc::clone(value),
        )
    }));
    hints
}

/// The searches of all groups.
#[derive(Debug, Default)]
pub(super) struct Queries {
    asked: HashMap<Arc<Query>, Answer>,
    by_hint: HashMap<Hint, HashSet<Arc<Query>>>,
    by_group: HashMap<GroupId, BTreeSet<Arc<Query>>>,
    /// Number of searches that found an object.
    named: BTreeMap<Key, usize>,
}

/// The groups that wait for a search, and what it found.
#[derive(Debug, Default)]
struct Answer {
    groups: BTreeSet<GroupId>,
    found: BTreeSet<Key>,
    /// Hints under which the search waits.
    hints: Vec<Hint>,
}

impl Queries {
    /// Returns whether a search found an object.
    pub(super) fn is_named(&self, key: &Key) -> bool {
        self.named.contains_key(key)
    }

    /// Returns whether searches found objects of a watch.
    pub(super) fn are_any_named(&self, watch: WatchId) -> bool {
        let mut named = self.named.range(Key::before_all_of(watch, "")..);
        named.next().is_some_and(|(key, _)| key.watch == watch)
    }

    /// All that the searches of a group found.
    pub(super) fn found(&self, group: &GroupId) -> BTreeSet<Key> {
        let queries = self.by_group.get(group).into_iter().flatten();
        let answers = queries.filter_map(|it| self.asked.get(it));
        answers.flat_map(|it| it.found.iter().cloned()).collect()
    }

    /// Notes that an object is not there any more as it was. Returns the groups whose searches found it.
    pub(super) fn forget(&mut self, key: &Key, entry: &Entry) -> BTreeSet<GroupId> {
        let mut groups = BTreeSet::new();
        if !self.named.contains_key(key) {
            return groups;
        }
        for hint in hints_of(key, entry) {
            for query in self.by_hint.get(&hint).into_iter().flatten() {
                if let Some(answer) = self.asked.get_mut(query)
                    && answer.found.remove(key)
                {
                    groups.extend(answer.groups.iter().cloned());
                }
            }
        }
        self.named.remove(key);
        groups
    }

    /// Notes that an object is there as it is now. Returns the groups whose searches find it.
    pub(super) fn take(&mut self, key: &Key, entry: &Entry) -> BTreeSet<GroupId> {
        let mut groups = BTreeSet::new();
        if self.asked.is_empty() {
            return groups;
        }
        for hint in hints_of(key, entry) {
            for query in self.by_hint.get(&hint).into_iter().flatten() {
                if query.finds(key, entry)
                    && let Some(answer) = self.asked.get_mut(query)
                    && answer.found.insert(key.clone())
                {
                    *self.named.entry(key.clone()).or_default() += 1;
                    groups.extend(answer.groups.iter().cloned());
                }
            }
        }
        groups
    }

    /// Replaces the searches of a group. Returns those that nobody asked before, to be answered, and the
    /// objects that nobody asks for any more.
    pub(super) fn ask(
        &mut self,
        group: &GroupId,
        queries: BTreeSet<Arc<Query>>,
    ) -> (Vec<Arc<Query>>, BTreeSet<Key>) {
        let before = self.by_group.remove(group).unwrap_or_default();
        let mut dropped = BTreeSet::new();
        for query in before.difference(&queries) {
            self.drop_group(group, query, &mut dropped);
        }
        let mut new = Vec::new();
        for query in queries.difference(&before) {
            let answer = self.asked.entry(Arc::clone(query)).or_insert_with(|| {
                new.push(Arc::clone(query));
                Answer::default()
            });
            answer.groups.insert(group.clone());
        }
        for query in &new {
            self.wait(query);
        }
        if !queries.is_empty() {
            self.by_group.insert(group.clone(), queries);
        }
        (new, dropped)
    }

    /// Lets a search wait under those of its hints that fewest others wait under: objects have labels that all
    /// of an application have.
    fn wait(&mut self, query: &Arc<Query>) {
        let waiting = |hint: &Hint| self.by_hint.get(hint).map_or(0, HashSet::len);
        let sets = query.hints().into_iter();
        let fewest = sets.min_by_key(|set| set.iter().map(waiting).sum::<usize>());
        let hints = fewest.unwrap_or_default();
        for hint in &hints {
            let waiting = self.by_hint.entry(hint.clone()).or_default();
            waiting.insert(Arc::clone(query));
        }
        if let Some(answer) = self.asked.get_mut(query) {
            answer.hints = hints;
        }
    }

    /// The searches that may find an object.
    pub(super) fn near<'q>(
        &'q self,
        key: &Key,
        entry: &Entry,
    ) -> impl Iterator<Item = &'q Arc<Query>> {
        let hints = hints_of(key, entry).into_iter();
        let waiting = hints.filter_map(|hint| self.by_hint.get(&hint));
        waiting.flatten()
    }

    /// Notes what a new search found.
    pub(super) fn answer(&mut self, query: &Arc<Query>, found: Vec<Key>) {
        let Some(answer) = self.asked.get_mut(query) else {
            return;
        };
        for key in found {
            if answer.found.insert(key.clone()) {
                *self.named.entry(key).or_default() += 1;
            }
        }
    }

    fn drop_group(&mut self, group: &GroupId, query: &Arc<Query>, dropped: &mut BTreeSet<Key>) {
        let Some(answer) = self.asked.get_mut(query) else {
            return;
        };
        answer.groups.remove(group);
        if !answer.groups.is_empty() {
            return;
        }
        let Answer { found, hints, .. } = self.asked.remove(query).unwrap_or_default();
        for hint in hints {
            if let Some(waiting) = self.by_hint.get_mut(&hint) {
                waiting.remove(query);
                if waiting.is_empty() {
                    self.by_hint.remove(&hint);
                }
            }
        }
        for key in found {
            if let Some(count) = self.named.get_mut(&key) {
                *count -= 1;
                if *count == 0 {
                    self.named.remove(&key);
                    dropped.insert(key);
                }
            }
        }
    }
}
