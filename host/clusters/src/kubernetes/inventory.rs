//! Everything that one cluster has, and the applications it belongs to.
//!
//! An object belongs to the application of its topmost owner that has one, else to its own: a Pod with the
//! labels of another chart is still a Pod of the Deployment that made it. What an `AppContext` sent comes
//! before all others, then what the configuration selects. Pure and synchronous; told of one
//! object at a time, it keeps which groups changed.
//!
//! An object that belongs to none takes about 450 bytes, 600 with an owner, and 700 with labels that a
//! relation is looked for by.

mod coverage;
mod deployments;
mod entry;
mod groups;
mod links;
mod missing;
mod place;
mod queries;
mod related;
mod relations;
mod reports;
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

use entry::Entry;
pub(super) use entry::Key;
use groups::Groups;
use missing::{Missing, NeededOf, Place};
use queries::Queries;
use relations::{Sought, Watched};
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
    entries: BTreeMap<Key, Entry>,
    by_uid: HashMap<Uid, Key>,
    /// Objects by the uid of an owner.
    owned: BTreeSet<(Uid, Key)>,
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
    watched: BTreeMap<WatchId, Watched>,
    /// The relations that are asked about.
    rules: Arc<RelatedRules>,
    /// Searches by the relations of each object of an application.
    sought: HashMap<Key, Sought>,
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
        let key = Key::new(watch, &decoded);
        let is_missing = self.missing.has(&key);
        match self.entries.get_mut(&key) {
            Some(entry) if entry.has_all_of(&decoded, is_missing) => entry.pass = pass,
            _ => self.put(&key, Some(pass), decoded),
        }
    }

    /// Takes in an object that was added or changed, as the watch of its Kind tells. A part of the Kind may
    /// have told more already.
    pub(super) fn follow(&mut self, watch: WatchId, pass: u64, decoded: Decoded) {
        let key = Key::new(watch, &decoded);
        let is_missing = self.missing.has(&key);
        let known = self.entries.get(&key);
        if !known
            .is_some_and(|it| it.has_all_of(&decoded, is_missing) || it.is_newer_than(&decoded))
        {
            self.put(&key, Some(pass), decoded);
        }
    }

    /// Takes in an object of the list of a part, which may be older than what the watch told. One that the
    /// watch does not know was deleted since, or will be told by it.
    pub(super) fn complete(&mut self, watch: WatchId, decoded: Decoded) {
        let key = Key::new(watch, &decoded);
        let is_missing = self.missing.has(&key);
        let known = self.entries.get(&key);
        let is_wanted = known.is_some_and(|it| {
            let is_new = !it.has_all_of(&decoded, is_missing) && !it.is_newer_than(&decoded);
            it.uid == decoded.uid && is_new
        });
        if is_wanted {
            // A list of all that is read meanwhile decides alone what is not there any more.
            self.put(&key, None, decoded);
        }
    }

    fn put(&mut self, key: &Key, pass: Option<u64>, mut decoded: Decoded) {
        if self.entries.len() >= OBJECTS_MAX && !self.entries.contains_key(key) {
            self.is_over = true;
            return;
        }
        self.changes += 1;
        let mut concerned = BTreeSet::new();
        let mut is_other_owner = true;
        if let Some(before) = self.entries.get(key) {
            is_other_owner = !before.is_same_owner(&decoded);
            concerned = self.queries.forget(key, before);
            let (links, name) = (before.links(), before.floats_to());
            let deployment = before.membership().deployment.clone();
            self.unlink(key, &links);
            self.unfloat(key, name);
            self.unlabel(key, deployment.as_deref());
        }
        self.sought.remove(key);
        let key = &Key {
            namespace: self.texts.share(&key.namespace),
            ..key.clone()
        };
        decoded.labels = self.texts.share_labels(&decoded.labels);
        let entry = self.entries.entry(key.clone()).or_default();
        entry.pass = pass.unwrap_or(entry.pass);
        entry.change = self.changes;
        entry.replace(decoded);
        concerned.append(&mut self.queries.take(key, entry));
        let links = entry.links();
        let deployment = entry.membership().deployment.clone();
        self.link(key, &links);
        self.label(key, deployment.as_deref());
        self.place(key);
        // What it owns may belong to its application now, or no longer. The status of a workload changes with
        // each of its Pods, of which there may be thousands.
        if is_other_owner {
            self.place_owned(key);
        }
        for group in concerned {
            self.groups.note_changed(group);
        }
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

    fn remove_key(&mut self, key: &Key) {
        let Some(entry) = self.entries.remove(key) else {
            return;
        };
        let links = entry.links();
        self.unlink(key, &links);
        self.unfloat(key, entry.floats_to());
        self.unlabel(key, entry.membership().deployment.as_deref());
        self.missing.remove(key);
        self.sought.remove(key);
        for group in self.queries.forget(key, &entry) {
            self.groups.note_changed(group);
        }
        let is_anchor = entry.place.is_anchor;
        let group = entry.place.group.map(|it| *it);
        self.move_to(key, group, None, is_anchor);
        for owned in self.owned_by(links.uid) {
            self.place(&owned);
            self.place_owned(&owned);
        }
    }
}

#[cfg(test)]
mod tests;
