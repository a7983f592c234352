//! Lists and watch events of an API server, decoded.
//!
//! `managedFields` and the configuration that `kubectl apply` stores are removed from the text before it is parsed,
//! so that they take no memory.

mod bookkeeping;
mod wire;

use std::sync::Arc;

use kindsight_cluster_index::{ApiKind, Body, Decoded, Labels, MembershipRules};
use kindsight_contract::{Node, Tree};
use kindsight_model::{Gvk, OBJECT_BYTES_MAX, Object, ObjectError};

use super::bundle_states::{self, ReadState};
use super::shallow::ObjectText;
use bookkeeping::{metadata_object, without_bookkeeping};
use wire::{Event, List, is_end_of_list};
pub(super) use wire::{Status, StatusDetails};

/// The requested part of each object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Only the metadata.
    Metadata,
    /// Complete objects.
    Whole,
}

/// The way to read the objects of one Kind.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    pub(super) gvk: Gvk,
    pub(super) rules: MembershipRules,
    pub(super) detail: Detail,
    /// The labels that the index keeps.
    pub(super) labels: Labels,
    /// True for a Kind with only metadata in the index, such as Secrets.
    pub(super) is_metadata_enough: bool,
    /// True for the Kind ResourceBundleState, whose objects report on others.
    pub(super) is_bundle_state: bool,
}

/// One item of a list or an event.
#[derive(Debug)]
pub(super) enum Item {
    /// An object, for the index.
    Object(Decoded),
    /// The report of a monitor.
    BundleState(ReadState),
}

/// One page of a list.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) objects: Vec<Item>,
    pub(super) resource_version: String,
    /// The continue token of the next page; none on the last page.
    pub(super) next: Option<String>,
}

/// One event of a watch.
#[derive(Debug)]
pub(super) enum WatchEvent {
    /// An object was added or changed.
    Applied(Box<Item>, String),
    /// An object was deleted.
    Deleted(Box<Item>, String),
    /// Objects are unchanged up to this version.
    Bookmark(String),
    /// Every object as of this version was sent: the end of a streamed list.
    AllSent(String),
    /// The watch ends with a status.
    Error(Status),
}

impl Decoder {
    /// The decoder for objects of a Kind. Of Secrets, only the metadata is requested.
    pub(super) fn new(
        kind: &ApiKind,
        rules: &MembershipRules,
        detail: Detail,
        labels: Labels,
    ) -> Self {
        Self {
            gvk: kind.gvk.clone(),
            rules: rules.clone(),
            detail,
            labels,
            is_metadata_enough: kind.gvk.group.is_empty() && &*kind.gvk.kind == "Secret",
            is_bundle_state: bundle_states::are(kind),
        }
    }

    fn asks_for_whole(&self) -> bool {
        self.detail == Detail::Whole && !self.is_metadata_enough
    }

    /// The media type that is requested for a list.
    pub(super) fn accept_list(&self) -> &'static str {
        if self.asks_for_whole() {
            "application/json"
        } else {
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
        }
    }

    /// The media type that is requested for watch events.
    pub(super) fn accept_watch(&self) -> &'static str {
        if self.asks_for_whole() {
            "application/json"
        } else {
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
        }
    }

    /// Decodes a page of a list.
    ///
    /// # Errors
    /// The reason why the page is no list. An unreadable object does not affect other objects.
    pub(super) fn page(&self, bytes: &[u8]) -> Result<Page, String> {
        let list: List<'_> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let items = list.items.unwrap_or_default();
        Ok(Page {
            objects: items
                .iter()
                .map(|item| self.item(&ObjectText::of(item.get())))
                .collect(),
            resource_version: list.metadata.resource_version,
            next: list.metadata.r#continue.filter(|next| !next.is_empty()),
        })
    }

    /// Decodes a line of a watch.
    ///
    /// # Errors
    /// The reason why the line is no event.
    pub(super) fn event(&self, line: &[u8]) -> Result<WatchEvent, String> {
        let event: Event<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let object = ObjectText::of(event.object.get());
        let version = object.resource_version();
        Ok(match &*event.kind {
            "ADDED" | "MODIFIED" => WatchEvent::Applied(Box::new(self.item(&object)), version),
            "DELETED" => WatchEvent::Deleted(Box::new(self.item(&object)), version),
            "BOOKMARK" if is_end_of_list(&object) => WatchEvent::AllSent(version),
            "BOOKMARK" => WatchEvent::Bookmark(version),
            "ERROR" => WatchEvent::Error(serde_json::from_str(object.json).unwrap_or_default()),
            other => return Err(format!("unknown event type `{other}`")),
        })
    }

    fn item(&self, object: &ObjectText<'_>) -> Item {
        if self.is_bundle_state {
            return Item::BundleState(self.bundle_state(object));
        }
        Item::Object(self.object(object))
    }

    fn object(&self, object: &ObjectText<'_>) -> Decoded {
        let bytes = object.json.len();
        if bytes > OBJECT_BYTES_MAX && self.asks_for_whole() {
            return self.unreadable(object, ObjectError::TooLarge(bytes));
        }
        match self.detail {
            _ if self.is_metadata_enough => self.whole(metadata_object(&self.gvk, object), object),
            Detail::Metadata => self.metadata(object, Body::NotAsked),
            Detail::Whole => self.whole(without_bookkeeping(object), object),
        }
    }

    fn metadata(&self, object: &ObjectText<'_>, body: Body) -> Decoded {
        let metadata = metadata_object(&self.gvk, object);
        let tree = Tree::read(&metadata).unwrap_or_default();
        let document = tree.document(&metadata);
        self.decoded(document.root(), body)
    }

    fn unreadable(&self, object: &ObjectText<'_>, error: ObjectError) -> Decoded {
        let body = Body::Unreadable(Box::new((self.gvk.clone(), error)));
        self.metadata(object, body)
    }

    fn bundle_state(&self, object: &ObjectText<'_>) -> ReadState {
        let metadata = metadata_object(&self.gvk, object);
        let tree = Tree::read(&metadata).unwrap_or_default();
        let document = tree.document(&metadata);
        let status = (self.detail == Detail::Whole).then_some(object.json);
        ReadState::read(document.root().get("metadata"), status)
    }

    fn whole(&self, json: String, asked: &ObjectText<'_>) -> Decoded {
        match Object::from_json_as(json, &self.gvk) {
            Ok(object) => {
                let tree = object.tree();
                let text = Arc::clone(&object.json);
                let document = tree.document(&text);
                self.decoded(document.root(), Body::Whole(object))
            }
            Err(error) => self.unreadable(asked, error),
        }
    }

    fn decoded(&self, root: Node<'_>, body: Body) -> Decoded {
        Decoded::read(&self.gvk, root, &self.rules, &self.labels, body)
    }
}

#[cfg(test)]
mod tests;
