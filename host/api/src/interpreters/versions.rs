//! Versions of an interpreter, and the history of its changes.

use jiff::Timestamp;
use kindsight_model::{CatalogAction, Digest, Source, VersionOutcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ChangedBy;

/// One version of an interpreter, which is one component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct InterpreterVersion {
    /// The digest of the component, `sha256:` and 64 hex digits.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// The version, as the component names it. Empty if the component was refused before its
    /// version was known.
    #[schema(example = "1.0.0")]
    pub version: String,
    /// Source of the component.
    pub source: Source,
    /// State of this version.
    pub outcome: VersionOutcome,
    /// The reason of the state. Omitted if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// The time at which the component was received.
    #[schema(value_type = String, format = DateTime)]
    pub received: Timestamp,
}

/// One change of an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct HistoryEntry {
    /// Time of the change.
    #[schema(value_type = String, format = DateTime)]
    pub time: Timestamp,
    /// The change.
    pub action: CatalogAction,
    /// The source that made the change, or `host`.
    pub source: ChangedBy,
    /// The digest of the component that the change concerned. Empty if it concerned none.
    #[serde(with = "digest_or_empty")]
    #[schema(value_type = String)]
    pub digest: Option<Digest>,
    /// The version of that component, as it names it. Can be empty.
    pub version: String,
    /// The result of the change, as a sentence.
    #[schema(example = "live in place of 1.0.0")]
    pub outcome: String,
}

/// A digest, or an empty text for `None`.
mod digest_or_empty {
    use kindsight_model::Digest;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands over a reference")]
    pub(super) fn serialize<S: Serializer>(
        digest: &Option<Digest>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(digest.as_ref().map_or("", Digest::as_str))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Digest>, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "" => Ok(None),
            digest => digest.parse().map(Some).map_err(D::Error::custom),
        }
    }
}
