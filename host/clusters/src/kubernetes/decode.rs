//! Lists and watch events of an API server, decoded.
//!
//! What nobody reads never stays in memory: `managedFields` and the configuration that `kubectl apply`
//! notes are taken out of the text before it is read as an object.

mod bookkeeping;
mod labels;
mod wire;

use std::sync::Arc;

use kindsight_contract::{Node, Tree};
use kindsight_model::{Gvk, OBJECT_BYTES_MAX, Object, ObjectError};

use super::bundle_states::BundleState;
use super::discovery::ApiKind;
use super::membership::{Membership, Rules};
use super::selector::Label;
use super::uid::Uid;
use bookkeeping::{metadata_object, without_bookkeeping};
pub(super) use labels::Labels;
pub(super) use wire::Status;
use wire::{Event, List, is_end_of_list, resource_version};

/// The amount that is asked of each object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Metadata alone.
    Metadata,
    /// Whole objects.
    Whole,
}

/// The way to read the objects of one Kind.
#[derive(Debug, Clone)]
pub(super) struct Decoder {
    pub(super) gvk: Gvk,
    pub(super) rules: Rules,
    pub(super) detail: Detail,
    /// The labels that are kept.
    pub(super) labels: Labels,
    /// True for a Kind whose objects are held by their metadata alone, such as Secrets.
    pub(super) is_metadata_enough: bool,
    /// True for the Kind ResourceBundleState, whose objects report on others.
    pub(super) is_bundle_state: bool,
}

/// One object of a list or an event.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) uid: Uid,
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
    /// Uids of its owners.
    pub(super) owners: Box<[Uid]>,
    /// Its labels, as far as they are kept.
    pub(super) labels: Arc<[Label]>,
    pub(super) membership: Membership,
    /// Its version, in the order of changes; 0 where the server counts in another way.
    pub(super) version: u64,
    pub(super) body: Body,
}

/// Knowledge of an object beside its metadata.
#[derive(Debug, Default)]
pub(super) enum Body {
    /// Nothing was asked for.
    #[default]
    NotAsked,
    /// The object.
    Whole(Object),
    /// It cannot be read; its Kind, and why.
    Unreadable(Box<(Gvk, ObjectError)>),
    /// A report on objects.
    BundleState(Box<BundleState>),
}

/// One page of a list.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) objects: Vec<Decoded>,
    pub(super) resource_version: String,
    /// The way to the next page; none on the last.
    pub(super) next: Option<String>,
}

/// One event of a watch.
#[derive(Debug)]
pub(super) enum WatchEvent {
    /// An object was added or changed.
    Applied(Box<Decoded>, String),
    /// An object was deleted.
    Deleted(Box<Decoded>, String),
    /// Nothing changed up to this version.
    Bookmark(String),
    /// All that there was came before, as of this version: the end of a list that is streamed.
    AllSent(String),
    /// The watch ends with a status.
    Error(Status),
}

impl Decoder {
    /// The way to read objects of a Kind. Of Secrets the metadata is all that is asked for.
    pub(super) fn new(kind: &ApiKind, rules: &Rules, detail: Detail, labels: Labels) -> Self {
        Self {
            gvk: kind.gvk.clone(),
            rules: rules.clone(),
            detail,
            labels,
            is_metadata_enough: kind.gvk.group.is_empty() && &*kind.gvk.kind == "Secret",
            is_bundle_state: kind.is_bundle_state(),
        }
    }

    fn asks_for_whole(&self) -> bool {
        self.detail == Detail::Whole && !self.is_metadata_enough
    }

    /// The form in which a list is asked for.
    pub(super) fn accept_list(&self) -> &'static str {
        if self.asks_for_whole() {
            "application/json"
        } else {
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
        }
    }

    /// The form in which events are asked for.
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
    /// The text of a page that is no list; one bad object does not cost the others.
    pub(super) fn page(&self, bytes: &[u8]) -> Result<Page, String> {
        let list: List<'_> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let items = list.items.unwrap_or_default();
        Ok(Page {
            objects: items.iter().map(|item| self.object(item.get())).collect(),
            resource_version: list.metadata.resource_version,
            next: list.metadata.r#continue.filter(|next| !next.is_empty()),
        })
    }

    /// Decodes a line of a watch.
    ///
    /// # Errors
    /// The text of a line that is no event.
    pub(super) fn event(&self, line: &[u8]) -> Result<WatchEvent, String> {
        let event: Event<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let json = event.object.get();
        let versioned = |decoded| (Box::new(decoded), resource_version(json));
        Ok(match &*event.kind {
            "ADDED" | "MODIFIED" => {
                let (object, version) = versioned(self.object(json));
                WatchEvent::Applied(object, version)
            }
            "DELETED" => {
                let (object, version) = versioned(self.object(json));
                WatchEvent::Deleted(object, version)
            }
            "BOOKMARK" if is_end_of_list(json) => WatchEvent::AllSent(resource_version(json)),
            "BOOKMARK" => WatchEvent::Bookmark(resource_version(json)),
            "ERROR" => WatchEvent::Error(serde_json::from_str(json).unwrap_or_default()),
            other => return Err(format!("an event of type `{other}`")),
        })
    }

    fn object(&self, json: &str) -> Decoded {
        if self.is_bundle_state {
            return self.bundle_state(json);
        }
        if json.len() > OBJECT_BYTES_MAX && self.asks_for_whole() {
            let mut decoded = self.metadata(json);
            let error = ObjectError::TooLarge(json.len());
            decoded.body = Body::Unreadable(Box::new((self.gvk.clone(), error)));
            return decoded;
        }
        match self.detail {
            _ if self.is_metadata_enough => self.whole(metadata_object(&self.gvk, json), json),
            Detail::Metadata => self.metadata(json),
            Detail::Whole => self.whole(without_bookkeeping(json), json),
        }
    }

    fn metadata(&self, json: &str) -> Decoded {
        let metadata = metadata_object(&self.gvk, json);
        let tree = Tree::read(&metadata).unwrap_or_default();
        let document = tree.document(&metadata);
        self.decoded(document.root(), Body::NotAsked)
    }

    fn bundle_state(&self, json: &str) -> Decoded {
        let metadata = metadata_object(&self.gvk, json);
        let tree = Tree::read(&metadata).unwrap_or_default();
        let document = tree.document(&metadata);
        let metadata = document.root().get("metadata");
        let status = (self.detail == Detail::Whole).then_some(json);
        let state = BundleState::read(metadata, status);
        Decoded {
            membership: Membership::of_bundle_state(metadata),
            ..self.decoded(document.root(), Body::BundleState(Box::new(state)))
        }
    }

    fn whole(&self, json: String, asked: &str) -> Decoded {
        match Object::from_json_as(json, &self.gvk) {
            Ok(object) => {
                let tree = object.tree();
                let text = Arc::clone(&object.json);
                let document = tree.document(&text);
                self.decoded(document.root(), Body::Whole(object))
            }
            Err(error) => {
                let mut decoded = self.metadata(asked);
                decoded.body = Body::Unreadable(Box::new((self.gvk.clone(), error)));
                decoded
            }
        }
    }

    fn decoded(&self, root: Node<'_>, body: Body) -> Decoded {
        let metadata = root.get("metadata");
        let text = |member: &str| Arc::from(metadata.get(member).text_or_empty());
        let owners = metadata.get("ownerReferences").items();
        let owners = owners.map(|owner| Uid::of(owner.get("uid").text_or_empty()));
        let owners = owners.filter(|uid| !uid.is_none());
        Decoded {
            uid: Uid::of(metadata.get("uid").text_or_empty()),
            namespace: text("namespace"),
            name: text("name"),
            owners: owners.collect(),
            labels: self.labels.of(metadata),
            membership: Membership::of(metadata, &self.rules),
            version: metadata
                .get("resourceVersion")
                .text_or_empty()
                .parse()
                .unwrap_or_default(),
            body,
        }
    }
}

#[cfg(test)]
mod tests;
