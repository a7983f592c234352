//! One object of a cluster.

use std::sync::{Arc, LazyLock};

use super::missing::ScopeNamespace;
use super::place::GroupPlace;
use super::relations::Sought;
use super::texts::Texts;
use crate::decoded::{Body, Decoded};
use crate::index::ScopeId;
use crate::labels::Label;
use crate::membership::Membership;
use crate::uid::Uid;

/// An object in the index.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its watch and its namespace.
    pub(super) collection: Arc<ScopeNamespace>,
    pub(super) name: Box<str>,
    pub(super) uid: Uid,
    /// Its version; 0 where versions have no order.
    pub(super) version: u64,
    /// The last pass over its Kind that contained it.
    pub(super) pass: u64,
    /// None if every member is empty, as for most objects without an application.
    more: Option<Box<More>>,
}

/// The part of an object that most do not have.
#[derive(Debug, Default)]
struct More {
    /// The number of the index change that brought this version.
    change: u64,
    /// Uids of its owners.
    owners: Box<[Uid]>,
    /// The labels that relations need.
    labels: Arc<[Label]>,
    /// None if the metadata names no application.
    membership: Option<Arc<Membership>>,
    body: Body,
    /// True if the body is older than the metadata.
    is_body_old: bool,
    place: GroupPlace,
    /// The objects that it names by relations; none if no relation applies, or if its body was not read.
    sought: Option<Sought>,
}

/// The optional part of an object with only an identity.
static NO_MORE: LazyLock<More> = LazyLock::new(More::default);
/// The membership of an object whose metadata names no application.
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
    /// An object with this name and without content.
    pub(super) fn new(collection: Arc<ScopeNamespace>, name: &str) -> Self {
        Self {
            collection,
            name: name.into(),
            uid: Uid::NONE,
            version: 0,
            pass: 0,
            more: None,
        }
    }

    pub(super) fn scope(&self) -> ScopeId {
        self.collection.0
    }

    pub(super) fn namespace(&self) -> &Arc<str> {
        &self.collection.1
    }

    fn more(&self) -> &More {
        self.more.as_deref().unwrap_or(&NO_MORE)
    }

    /// Changes the optional part.
    fn change_more<T>(&mut self, change: impl FnOnce(&mut More) -> T) -> T {
        let more = self.more.get_or_insert_default();
        let changed = change(more);
        if more.is_nothing() {
            self.more = None;
        }
        changed
    }

    /// Returns whether the index has only the identity of the object.
    #[cfg(test)]
    pub(super) fn is_identity_alone(&self) -> bool {
        self.more.is_none()
    }

    /// The number of the index change that brought this version; 0 if the index has only the identity.
    pub(super) fn change(&self) -> u64 {
        self.more().change
    }

    /// Uids of its owners.
    pub(super) fn owners(&self) -> &[Uid] {
        &self.more().owners
    }

    /// The labels that relations need.
    pub(super) fn labels(&self) -> &[Label] {
        &self.more().labels
    }

    /// The value of a label.
    pub(super) fn label(&self, key: &str) -> Option<&str> {
        let mut labels = self.labels().iter();
        labels.find(|(name, _)| **name == *key).map(|pair| &*pair.1)
    }

    pub(super) fn body(&self) -> &Body {
        &self.more().body
    }

    /// Returns whether its body was not read, or is older than its metadata.
    pub(super) fn lacks_body(&self) -> bool {
        matches!(self.body(), Body::NotAsked) || self.more().is_body_old
    }

    pub(super) fn place(&self) -> &GroupPlace {
        &self.more().place
    }

    /// The objects that it names by relations; none if no relation applies, or if its body was not read.
    pub(super) fn sought(&self) -> Option<&Sought> {
        self.more().sought.as_ref()
    }

    /// The application in its metadata.
    pub(super) fn membership(&self) -> &Membership {
        self.more().membership.as_deref().unwrap_or(&NO_MEMBERSHIP)
    }

    /// Returns whether a decoded object is no news: it has the same version, and brings no missing body.
    pub(super) fn has_all_of(&self, decoded: &Decoded, is_missing: bool) -> bool {
        self.version == decoded.version
            && self.version > 0
            && self.uid == decoded.uid
            && *self.labels() == *decoded.labels
            && *self.membership() == decoded.membership
            && (!is_missing || matches!(decoded.body, Body::NotAsked))
    }

    /// Returns whether the entry has a later version of the same object.
    pub(super) fn is_newer_than(&self, decoded: &Decoded) -> bool {
        self.uid == decoded.uid && decoded.version > 0 && self.version > decoded.version
    }

    /// Returns whether its owned objects keep their application.
    pub(super) fn is_same_owner(&self, decoded: &Decoded) -> bool {
        self.uid == decoded.uid
            && *self.owners() == *decoded.owners
            && *self.membership() == decoded.membership
    }

    /// Replaces everything but its place and the pass. If only metadata was requested, the same object keeps its
    /// body, which is old if the version changed.
    pub(super) fn replace(&mut self, decoded: Decoded, change: u64, texts: &mut Texts) {
        let is_same = self.uid == decoded.uid && matches!(self.body(), Body::Whole(_));
        let is_kept = is_same && matches!(decoded.body, Body::NotAsked);
        let is_unchanged = self.version == decoded.version && self.version > 0;
        self.version = decoded.version;
        self.uid = decoded.uid;
        let labels = texts.share_labels(&decoded.labels);
        let membership = texts.share_membership(decoded.membership);
        self.change_more(|more| {
            more.change = change;
            more.owners = decoded.owners;
            more.labels = labels;
            more.membership = membership;
            if is_kept {
                more.is_body_old |= !is_unchanged;
            } else {
                more.body = decoded.body;
                more.is_body_old = false;
            }
            more.sought = None;
        });
    }

    /// Sets the place, and returns the previous place.
    pub(super) fn set_place(&mut self, place: GroupPlace) -> GroupPlace {
        if *self.place() == place {
            return place;
        }
        self.change_more(|more| std::mem::replace(&mut more.place, place))
    }

    /// Takes the objects that it names by relations.
    pub(super) fn take_sought(&mut self) -> Option<Sought> {
        self.more.as_mut()?.sought.take()
    }

    pub(super) fn seek(&mut self, sought: Option<Sought>) {
        if sought.is_some() || self.sought().is_some() {
            self.change_more(|more| more.sought = sought);
        }
    }

    /// Drops the body. Called when no application and no relation needs it.
    pub(super) fn drop_body(&mut self) {
        if matches!(self.body(), Body::Whole(_)) {
            self.change_more(|more| {
                more.body = Body::NotAsked;
                more.is_body_old = false;
            });
        }
    }

    /// The name of the application that it joins if there is only one of that name.
    pub(super) fn floats_to(&self) -> Option<Arc<str>> {
        let claim = self.membership().claims.first();
        let claim = claim.filter(|claim| claim.is_of_any_namespace)?;
        Some(Arc::clone(&claim.application.composite_app))
    }
}
