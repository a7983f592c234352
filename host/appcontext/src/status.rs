//! Stored states of clusters and resources, as they are written and read.

use serde::{Deserialize, Serialize};

/// A status as an object, with the member name of the reference.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct StatusValue<T> {
    pub(crate) status: T,
}
