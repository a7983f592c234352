//! Everything that one cluster has, and the applications it belongs to.
//!
//! An object belongs to the application of its topmost owner that has one, else to its own: a Pod with the
//! labels of another chart is still a Pod of the Deployment that made it. Pure and synchronous; told of one
//! object at a time, it keeps which groups changed.

mod entry;
mod groups;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::DigName;

use super::decode::{Body, Decoded};
use super::kind_watch::WatchId;
use crate::ApplicationReport;

use entry::Entry;
pub(super) use entry::Key;
use groups::{Group, Groups};

/// Maximum number of owners that are followed from an object upwards.
const OWNERS_MAX: usize = 16;

/// Maximum number of objects of one cluster that are known, most of them by their identity alone; others are
/// left out, which is told.
const OBJECTS_MAX: usize = 2_000_000;

/// One app of one application.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct GroupId {
    pub(super) application: DigName,
    pub(super) app: Arc<str>,
}

/// The objects of one cluster.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    entries: HashMap<Key, Entry>,
    by_uid: HashMap<Arc<str>, Key>,
    /// Objects by the uid of an owner.
    owned: HashMap<Arc<str>, BTreeSet<Key>>,
    /// Objects that join the only application of a name, by that name.
    floating: HashMap<Arc<str>, BTreeSet<Key>>,
    groups: Groups,
    /// Watches of which an object is needed whole that is not.
    wanted: BTreeSet<WatchId>,
    /// True once an object came while there were [`OBJECTS_MAX`].
    is_over: bool,
}

impl Inventory {
    /// Takes in an object, as it was seen in this pass over its Kind.
    pub(super) fn apply(&mut self, watch: WatchId, pass: u64, decoded: Decoded) {
        let key = Key::new(watch, &decoded);
        if self.entries.len() >= OBJECTS_MAX && !self.entries.contains_key(&key) {
            self.is_over = true;
            return;
        }
        if let Some(before) = self.entries.get(&key) {
            let (links, name) = (before.links(), before.floats_to());
            self.unlink(&key, &links.uid, &links.owners);
            self.unfloat(&key, name);
        }
        let entry = self.entries.entry(key.clone()).or_default();
        entry.replace(pass, decoded);
        let links = entry.links();
        self.link(&key, &links.uid, &links.owners);
        self.place(&key);
        // What it owns may belong to its application now, or no longer.
        self.place_owned(&key);
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, watch: WatchId, decoded: &Decoded) {
        self.remove_key(&Key::new(watch, decoded));
    }

    /// Forgets the objects of a Kind that this pass did not see.
    pub(super) fn sweep(&mut self, watch: WatchId, pass: u64) {
        let is_old = |(key, entry): &(&Key, &Entry)| key.watch == watch && entry.pass != pass;
        let old = self.entries.iter().filter(is_old);
        let old: Vec<Key> = old.map(|(key, _)| key.clone()).collect();
        for key in old {
            self.remove_key(&key);
        }
    }

    /// Watches of which an object is needed whole that is not. Answered once.
    pub(super) fn take_wanted(&mut self) -> BTreeSet<WatchId> {
        std::mem::take(&mut self.wanted)
    }

    /// Returns whether an application has objects of this watch.
    pub(super) fn has_members(&self, watch: WatchId) -> bool {
        self.groups.members_of(watch) > 0
    }

    /// Objects that are left out, in words.
    pub(super) fn left_out(&self) -> Option<Arc<str>> {
        let told = || format!("objects over the limit of {OBJECTS_MAX}").into();
        self.is_over.then(told)
    }

    /// Number of objects of applications.
    pub(super) fn members(&self) -> usize {
        self.groups.members()
    }

    /// The groups that have objects.
    pub(super) fn group_ids(&self) -> impl Iterator<Item = &GroupId> {
        self.groups.ids()
    }

    /// Reports of the groups that changed since the last call and of which every object was read.
    pub(super) fn take_reports(&mut self) -> Vec<ApplicationReport> {
        let mut reports = Vec::new();
        for id in self.groups.take_changed() {
            match self.report(&id) {
                Some(report) => reports.push(report),
                None => self.groups.note_changed(id),
            }
        }
        reports
    }

    /// The report of a group; none while one of its objects was not read.
    fn report(&mut self, id: &GroupId) -> Option<ApplicationReport> {
        let members = self.groups.get(id).map(Group::members);
        let members: Vec<Key> = members.into_iter().flatten().cloned().collect();
        let is_read = |key: &Key| {
            let entry = self.entries.get(key);
            entry.is_some_and(|it| !matches!(it.body, Body::NotAsked))
        };
        if !members.iter().all(is_read) {
            return None;
        }
        let entries = members
            .iter()
            .filter_map(|key| Some((key, self.entries.get(key)?)));
        let report = entry::report(id, entries);
        // Their trees go with the report: nobody here reads them again.
        for key in &members {
            if let Some(Body::Whole(object)) = self.entries.get_mut(key).map(|it| &mut it.body) {
                object.settle();
            }
        }
        Some(report)
    }

    fn remove_key(&mut self, key: &Key) {
        let Some(entry) = self.entries.remove(key) else {
            return;
        };
        let links = entry.links();
        self.unlink(key, &links.uid, &links.owners);
        self.unfloat(key, entry.floats_to());
        self.move_to(key, entry.group, None, entry.is_anchor);
        for owned in self.owned_by(&links.uid) {
            self.place(&owned);
            self.place_owned(&owned);
        }
    }

    fn link(&mut self, key: &Key, uid: &Arc<str>, owners: &[Arc<str>]) {
        if !uid.is_empty() {
            self.by_uid.insert(Arc::clone(uid), key.clone());
        }
        for owner in owners {
            let owned = self.owned.entry(Arc::clone(owner)).or_default();
            owned.insert(key.clone());
        }
    }

    fn unlink(&mut self, key: &Key, uid: &Arc<str>, owners: &[Arc<str>]) {
        if self.by_uid.get(uid) == Some(key) {
            self.by_uid.remove(uid);
        }
        for owner in owners {
            if let Some(owned) = self.owned.get_mut(owner) {
                owned.remove(key);
                if owned.is_empty() {
                    self.owned.remove(owner);
                }
            }
        }
    }

    fn unfloat(&mut self, key: &Key, name: Option<Arc<str>>) {
        let Some(name) = name else {
            return;
        };
        if let Some(floating) = self.floating.get_mut(&name) {
            floating.remove(key);
            if floating.is_empty() {
                self.floating.remove(&name);
            }
        }
    }

    fn owned_by(&self, uid: &Arc<str>) -> Vec<Key> {
        let owned = self.owned.get(uid).into_iter().flatten();
        owned.cloned().collect()
    }

    /// Places everything that an object owns, over any number of steps.
    fn place_owned(&mut self, key: &Key) {
        let mut waiting = vec![(key.clone(), 0)];
        while let Some((key, steps)) = waiting.pop() {
            let uid = self.entries.get(&key).map(|it| Arc::clone(&it.uid));
            let Some(uid) = uid.filter(|it| !it.is_empty() && steps < OWNERS_MAX) else {
                continue;
            };
            for owned in self.owned_by(&uid) {
                // Where nothing changed for it, nothing changed for what it owns.
                if self.place(&owned) {
                    waiting.push((owned, steps + 1));
                }
            }
        }
    }

    /// Puts an object into the group that it belongs to now. Returns whether that is another one.
    fn place(&mut self, key: &Key) -> bool {
        let Some((group, is_anchor)) = self.group_of(key) else {
            return false;
        };
        let Some(entry) = self.entries.get_mut(key) else {
            return false;
        };
        let before = std::mem::replace(&mut entry.group, group.clone());
        let was_anchor = std::mem::replace(&mut entry.is_anchor, is_anchor);
        match (&group, &entry.body) {
            (Some(_), Body::NotAsked) => {
                self.wanted.insert(key.watch);
            }
            // Nobody reads what belongs to no application.
            (None, Body::Whole(_)) => entry.body = Body::NotAsked,
            _ => {}
        }
        if let Some(name) = entry.floats_to() {
            self.floating.entry(name).or_default().insert(key.clone());
        }
        // The application counts those that name it by themselves.
        let is_moved = before != group || was_anchor != is_anchor;
        if is_moved {
            self.move_to(key, before, group.map(|it| (it, is_anchor)), was_anchor);
        } else if let Some(group) = group {
            self.groups.note_changed(group);
        }
        is_moved
    }

    /// Moves an object between groups, and what joins applications of that name with it.
    fn move_to(
        &mut self,
        key: &Key,
        before: Option<GroupId>,
        after: Option<(GroupId, bool)>,
        was_anchor: bool,
    ) {
        let mut names = Vec::new();
        if let Some(before) = before {
            let name = Arc::clone(&before.application.composite_app);
            if self.groups.leave(before, key, was_anchor) {
                names.push(name);
            }
        }
        if let Some((after, is_anchor)) = after {
            let name = Arc::clone(&after.application.composite_app);
            if self.groups.join(after, key, is_anchor) {
                names.push(name);
            }
        }
        for name in names {
            let floating = self.floating.get(&name).into_iter().flatten();
            let floating: Vec<Key> = floating.filter(|it| *it != key).cloned().collect();
            for key in floating {
                self.place(&key);
                self.place_owned(&key);
            }
        }
    }

    /// The group that an object belongs to, and whether an application has it by name. None for an object
    /// that is not there.
    fn group_of(&self, key: &Key) -> Option<(Option<GroupId>, bool)> {
        let mut entry = self.entries.get(key)?;
        let mut claimed = entry.membership.claim.as_ref().map(|claim| (claim, entry));
        for _ in 0..OWNERS_MAX {
            let mut owners = entry.owners.iter().filter_map(|uid| self.by_uid.get(uid));
            let Some(owner) = owners.find_map(|key| self.entries.get(key)) else {
                break;
            };
            entry = owner;
            let claim = entry.membership.claim.as_ref();
            claimed = claim.map(|claim| (claim, entry)).or(claimed);
        }
        let Some((claim, claimed)) = claimed else {
            return Some((None, false));
        };
        let only = claim.is_of_any_namespace.then(|| {
            let name = &claim.application.composite_app;
            self.groups.only_application(name)
        });
        let application = only.flatten().unwrap_or_else(|| claim.application.clone());
        let app = claimed.membership.app.as_ref().unwrap_or(&claimed.name);
        let group = GroupId {
            application,
            app: Arc::clone(app),
        };
        Some((Some(group), !claim.is_of_any_namespace))
    }
}

#[cfg(test)]
mod tests;
