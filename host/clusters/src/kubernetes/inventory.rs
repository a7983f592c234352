//! Everything that one cluster has, and the applications it belongs to.
//!
//! An object belongs to the application of its topmost owner that has one, else to its own: a Pod with the
//! labels of another chart is still a Pod of the Deployment that made it. What an `AppContext` sent comes
//! before all others, then what the configuration selects. Pure and synchronous; told of one
//! object at a time, it keeps which groups changed.
//!
//! An object that belongs to none takes about 100 bytes, and 270 with an owner or with labels that a relation
//! is looked for by.

mod coverage;
mod deployments;
mod entry;
mod groups;
mod links;
mod missing;
mod objects;
mod place;
mod queries;
mod related;
mod relations;
mod reports;
mod slots;
mod texts;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::RandomState;
use std::sync::Arc;

use kindsight_model::{DeploymentId, DigName, Object};

use super::decode::Decoded;
use super::news::WatchId;
use super::uid::Uid;
use crate::needs::RelatedRules;
use crate::{ApplicationReport, DeploymentReport};

use groups::Groups;
use missing::{Missing, NeededOf, Place};
use objects::{Id, Objects};
use place::GroupPlace;
use queries::Queries;
use relations::Watched;
use texts::Texts;

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

impl Report {
    /// Notes that objects are sorted by other rules than at the last report.
    pub(super) fn sort_anew(&mut self) {
        if let Self::Application(report) = self {
            report.is_sorted_anew = true;
        }
    }
}

/// The objects of one cluster.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    objects: Objects,
    /// Objects by the uid of an owner.
    owned: BTreeSet<(Uid, Id)>,
    /// Objects that join the only application of a name, by that name.
    floating: HashMap<Arc<str>, BTreeSet<Id>>,
    groups: Groups,
    missing: Missing,
    /// Recorded deployments; true for those that are reported by their objects.
    deployments: HashMap<DeploymentId, bool>,
    /// Objects by the deployment that their label names, recorded or not.
    labelled: HashMap<DeploymentId, BTreeSet<Id>>,
    /// Objects that a recorded deployment has now, by the group that they were of.
    taken: HashMap<Arc<GroupId>, Vec<Object>>,
    watched: BTreeMap<WatchId, Watched>,
    /// The relations that are asked about.
    rules: Arc<RelatedRules>,
    queries: Queries,
    /// Number of changes so far.
    changes: u64,
    hasher: RandomState,
    texts: Texts,
    /// True once an object came while there were [`OBJECTS_MAX`].
    is_over: bool,
}

impl Inventory {
    /// Takes in an object of a list of all, in this pass over its Kind.
    pub(super) fn apply(&mut self, watch: WatchId, pass: u64, decoded: Decoded) {
        let id = self.known(watch, &decoded);
        let is_missing = id.is_some_and(|id| self.is_missing(id));
        match id.and_then(|id| self.objects.get_mut(id)) {
            Some(entry) if entry.has_all_of(&decoded, is_missing) => entry.pass = pass,
            _ => self.put_listed((watch, id), Some(pass), decoded),
        }
    }

    /// Takes in an object that was added or changed, as the watch of its Kind tells. A part of the Kind may
    /// have told more already.
    pub(super) fn follow(&mut self, watch: WatchId, pass: u64, decoded: Decoded) {
        let id = self.known(watch, &decoded);
        let is_missing = id.is_some_and(|id| self.is_missing(id));
        let known = id.and_then(|id| self.objects.get(id));
        if !known
            .is_some_and(|it| it.has_all_of(&decoded, is_missing) || it.is_newer_than(&decoded))
        {
            self.put((watch, id), Some(pass), decoded);
        }
    }

    /// Takes in an object of the list of a part, which may be older than what the watch told. One that the
    /// watch does not know was deleted since, or will be told by it.
    pub(super) fn complete(&mut self, watch: WatchId, decoded: Decoded) {
        let id = self.known(watch, &decoded);
        let is_missing = id.is_some_and(|id| self.is_missing(id));
        let known = id.and_then(|id| self.objects.get(id));
        let is_wanted = known.is_some_and(|it| {
            let is_new = !it.has_all_of(&decoded, is_missing) && !it.is_newer_than(&decoded);
            it.uid == decoded.uid && is_new
        });
        if is_wanted {
            // A list of all that is read meanwhile decides alone what is not there any more.
            self.put_listed((watch, id), None, decoded);
        }
    }

    /// Puts in an object of a list, of which there may be many before any is reported: what it was read to goes
    /// at once, and is read again when it is judged.
    fn put_listed(&mut self, known: (WatchId, Option<Id>), pass: Option<u64>, decoded: Decoded) {
        let id = self.put(known, pass, decoded);
        if let Some(entry) = id.and_then(|id| self.objects.get_mut(id)) {
            entry.settle();
        }
    }

    /// The object of that name, as far as it is known.
    fn known(&self, watch: WatchId, decoded: &Decoded) -> Option<Id> {
        self.objects.find(watch, &decoded.namespace, &decoded.name)
    }

    /// Puts in an object; none where it is left out.
    fn put(
        &mut self,
        (watch, known): (WatchId, Option<Id>),
        pass: Option<u64>,
        mut decoded: Decoded,
    ) -> Option<Id> {
        if self.objects.len() >= OBJECTS_MAX && known.is_none() {
            self.is_over = true;
            return None;
        }
        self.changes += 1;
        let is_same_owner = |id| Some(self.objects.get(id)?.is_same_owner(&decoded));
        let is_other_owner = known.and_then(is_same_owner) != Some(true);
        let mut concerned = known.map_or_else(BTreeSet::new, |id| self.take_out(id));
        let id = known.unwrap_or_else(|| {
            let namespace = self.texts.share(&decoded.namespace);
            self.objects.add(watch, &namespace, &decoded.name)
        });
        self.texts.share_texts(&mut decoded);
        if let Some(entry) = self.objects.get_mut(id) {
            entry.pass = pass.unwrap_or(entry.pass);
            entry.replace(decoded, self.changes, &mut self.texts);
            concerned.append(&mut self.queries.take(id, entry));
        }
        self.link(id);
        self.label(id);
        self.place(id);
        // What it owns may belong to its application now, or no longer. The status of a workload changes with
        // each of its Pods, of which there may be thousands.
        if is_other_owner {
            self.place_owned(id);
        }
        for group in concerned {
            self.groups.note_changed(group);
        }
        Some(id)
    }

    /// Forgets what an object was known by, which is to change or go. Returns the groups whose searches found
    /// it.
    fn take_out(&mut self, id: Id) -> BTreeSet<Arc<GroupId>> {
        let entry = self.objects.get(id);
        let concerned = entry.map(|entry| self.queries.forget(id, entry));
        self.unlink(id);
        self.unfloat(id);
        self.unlabel(id);
        concerned.unwrap_or_default()
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, watch: WatchId, decoded: &Decoded) {
        if let Some(id) = self.known(watch, decoded) {
            self.remove_object(id);
        }
    }

    /// Forgets the objects of a Kind that this pass did not see.
    pub(super) fn sweep(&mut self, watch: WatchId, pass: u64) {
        let all = self.objects.of_watch(watch);
        let old = all.filter(|(_, entry)| entry.pass != pass);
        let old: Vec<Id> = old.map(|(id, _)| id).collect();
        for id in old {
            self.remove_object(id);
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

    /// Returns whether an application has objects of this watch, or is judged by some.
    pub(super) fn is_used(&self, watch: WatchId) -> bool {
        self.groups.members_of(watch) > 0 || self.queries.are_any_named(watch)
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

    fn remove_object(&mut self, id: Id) {
        for group in self.take_out(id) {
            self.groups.note_changed(group);
        }
        let Some(entry) = self.objects.get_mut(id) else {
            return;
        };
        self.missing.remove(id, entry);
        let uid = entry.uid;
        let GroupPlace {
            group, is_anchor, ..
        } = entry.set_place(GroupPlace::default());
        self.move_to(id, group, None, is_anchor);
        self.objects.remove(id);
        for owned in self.owned_by(uid) {
            self.place(owned);
            self.place_owned(owned);
        }
    }
}

#[cfg(test)]
mod tests;
