//! The members of responses that are read.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A `Status` of the API.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::kubernetes) struct Status {
    pub(in crate::kubernetes) message: String,
    pub(in crate::kubernetes) code: u16,
    pub(in crate::kubernetes) details: Option<StatusDetails>,
}

/// Details of a `Status`.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::kubernetes) struct StatusDetails {
    pub(in crate::kubernetes) retry_after_seconds: u32,
}

impl StatusDetails {
    /// The time that the server asks clients to wait before they try again.
    pub(in crate::kubernetes) fn retry_after(self) -> Option<Duration> {
        let seconds = u64::from(self.retry_after_seconds);
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }
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

/// The members of an object that are read from bookmarks.
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

/// The version of an object; empty if it has none.
pub(super) fn resource_version(json: &str) -> String {
    let read: Versioned = serde_json::from_str(json).unwrap_or_default();
    read.metadata.resource_version
}

/// Returns whether a bookmark ends a streamed list.
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
