//! Answers of API servers, as far as they are read.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A `Status` of the API.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::kubernetes) struct Status {
    pub(in crate::kubernetes) message: String,
    pub(in crate::kubernetes) code: u16,
}

/// A page of a list.
#[derive(Deserialize)]
pub(super) struct List<'j> {
    #[serde(default)]
    pub(super) metadata: ListMetadata,
    #[serde(borrow, default)]
    pub(super) items: Option<Vec<&'j RawValue>>,
}

/// The metadata of a list.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ListMetadata {
    pub(super) resource_version: String,
    pub(super) r#continue: Option<String>,
}

/// A line of a watch.
#[derive(Deserialize)]
pub(super) struct Event<'j> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'j, str>,
    #[serde(borrow)]
    pub(super) object: &'j RawValue,
}

/// An object, as far as bookmarks are read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Versioned {
    metadata: VersionedMetadata,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VersionedMetadata {
    resource_version: String,
}

/// The version of an object; empty where it has none.
pub(super) fn resource_version(json: &str) -> String {
    let read: Versioned = serde_json::from_str(json).unwrap_or_default();
    read.metadata.resource_version
}

/// Returns whether a bookmark ends a list that is streamed.
pub(super) fn is_end_of_list(json: &str) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Marked {
        metadata: Marks,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Marks {
        annotations: Mark,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Mark {
        #[serde(rename = "k8s.io/initial-events-end")]
        is_end: Option<String>,
    }
    let read: Marked = serde_json::from_str(json).unwrap_or_default();
    read.metadata.annotations.is_end.as_deref() == Some("true")
}
