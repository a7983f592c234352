//! The `Status` in an answer of the API server.

use serde::Deserialize;

use crate::kubernetes::connection::Reply;

/// Begins of the messages about a manifest that does not have the schema of its Kind. The API server answers with 500.
const WRONG_SCHEMA: [&str; 2] = [
    "failed to create typed patch object",
    "failed to convert new object",
];

/// A `Status`. Its message may contain content of the resource.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    kind: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) details: Details,
}

/// Details of a `Status`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Details {
    /// The plural of the Kind.
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) causes: Vec<Cause>,
}

/// A cause in a `Status`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cause {
    pub(super) reason: String,
    pub(super) field: String,
    /// May contain content of the resource.
    pub(super) message: String,
}

impl Status {
    /// The `Status` in an answer; empty if it has none.
    pub(super) fn of(reply: &Reply) -> Self {
        let read = serde_json::from_slice::<Self>(&reply.body).ok();
        read.filter(|status| status.kind == "Status")
            .unwrap_or_default()
    }

    /// Returns whether an object does not exist. Any other 404 is about the path.
    pub(super) fn is_of_missing_object(&self) -> bool {
        self.reason == "NotFound" && !self.details.name.is_empty()
    }

    /// Returns whether the namespace of the object is being deleted.
    pub(super) fn is_of_ending_namespace(&self) -> bool {
        let causes = &self.details.causes;
        causes
            .iter()
            .any(|cause| cause.reason == "NamespaceTerminating")
    }

    /// Returns whether the manifest does not have the schema of its Kind.
    pub(super) fn is_of_wrong_schema(&self) -> bool {
        let mut begins = WRONG_SCHEMA.into_iter();
        begins.any(|begin| self.message.starts_with(begin))
    }
}
