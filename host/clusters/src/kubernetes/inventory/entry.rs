//! One object of a cluster.

use std::sync::{Arc, LazyLock};

use super::missing::Place;
use super::place::GroupPlace;
use super::relations::Sought;
use super::texts::Texts;
use crate::kubernetes::decode::{Body, Decoded};
use crate::kubernetes::membership::Membership;
use crate::kubernetes::news::WatchId;
use crate::kubernetes::selector::Label;
use crate::kubernetes::uid::Uid;

/// An object as it is held.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its watch and its namespace.
    pub(super) collection: Arc<Place>,
    pub(super) name: Box<str>,
    pub(super) uid: Uid,
    /// Its version; 0 where versions have no order.
    pub(super) version: u64,
    /// The last pass over its Kind that saw it.
    pub(super) pass: u64,
    /// None where there is none of it, as of most objects that belong to no application.
    more: Option<Box<More>>,
}

/// The part of an object that most do not have.
#[derive(Debug, Default)]
struct More {
    /// Number of the change of the cluster that it came with.
    change: u64,
    /// Uids of its owners.
    owners: Box<[Uid]>,
    /// Its labels, where they are asked for.
    labels: Arc<[Label]>,
    /// None where nobody marked it.
    membership: Option<Arc<Membership>>,
    body: Body,
    place: GroupPlace,
    /// Objects that it names by relations; none where nobody asks, or it was not read.
    sought: Option<Sought>,
}

/// The rest of an object of which only its identity is known.
static NO_MORE: LazyLock<More> = LazyLock::new(More::default);
/// The membership of an object that nobody marked.
static NO_MEMBERSHIP: LazyLock<Membership> = LazyLock::new(Membership::default);

impl More {
    fn is_nothing(&self) -> bool {
        self.owners.is_empty()
            && self.labels.is_empty()
            && self.membership.is_none()
            && matches!(self.body, Body::NotAsked)
            && self.place == GroupPlace::default()
            && self.sought.is_none()
    }
}

impl Entry {
    /// An object of this name, of which nothing else is known.
    pub(super) fn new(collection: Arc<Place>, name: &str) -> Self {
        Self {
            collection,
            name: name.into(),
            uid: Uid::NONE,
            version: 0,
            pass: 0,
            more: None,
        }
    }

    pub(super) fn watch(&self) -> WatchId {
        self.collection.0
    }

    pub(super) fn namespace(&self) -> &Arc<str> {
        &self.collection.1
    }

    fn more(&self) -> &More {
        self.more.as_deref().unwrap_or(&NO_MORE)
    }

    /// Changes what most objects do not have.
    fn change_more<T>(&mut self, change: impl FnOnce(&mut More) -> T) -> T {
        let more = self.more.get_or_insert_default();
        let changed = change(more);
        if more.is_nothing() {
            self.more = None;
        }
        changed
    }

    /// Returns whether nothing but its identity is held.
    #[cfg(test)]
    pub(super) fn is_identity_alone(&self) -> bool {
        self.more.is_none()
    }

    /// Number of the change of the cluster that it came with; 0 where only its identity is known.
    pub(super) fn change(&self) -> u64 {
        self.more().change
    }

    /// Uids of its owners.
    pub(super) fn owners(&self) -> &[Uid] {
        &self.more().owners
    }

    /// Its labels, where they are asked for.
    pub(super) fn labels(&self) -> &[Label] {
        &self.more().labels
    }

    pub(super) fn body(&self) -> &Body {
        &self.more().body
    }

    pub(super) fn place(&self) -> &GroupPlace {
        &self.more().place
    }

    /// Objects that it names by relations; none where nobody asks, or it was not read.
    pub(super) fn sought(&self) -> Option<&Sought> {
        self.more().sought.as_ref()
    }

    /// The application it belongs to, as its metadata says.
    pub(super) fn membership(&self) -> &Membership {
        self.more().membership.as_deref().unwrap_or(&NO_MEMBERSHIP)
    }

    /// Returns whether this tells nothing new: the same version, and no body where that is missing.
    pub(super) fn has_all_of(&self, decoded: &Decoded, is_missing: bool) -> bool {
        self.version == decoded.version
            && self.version > 0
            && self.uid == decoded.uid
            && *self.labels() == *decoded.labels
            && (!is_missing || matches!(decoded.body, Body::NotAsked))
    }

    /// Returns whether this is an older version of the same object.
    pub(super) fn is_newer_than(&self, decoded: &Decoded) -> bool {
        self.uid == decoded.uid && decoded.version > 0 && self.version > decoded.version
    }

    /// Returns whether what it owns belongs where it did before.
    pub(super) fn is_same_owner(&self, decoded: &Decoded) -> bool {
        self.uid == decoded.uid
            && *self.owners() == *decoded.owners
            && *self.membership() == decoded.membership
    }

    /// Replaces all but its place and the pass by what came with a change.
    pub(super) fn replace(&mut self, decoded: Decoded, change: u64, texts: &mut Texts) {
        self.version = decoded.version;
        self.uid = decoded.uid;
        let labels = texts.share_labels(&decoded.labels);
        let membership = texts.share_membership(decoded.membership);
        self.change_more(|more| {
            more.change = change;
            more.owners = decoded.owners;
            more.labels = labels;
            more.membership = membership;
            more.body = decoded.body;
            more.sought = None;
        });
    }

    /// Returns what its place was before.
    pub(super) fn set_place(&mut self, place: GroupPlace) -> GroupPlace {
        if *self.place() == place {
            return place;
        }
        self.change_more(|more| std::mem::replace(&mut more.place, place))
    }

    pub(super) fn seek(&mut self, sought: Option<Sought>) {
        if sought.is_some() || self.sought().is_some() {
            self.change_more(|more| more.sought = sought);
        }
    }

    /// Lets go of its body, which nobody reads.
    pub(super) fn drop_body(&mut self) {
        if matches!(self.body(), Body::Whole(_)) {
            self.change_more(|more| more.body = Body::NotAsked);
        }
    }

    /// Lets go of what its body was read to.
    pub(super) fn settle(&mut self) {
        if let Some(Body::Whole(object)) = self.more.as_mut().map(|it| &mut it.body) {
            object.settle();
        }
    }

    /// The name of the application that it joins if there is only one of that name.
    pub(super) fn floats_to(&self) -> Option<Arc<str>> {
        let claim = self.membership().claim.as_ref();
        let claim = claim.filter(|claim| claim.is_of_any_namespace)?;
        Some(Arc::clone(&claim.application.composite_app))
    }
}
