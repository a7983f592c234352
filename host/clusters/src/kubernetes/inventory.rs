//! Everything that one cluster has, and the applications it belongs to.
//!
//! An object belongs to the application of its topmost owner that has one, else to its own: a Pod with the
//! labels of another chart is still a Pod of the Deployment that made it. What an `AppContext` sent comes
//! before all others, then what the configuration selects. Pure and synchronous; told of one
//! object at a time, it keeps which groups changed.

mod deployments;
mod entry;
mod groups;
mod links;
mod missing;
mod place;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::{Coverage, DeploymentId, DigName, Object};

use super::decode::{Body, Decoded};
use super::kind_watch::WatchId;
use crate::{ApplicationReport, DeploymentReport};

use entry::Entry;
pub(super) use entry::Key;
use groups::{Group, Groups};
use missing::{Missing, NeededOf, Place};

/// Maximum number of objects of one cluster that are known, most of them by their identity alone; others are
/// left out, which is told.
const OBJECTS_MAX: usize = 2_000_000;

/// Objects that are reported together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum GroupId {
    /// One app of an application that nobody recorded.
    Application { application: DigName, app: Arc<str> },
    /// One app that an `AppContext` sends here.
    Deployment(DeploymentId),
}

/// All that is there of a group.
#[derive(Debug)]
pub(super) enum Report {
    Application(ApplicationReport),
    Deployment(DeploymentReport),
}

/// The objects of one cluster.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    entries: BTreeMap<Key, Entry>,
    by_uid: HashMap<Arc<str>, Key>,
    /// Objects by the uid of an owner.
    owned: HashMap<Arc<str>, BTreeSet<Key>>,
    /// Objects that join the only application of a name, by that name.
    floating: HashMap<Arc<str>, BTreeSet<Key>>,
    groups: Groups,
    missing: Missing,
    /// Recorded deployments; true for those that are reported by their objects.
    deployments: HashMap<DeploymentId, bool>,
    /// Objects by the deployment that their label names, recorded or not.
    labelled: HashMap<DeploymentId, BTreeSet<Key>>,
    /// Objects that a recorded deployment has now, by the group that they were of.
    taken: HashMap<GroupId, Vec<Object>>,
    /// True once an object came while there were [`OBJECTS_MAX`].
    is_over: bool,
}

impl Inventory {
    /// Takes in an object of a list of all, in this pass over its Kind.
    pub(super) fn apply(&mut self, watch: WatchId, pass: u64, decoded: Decoded) {
        let key = Key::new(watch, &decoded);
        match self.entries.get_mut(&key) {
            Some(entry) if entry.has_all_of(&decoded) => entry.pass = pass,
            _ => self.put(&key, Some(pass), decoded),
        }
    }

    /// Takes in an object that was added or changed, as the watch of its Kind tells. A part of the Kind may
    /// have told more already.
    pub(super) fn follow(&mut self, watch: WatchId, pass: u64, decoded: Decoded) {
        let key = Key::new(watch, &decoded);
        let known = self.entries.get(&key);
        if !known.is_some_and(|it| it.has_all_of(&decoded) || it.is_newer_than(&decoded)) {
            self.put(&key, Some(pass), decoded);
        }
    }

    /// Takes in an object of the list of a part, which may be older than what the watch told. One that the
    /// watch does not know was deleted since, or will be told by it.
    pub(super) fn complete(&mut self, watch: WatchId, decoded: Decoded) {
        let key = Key::new(watch, &decoded);
        let known = self.entries.get(&key);
        let is_wanted = known.is_some_and(|it| {
            it.uid == decoded.uid && !it.has_all_of(&decoded) && !it.is_newer_than(&decoded)
        });
        if is_wanted {
            // A list of all that is read meanwhile decides alone what is not there any more.
            self.put(&key, None, decoded);
        }
    }

    fn put(&mut self, key: &Key, pass: Option<u64>, decoded: Decoded) {
        if self.entries.len() >= OBJECTS_MAX && !self.entries.contains_key(key) {
            self.is_over = true;
            return;
        }
        if let Some(before) = self.entries.get(key) {
            let (links, name) = (before.links(), before.floats_to());
            let deployment = before.membership.deployment.clone();
            self.unlink(key, &links.uid, &links.owners);
            self.unfloat(key, name);
            self.unlabel(key, deployment.as_deref());
        }
        let entry = self.entries.entry(key.clone()).or_default();
        entry.pass = pass.unwrap_or(entry.pass);
        entry.replace(decoded);
        let links = entry.links();
        let deployment = entry.membership.deployment.clone();
        self.link(key, &links.uid, &links.owners);
        self.label(key, deployment.as_deref());
        self.place(key);
        // What it owns may belong to its application now, or no longer.
        self.place_owned(key);
    }

    /// The objects of a watch in order of namespace and name, from the first of a namespace on.
    fn objects_from(
        &self,
        watch: WatchId,
        namespace: &str,
    ) -> impl Iterator<Item = (&Key, &Entry)> {
        let all = self.entries.range(Key::before_all_of(watch, namespace)..);
        all.take_while(move |(key, _)| key.watch == watch)
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, watch: WatchId, decoded: &Decoded) {
        self.remove_key(&Key::new(watch, decoded));
    }

    /// Forgets the objects of a Kind that this pass did not see.
    pub(super) fn sweep(&mut self, watch: WatchId, pass: u64) {
        let all = self.objects_from(watch, "");
        let old = all.filter(|(_, entry)| entry.pass != pass);
        let old: Vec<Key> = old.map(|(key, _)| key.clone()).collect();
        for key in old {
            self.remove_key(&key);
        }
    }

    /// The namespaces of watches in which an object came to be needed whole that is not. Answered once.
    pub(super) fn take_wanted(&mut self) -> BTreeSet<Place> {
        self.missing.take_wanted()
    }

    /// The objects of a watch that are needed whole and are not.
    pub(super) fn needed(&self, watch: WatchId) -> NeededOf<'_> {
        NeededOf {
            inventory: self,
            watch,
        }
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

    /// Reports of the groups that changed since the last call and of which every object was read. `coverage`
    /// is that of what is seen of the cluster.
    pub(super) fn take_reports(&mut self, coverage: &Coverage) -> Vec<Report> {
        let mut reports = Vec::new();
        for id in self.groups.take_changed() {
            if !self.is_reported(&id) {
                continue;
            }
            match self.report(&id, coverage) {
                Some(report) => reports.push(report),
                None => self.groups.note_changed(id),
            }
        }
        reports
    }

    /// The report of a group; none while one of its objects was not read.
    fn report(&mut self, id: &GroupId, coverage: &Coverage) -> Option<Report> {
        let members = self.groups.get(id).map(Group::members);
        let members: Vec<Key> = members.into_iter().flatten().cloned().collect();
        if members.iter().any(|key| self.missing.has(key)) {
            return None;
        }
        let entries = members
            .iter()
            .filter_map(|key| Some((key, self.entries.get(key)?)));
        let taken = self.taken.remove(id).unwrap_or_default();
        let report = entry::report(id, entries, coverage, taken);
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
        self.unlabel(key, entry.membership.deployment.as_deref());
        self.missing.remove(key);
        self.move_to(key, entry.place.group, None, entry.place.is_anchor);
        for owned in self.owned_by(&links.uid) {
            self.place(&owned);
            self.place_owned(&owned);
        }
    }
}

#[cfg(test)]
mod tests;
