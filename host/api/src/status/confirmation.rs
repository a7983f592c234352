//! Confirmations that a status is not older than the clusters.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The result of a comparison of a status with consistent lists of the clusters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Confirmation<'a> {
    /// True if the Kinds of the application have no object in a cluster that is newer than the status.
    pub confirmed: bool,
    /// The reason why the status is not confirmed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "cluster p+edge01: it is not connected")]
    pub reason: Option<Cow<'a, str>>,
}
