//! Objects as sources send them to the index.

use std::sync::Arc;

use kindsight_contract::Node;
use kindsight_model::{Gvk, Object, ObjectError};

use crate::inventory::Inventory;
use crate::labels::Label;
use crate::labels::Labels;
use crate::membership::{Membership, MembershipRules};
use crate::uid::Uid;

/// One object of a list or of a watch event.
#[derive(Debug)]
pub struct Decoded {
    pub(crate) uid: Uid,
    pub(crate) namespace: Arc<str>,
    pub(crate) name: Arc<str>,
    /// Uids of its owners.
    pub(crate) owners: Box<[Uid]>,
    /// Its labels, as far as they are kept.
    pub(crate) labels: Arc<[Label]>,
    pub(crate) membership: Membership,
    /// Its version, in the order of changes; 0 where the server counts in another way.
    pub(crate) version: u64,
    pub(crate) body: Body,
    /// The inventory in the body, if there is one.
    inventory: Option<Box<Inventory>>,
}

/// The content of an object beside its metadata.
#[derive(Debug, Default)]
pub enum Body {
    /// Only the metadata was requested.
    #[default]
    NotAsked,
    /// The object.
    Whole(Object),
    /// The object cannot be decoded; its Kind, and the reason.
    Unreadable(Box<(Gvk, ObjectError)>),
}

impl Decoded {
    /// Reads the metadata of an object of the Kind `gvk`, and decides by `rules` which application the metadata names.
    ///
    /// `root` is the object, or an object with the same `metadata` and nothing else. Members that are missing or
    /// have another type count as empty. `labels` are the labels to keep for relations.
    ///
    /// Connections call it once for each object of a list and for each watch event.
    pub fn read(
        gvk: &Gvk,
        root: Node<'_>,
        rules: &MembershipRules,
        labels: &Labels,
        body: Body,
    ) -> Self {
        let metadata = root.get("metadata");
        let text = |member: &str| Arc::from(metadata.get(member).text_or_empty());
        let owners = metadata.get("ownerReferences").items();
        let owners = owners.map(|owner| Uid::of(owner.get("uid").text_or_empty()));
        let owners = owners.filter(|uid| !uid.is_none());
        Self {
            uid: Uid::of(metadata.get("uid").text_or_empty()),
            namespace: text("namespace"),
            name: text("name"),
            owners: owners.collect(),
            labels: labels.of(metadata),
            membership: Membership::of(gvk, metadata, rules),
            version: metadata
                .get("resourceVersion")
                .text_or_empty()
                .parse()
                .unwrap_or_default(),
            inventory: match &body {
                Body::Whole(_) => Inventory::of(gvk, root, rules).map(Box::new),
                Body::NotAsked | Body::Unreadable(_) => None,
            },
            body,
        }
    }

    /// The namespace of the object; empty if it has none.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name of the object; empty if it cannot be read.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether its content was requested, so that its inventory is known.
    pub(crate) fn is_read(&self) -> bool {
        !matches!(self.body, Body::NotAsked)
    }

    /// Takes the inventory of the object; none if the object has none, or was not read.
    pub(crate) fn take_inventory(&mut self) -> Option<Inventory> {
        self.inventory.take().map(|inventory| *inventory)
    }

    /// The content of the object beside its metadata.
    pub fn body(&self) -> &Body {
        &self.body
    }
}

#[cfg(test)]
mod tests;
