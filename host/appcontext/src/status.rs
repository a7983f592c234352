//! Stored states of clusters and resources, as they are written and read.

use serde::{Deserialize, Serialize};

/// The outcome of the last attempt to reach a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Connectivity {
    /// The cluster answered.
    Available,
    /// The cluster did not answer; it is tried again.
    Retrying,
}

/// A status as an object, with the member name of the reference.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct StatusValue<T> {
    pub(crate) status: T,
}
