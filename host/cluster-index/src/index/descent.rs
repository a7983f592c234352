//! Objects that an object owns through other objects.
//!
//! A rule about any Kind can ask for descendants, and most objects own nothing. Therefore, a group searches only for the
//! objects of owners that own an object of the watch now. If another object is owned, the groups of its owners search
//! again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::entry::Entry;
use super::objects::Id;
use super::queries::Query;
use super::{ClusterIndex, GroupId, ScopeId};
use crate::uid::Uid;

/// Maximum number of objects between an object and its descendant.
const STEPS_MAX: usize = 16;

/// The objects that an object owns, directly or through other objects.
#[derive(Debug, Default)]
pub(super) struct Descent(Vec<Ownership>);

/// An object and one of its owners.
#[derive(Debug)]
struct Ownership {
    owner: Uid,
    /// The watch of the owned object.
    scope: ScopeId,
    owned: Uid,
    /// True if the owned object is in another group than the object above.
    is_apart: bool,
}

impl Descent {
    /// The searches for the descendants in a watch, and for the objects of other groups between them and the object
    /// above: without those, a report would not show that the descendants are descendants.
    pub(super) fn searches(&self, sought: ScopeId) -> impl Iterator<Item = Query> {
        let leading = self.leading_to(sought);
        let found = self.0.iter().filter(|link| link.scope == sought);
        let found: Vec<Query> = found
            .map(|link| Query::OwnedBy(sought, link.owner))
            .collect();
        let between = self.0.iter();
        let between = between.filter(|link| link.is_apart && leading.contains(&link.owned));
        let between: Vec<Query> = between
            .map(|link| Query::Uid(link.scope, link.owned))
            .collect();
        found.into_iter().chain(between)
    }

    /// The uids of all owners of descendants in a watch.
    fn leading_to(&self, sought: ScopeId) -> BTreeSet<Uid> {
        let of_sought = self.0.iter().filter(|link| link.scope == sought);
        let mut leading: BTreeSet<Uid> = of_sought.map(|it| it.owner).collect();
        let mut before = 0;
        while leading.len() > before {
            before = leading.len();
            for ownership in self.0.iter().rev() {
                if leading.contains(&ownership.owned) {
                    leading.insert(ownership.owner);
                }
            }
        }
        leading
    }
}

impl ClusterIndex {
    /// All objects that an object owns, directly or through other objects. Costs one search for an object that owns
    /// nothing.
    pub(super) fn descent(&self, above: &Entry) -> Descent {
        let mut all = Vec::new();
        let mut seen = BTreeSet::from([above.uid]);
        let mut owners = vec![above.uid];
        for _ in 0..=STEPS_MAX {
            let mut owned = Vec::new();
            for owner in owners {
                for entry in self.entries_owned_by(owner) {
                    all.push(Ownership {
                        owner,
                        scope: entry.scope(),
                        owned: entry.uid,
                        is_apart: entry.place().group != above.place().group,
                    });
                    if seen.insert(entry.uid) {
                        owned.push(entry.uid);
                    }
                }
            }
            if owned.is_empty() {
                break;
            }
            owners = owned;
        }
        Descent(all)
    }

    /// Notes that the owners of an object, and their owners, may have other descendants: the object is new, is removed
    /// or has other owners. Most objects have no owner and cost nothing.
    pub(super) fn note_descent(&mut self, id: Id) {
        let Some(entry) = self.objects.get(id) else {
            return;
        };
        if entry.owners().is_empty() || !self.leads_to_sought(entry) {
            return;
        }
        for group in self.groups_above(entry) {
            self.groups.note_changed(group);
        }
    }

    /// Returns whether a relation may look for an object, or for objects that it owns, among the descendants of others.
    fn leads_to_sought(&self, entry: &Entry) -> bool {
        let watched = self.scopes.get(&entry.scope());
        let is_sought = watched.is_some_and(|watched| watched.are_descendants_sought);
        is_sought || self.entries_owned_by(entry.uid).next().is_some()
    }

    /// The groups of the owners of an object, and of their owners.
    fn groups_above(&self, entry: &Entry) -> BTreeSet<Arc<GroupId>> {
        let mut groups = BTreeSet::new();
        let mut seen: BTreeSet<Uid> = BTreeSet::new();
        let mut waiting: Vec<Uid> = entry.owners().to_vec();
        for _ in 0..=STEPS_MAX {
            let new = waiting.into_iter().filter(|uid| seen.insert(*uid));
            let owners = new.filter_map(|uid| self.objects.get(self.objects.with_uid(uid)?));
            let owners: Vec<&Entry> = owners.collect();
            groups.extend(
                owners
                    .iter()
                    .flat_map(|owner| owner.place().groups().cloned()),
            );
            waiting = owners
                .iter()
                .flat_map(|owner| owner.owners())
                .copied()
                .collect();
            if waiting.is_empty() {
                break;
            }
        }
        groups
    }

    /// The objects that name this uid as their owner's.
    fn entries_owned_by(&self, uid: Uid) -> impl Iterator<Item = &Entry> {
        let owned = self.owned.range((uid, Id::FIRST)..);
        let owned = owned.take_while(move |(owner, _)| *owner == uid && !uid.is_none());
        owned.filter_map(|(_, id)| self.objects.get(*id))
    }
}
