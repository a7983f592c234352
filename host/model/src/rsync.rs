//! What happened to a resource when it was sent to its cluster.

use serde::{Deserialize, Serialize};

/// The rsync status of a resource, as the reference layout stores it (`{"Status":"Applied"}`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RsyncStatus {
    /// Not sent yet.
    Pending,
    /// The cluster accepted it.
    Applied,
    /// The cluster refused it.
    Failed,
    /// The cluster does not answer; it will be sent again.
    Retrying,
    /// It was taken away.
    Deleted,
}

impl RsyncStatus {
    /// The word on the wire and in the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Applied => "Applied",
            Self::Failed => "Failed",
            Self::Retrying => "Retrying",
            Self::Deleted => "Deleted",
        }
    }
}

impl std::fmt::Display for RsyncStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
