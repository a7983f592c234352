//! Objects that those of a group name by a relation, wherever they belong to.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::{CoveredKinds, Object};

use super::missing::Place;
use super::objects::Id;
use super::queries::{Query, QueryId};
use super::relations::{Asker, Rule, Watched, rules_of, sought};
use super::reports::rank;
use super::{GroupId, Inventory, WatchId};
use crate::kubernetes::decode::Body;
use crate::kubernetes::discovery::ApiKind;
use crate::kubernetes::uid::Uid;
use crate::needs::RelatedRules;

/// Maximum number of searches for one group; of more, no Kind is covered in full.
const QUERIES_MAX: usize = 20_000;
/// Maximum number of objects beside those of one group; of more, no Kind is covered in full.
const RELATED_MAX: usize = 10_000;
/// Maximum number of owners between an object and one that it owns.
const STEPS_MAX: usize = 16;

/// Searches that nobody made before, and objects that a group asks for no more.
#[derive(Debug, Default)]
pub(super) struct AskedFor {
    new: Vec<QueryId>,
    dropped: BTreeSet<Id>,
}

/// The objects beside those of a group, and the Kinds of which they are all.
pub(super) struct Beside {
    pub(super) ids: Vec<Id>,
    pub(super) covered: CoveredKinds,
}

impl Inventory {
    /// Takes in the relations that are asked about from now on.
    pub(in crate::kubernetes) fn set_rules(&mut self, rules: Arc<RelatedRules>) {
        self.rules = rules;
        self.resolve();
        let members = self.objects.iter();
        let members = members.filter(|(_, it)| it.place().group.is_some());
        let members: Vec<Id> = members.map(|(id, _)| id).collect();
        for id in members {
            self.read_sought(id);
        }
    }

    /// Takes in a watch, of which nothing is known yet.
    pub(in crate::kubernetes) fn add_watch(
        &mut self,
        watch: WatchId,
        kind: Arc<ApiKind>,
        namespace: Option<Arc<str>>,
    ) {
        let is_asked_for = self.rules.with(kind.names()).next().is_some();
        let watched = Watched {
            rules: rules_of(&self.rules, &kind, &self.watched),
            kind,
            namespace,
            is_complete: false,
        };
        self.watched.insert(watch, watched);
        if is_asked_for {
            self.resolve();
        }
    }

    /// Forgets a watch and its objects.
    pub(in crate::kubernetes) fn remove_watch(&mut self, watch: WatchId) {
        // No pass has this number.
        self.sweep(watch, u64::MAX);
        self.watched.remove(&watch);
        self.resolve();
    }

    /// Notes whether everything is known that there is of a watch.
    pub(in crate::kubernetes) fn set_complete(&mut self, watch: WatchId, is_complete: bool) {
        let Some(watched) = self.watched.get_mut(&watch) else {
            return;
        };
        let before = std::mem::replace(&mut watched.is_complete, is_complete);
        let names = watched.kind.names();
        if before != is_complete && self.rules.with(names).next().is_some() {
            self.groups.note_all_changed();
        }
    }

    /// Finds the watches of each rule anew.
    fn resolve(&mut self) {
        let kinds = self.watched.iter();
        let rules: BTreeMap<WatchId, _> = kinds
            .map(|(id, it)| (*id, rules_of(&self.rules, &it.kind, &self.watched)))
            .collect();
        for (id, rules) in rules {
            if let Some(watched) = self.watched.get_mut(&id) {
                watched.rules = rules;
            }
        }
        self.groups.note_all_changed();
    }

    /// Reads what an object of an application names, where anybody asks.
    pub(super) fn read_sought(&mut self, id: Id) {
        let Some(entry) = self.objects.get_mut(id) else {
            return;
        };
        let watched = self.watched.get(&entry.watch());
        let rules = watched.map(|it| &it.rules).filter(|it| !it.is_empty());
        let sought = match (rules, entry.body()) {
            (Some(rules), Body::Whole(object)) => Some(sought(rules, object)),
            _ => None,
        };
        entry.seek(sought);
    }

    /// Asks for what the objects of a group name. Returns whether that is all.
    pub(super) fn ask(
        &mut self,
        id: &Arc<GroupId>,
        members: &[Id],
        asked_for: &mut AskedFor,
    ) -> bool {
        let (queries, is_all_asked) = self.queries_of(members);
        let (new, dropped) = self.queries.ask(id, queries);
        asked_for.new.extend(new);
        asked_for.dropped.extend(dropped);
        is_all_asked
    }

    /// Searches for what was asked for, and lets go of what nobody needs any more.
    pub(super) fn answer(&mut self, AskedFor { new, dropped }: AskedFor) {
        for (query, found) in self.answers(new) {
            for id in &found {
                if let Some(entry) = self.objects.get(*id)
                    && matches!(entry.body(), Body::NotAsked)
                {
                    self.missing.add(*id, entry);
                }
            }
            self.queries.answer(query, found);
        }
        for id in dropped {
            if !self.queries.is_named(id) {
                self.drop_unneeded(id);
            }
        }
    }

    /// The objects that those of a group name. None while some of them are still to be read.
    pub(super) fn beside(
        &self,
        id: &GroupId,
        members: &[Id],
        is_all_asked: bool,
    ) -> Option<Beside> {
        let mut ids = self.queries.found(id);
        for member in members {
            ids.remove(member);
        }
        let is_read_soon = |id: &Id| {
            let entry = self.objects.get(*id);
            entry.is_some_and(|entry| {
                let watched = self.watched.get(&entry.watch());
                self.missing.has(*id, entry) && watched.is_some_and(|it| it.is_complete)
            })
        };
        if ids.iter().any(is_read_soon) {
            return None;
        }
        let is_all = is_all_asked && ids.len() <= RELATED_MAX && !self.is_over;
        let ids: Vec<Id> = ids.into_iter().take(RELATED_MAX).collect();
        let covered = if is_all {
            self.covered(members, &ids)
        } else {
            CoveredKinds::partial()
        };
        Some(Beside { ids, covered })
    }

    /// Those of these objects that were read.
    pub(super) fn related(&self, ids: &[Id]) -> Vec<Object> {
        let entries = ids.iter().filter_map(|id| self.objects.get(*id));
        let objects = entries.filter_map(|entry| match entry.body() {
            Body::Whole(object) => Some(Object::clone(object)),
            Body::NotAsked | Body::Unreadable(_) | Body::BundleState(_) => None,
        });
        let mut objects: Vec<Object> = objects.collect();
        objects.sort_by(|left, right| rank(left).cmp(&rank(right)));
        objects
    }

    /// Lets go of the body of an object that nobody needs any more.
    fn drop_unneeded(&mut self, id: Id) {
        if let Some(entry) = self.objects.get_mut(id)
            && entry.place().group.is_none()
        {
            self.missing.remove(id, entry);
            entry.drop_body();
        }
    }

    /// The searches for what these objects name, and whether these are all.
    fn queries_of(&self, members: &[Id]) -> (BTreeSet<Query>, bool) {
        let mut queries = BTreeSet::new();
        for id in members {
            let Some((sought, entry, watched)) = self.objects.get(*id).and_then(|entry| {
                Some((entry.sought()?, entry, self.watched.get(&entry.watch())?))
            }) else {
                continue;
            };
            let is_asked = watched.rules.iter().any(Rule::asks_for_descendants);
            let asker = Asker {
                namespace: entry.namespace(),
                uid: entry.uid,
                owners: entry.owners(),
                owned: if is_asked {
                    self.descendants(entry.uid)
                } else {
                    Vec::new()
                },
            };
            for (rule, names) in watched.rules.iter().zip(sought) {
                rule.ask(names, &asker, &self.watched, &mut queries);
            }
            if queries.len() > QUERIES_MAX {
                return (queries, false);
            }
        }
        (queries, true)
    }

    /// Uids of what an object owns over any number of steps.
    fn descendants(&self, uid: Uid) -> Vec<Uid> {
        let mut found: BTreeSet<Uid> = BTreeSet::new();
        let mut waiting = vec![uid];
        for _ in 0..STEPS_MAX {
            let owned = waiting.iter().flat_map(|uid| self.owned_by(*uid));
            let uids = owned.filter_map(|id| Some(self.objects.get(id)?.uid));
            waiting = uids.filter(|uid| found.insert(*uid)).collect();
            if waiting.is_empty() {
                break;
            }
        }
        found.into_iter().collect()
    }

    /// Finds what searches ask for now. All selectors of a namespace are looked for in one pass over its objects.
    fn answers(&self, new: Vec<QueryId>) -> Vec<(QueryId, Vec<Id>)> {
        let mut answers = Vec::new();
        let mut selected: BTreeMap<Place, HashMap<QueryId, Vec<Id>>> = BTreeMap::new();
        for id in new {
            let Some(query) = self.queries.get(id) else {
                continue;
            };
            let near = match query {
                Query::Named(watch, namespace, name) => {
                    let named = self.objects.find(*watch, namespace, name);
                    named.into_iter().collect()
                }
                Query::Uid(_, uid) => self.objects.with_uid(*uid).into_iter().collect(),
                Query::OwnedBy(_, uid) => self.owned_by(*uid),
                Query::Selected(watch, namespace, _) => {
                    let place = (*watch, Arc::clone(namespace));
                    let waiting = selected.entry(place).or_default();
                    waiting.insert(id, Vec::new());
                    continue;
                }
            };
            let is_found = |id: &Id| self.objects.get(*id).is_some_and(|it| query.finds(it));
            answers.push((id, near.into_iter().filter(is_found).collect()));
        }
        for ((watch, namespace), mut selected) in selected {
            for (id, entry) in self.objects.of_namespace(watch, &namespace) {
                for query in self.queries.near(entry) {
                    if let Some(found) = selected.get_mut(&query)
                        && self.queries.get(query).is_some_and(|it| it.finds(entry))
                    {
                        found.push(id);
                    }
                }
            }
            answers.extend(selected);
        }
        answers
    }
}
