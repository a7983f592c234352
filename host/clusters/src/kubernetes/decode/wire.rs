//! The members of responses that are read.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::kubernetes::shallow::ObjectText;

/// A `Status` of the API.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::kubernetes) struct Status {
    pub(in crate::kubernetes) message: String,
    pub(in crate::kubernetes) code: u16,
    pub(in crate::kubernetes) details: Option<StatusDetails>,
    pub(in crate::kubernetes) metadata: Option<ListMetadata>,
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

/// The metadata of a list. A status that refuses an expired list has the token for the rest of the list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::kubernetes) struct ListMetadata {
    pub(super) resource_version: String,
    pub(in crate::kubernetes) r#continue: Option<String>,
}

/// A line of a watch.
#[derive(Deserialize)]
pub(super) struct Event<'j> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'j, str>,
    #[serde(borrow)]
    pub(super) object: &'j RawValue,
}

/// Returns whether a bookmark ends a streamed list.
pub(super) fn is_end_of_list(bookmark: &ObjectText<'_>) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Marks {
        #[serde(rename = "k8s.io/initial-events-end")]
        is_end: Option<String>,
    }
    let metadata = bookmark.metadata.as_ref();
    let marks = metadata.and_then(|metadata| metadata.get("annotations"));
    let marks: Option<Marks> = marks.and_then(|marks| serde_json::from_str(marks).ok());
    marks.is_some_and(|marks| marks.is_end.as_deref() == Some("true"))
}
