//! Objects that the objects of a group name by a relation, in any group or in none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::{Coverage, Object, ObjectList};

use super::descent::Descent;
use super::entry::Entry;
use super::missing::ScopeNamespace;
use super::objects::Id;
use super::place::GroupPlace;
use super::queries::{Found, Query, QueryId};
use super::relations::{Asker, Rule, rules_of, sought};
use super::reports::rank;
use super::{ClusterIndex, GroupId, ScopeId};
use crate::decoded::Body;
use crate::related_rules::RelatedRules;

/// Maximum number of searches for one group. Beyond the limit, no Kind has complete coverage.
const QUERIES_MAX: usize = 20_000;
/// Maximum number of related objects of one group. Beyond the limit, no Kind has complete coverage.
const RELATED_MAX: usize = 10_000;

/// New searches, and objects that a group no longer needs.
#[derive(Debug, Default)]
pub(super) struct AskedFor {
    new: Vec<QueryId>,
    dropped: BTreeSet<Id>,
}

/// The related objects of a group, and the Kinds with complete results.
pub(super) struct Beside {
    pub(super) ids: Vec<Id>,
    pub(super) covered: Coverage,
}

impl ClusterIndex {
    /// Sets the relations that interpreters ask for.
    pub fn set_rules(&mut self, rules: Arc<RelatedRules>) {
        self.rules = rules;
        self.resolve();
        let members = self.objects.iter();
        let members = members.filter(|(_, entry)| entry.place().is_any());
        let members: Vec<Id> = members.map(|(id, _)| id).collect();
        for id in members {
            self.read_sought(id);
        }
    }

    /// Updates the watches of each rule.
    pub(super) fn resolve(&mut self) {
        let kinds = self.scopes.iter();
        let rules: BTreeMap<ScopeId, _> = kinds
            .map(|(id, watched)| (*id, rules_of(&self.rules, &watched.kind, &self.scopes)))
            .collect();
        for (id, rules) in rules {
            if let Some(watched) = self.scopes.get_mut(&id) {
                watched.rules = rules;
                watched.are_descendants_sought =
                    self.rules.look_for_descendants(watched.kind.names());
            }
        }
        self.groups.note_all_changed();
    }

    /// Reads the names of related objects from an object of an application, if a relation applies.
    pub(super) fn read_sought(&mut self, id: Id) {
        let Some(entry) = self.objects.get_mut(id) else {
            return;
        };
        let watched = self.scopes.get(&entry.scope());
        let rules = watched
            .map(|kind| &kind.rules)
            .filter(|rules| !rules.is_empty());
        let sought = match (rules, entry.body()) {
            (Some(rules), Body::Whole(object)) => Some(sought(rules, object)),
            _ => None,
        };
        entry.seek(sought);
    }

    /// Requests the related objects of a group. Returns whether every search was requested.
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

    /// Makes the requested searches, and drops bodies that no group needs any more.
    pub(super) fn answer(&mut self, AskedFor { new, dropped }: AskedFor) {
        for (query, found) in self.answers(new) {
            let asked = self.queries.get(query);
            let is_read = asked.is_some_and(|asked| asked.reads().is_some());
            for id in &found {
                if let Some(entry) = self.objects.get(*id)
                    && is_read
                    && entry.lacks_body()
                {
                    self.missing.add(*id, entry);
                }
            }
            self.queries.answer(query, found);
        }
        for id in dropped {
            if !self.is_content_needed(id) {
                self.drop_unneeded(id);
            }
        }
    }

    /// The related objects of a group. None while one of their bodies is not read yet.
    pub(super) fn beside(
        &self,
        id: &GroupId,
        members: &[Id],
        is_all_asked: bool,
    ) -> Option<Beside> {
        let Found {
            by_reference: mut ids,
            by_labels,
        } = self.queries.found(id);
        let (foreign, own): (Vec<Id>, Vec<Id>) = by_labels
            .into_iter()
            .partition(|found| !ids.contains(found) && self.is_of_another_application(*found, id));
        ids.extend(own);
        for member in members {
            ids.remove(member);
        }
        if ids.iter().any(|id| self.is_awaited(*id)) {
            return None;
        }
        let is_all = is_all_asked && ids.len() <= RELATED_MAX && !self.is_over;
        let ids: Vec<Id> = ids.into_iter().take(RELATED_MAX).collect();
        let covered = if is_all {
            self.covered(members, &ids, &foreign)
        } else {
            Coverage::partial()
        };
        Some(Beside { ids, covered })
    }

    /// Returns whether an object belongs to another application than a group. Labels alone do not make such an object
    /// related: its owners decide on its application, and readers of one application may not see the other one.
    fn is_of_another_application(&self, id: Id, group: &GroupId) -> bool {
        let place = self.objects.get(id).map(Entry::place);
        let is_own = |place: &GroupPlace| place.groups().any(|own| own.is_same_application(group));
        place.is_some_and(|place| place.group.is_some() && !is_own(place))
    }

    /// Returns whether a search that found an object needs its content.
    pub(super) fn is_content_needed(&self, id: Id) -> bool {
        let entry = self.objects.get(id);
        entry.is_some_and(|entry| self.queries.need_content_of(id, entry))
    }

    /// Those of the objects that have a readable body, and the identities of those whose body no search needs.
    pub(super) fn related(&self, ids: &[Id]) -> ObjectList {
        let object = |id: &Id| {
            let entry = self.objects.get(*id)?;
            match entry.body() {
                Body::Whole(object) => Some(Object::clone(object)),
                Body::NotAsked | Body::Unreadable(_) if self.is_content_needed(*id) => None,
                Body::NotAsked | Body::Unreadable(_) => {
                    let kind = &self.scopes.get(&entry.scope())?.kind;
                    Object::of_identity(&kind.gvk, entry.namespace(), &entry.name)
                }
            }
        };
        let mut objects: Vec<Object> = ids.iter().filter_map(object).collect();
        objects.sort_by(|left, right| rank(left).cmp(&rank(right)));
        objects.into()
    }

    /// Drops the body of an object that no group and no search needs.
    fn drop_unneeded(&mut self, id: Id) {
        if let Some(entry) = self.objects.get_mut(id)
            && !entry.place().is_any()
        {
            self.missing.remove(id, entry);
            entry.drop_body();
        }
    }

    /// The searches for the related objects of `members`, and whether the searches are complete.
    fn queries_of(&self, members: &[Id]) -> (BTreeSet<Query>, bool) {
        let mut queries = BTreeSet::new();
        for id in members {
            let Some((sought, entry, watched)) = self
                .objects
                .get(*id)
                .and_then(|entry| Some((entry.sought()?, entry, self.scopes.get(&entry.scope())?)))
            else {
                continue;
            };
            let is_asked = watched.rules.iter().any(Rule::asks_for_descendants);
            let asker = Asker {
                namespace: entry.namespace(),
                uid: entry.uid,
                owners: entry.owners(),
                descent: if is_asked {
                    self.descent(entry)
                } else {
                    Descent::default()
                },
            };
            for (rule, names) in watched.rules.iter().zip(sought) {
                rule.ask(names, &asker, &self.scopes, &mut queries);
            }
            if queries.len() > QUERIES_MAX {
                return (queries, false);
            }
        }
        (queries, true)
    }

    /// Makes searches. All selectors of a namespace are searched in one pass over its objects.
    fn answers(&self, new: Vec<QueryId>) -> Vec<(QueryId, Vec<Id>)> {
        let mut answers = Vec::new();
        let mut selected: BTreeMap<ScopeNamespace, HashMap<QueryId, Vec<Id>>> = BTreeMap::new();
        for id in new {
            let Some(query) = self.queries.get(id) else {
                continue;
            };
            let near = match query {
                Query::Named(scope, namespace, name) | Query::Exists(scope, namespace, name) => {
                    let named = self.objects.find(*scope, namespace, name);
                    named.into_iter().collect()
                }
                Query::Uid(_, uid) => self.objects.with_uid(*uid).into_iter().collect(),
                Query::OwnedBy(_, uid) => self.owned_by(*uid),
                Query::Selected(scope, namespace, _) => {
                    let place = (*scope, Arc::clone(namespace));
                    let waiting = selected.entry(place).or_default();
                    waiting.insert(id, Vec::new());
                    continue;
                }
            };
            let is_found = |id: &Id| {
                self.objects
                    .get(*id)
                    .is_some_and(|entry| query.finds(entry))
            };
            answers.push((id, near.into_iter().filter(is_found).collect()));
        }
        for ((scope, namespace), mut selected) in selected {
            for (id, entry) in self.objects.of_namespace(scope, &namespace) {
                for query in self.queries.near(entry) {
                    if let Some(found) = selected.get_mut(&query)
                        && self
                            .queries
                            .get(query)
                            .is_some_and(|asked| asked.finds(entry))
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
