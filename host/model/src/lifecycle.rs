//! States of deployment intent groups, clusters and `AppContext`s.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

crate::words! {
    /// State after a lifecycle action on a deployment intent group or a cluster.
    LifecycleState {
        /// It was created.
        Created = "Created",
        /// It was approved for instantiation.
        Approved = "Approved",
        /// Network intents were applied to the cluster.
        Applied = "Applied",
        /// It was sent to its clusters.
        Instantiated = "Instantiated",
        /// It was removed from its clusters.
        Terminated = "Terminated",
        /// Sending was stopped.
        InstantiateStopped = "InstantiateStopped",
        /// Removing was stopped.
        TerminateStopped = "TerminateStopped",
        /// Another instantiation replaced it.
        Updated = "Updated",
    }
}

/// Status of an `AppContext`, in the words of the reference implementation.
///
/// Unknown words, written by orchestrators of other releases, are kept verbatim.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ContextStatus {
    /// Its resources are being sent.
    Instantiating,
    /// All its resources were sent.
    Instantiated,
    /// Sending failed.
    InstantiateFailed,
    /// Its resources are being removed.
    Terminating,
    /// All its resources were removed.
    Terminated,
    /// Removing failed.
    TerminateFailed,
    /// An unknown status, verbatim.
    Other(Arc<str>),
}

impl ContextStatus {
    const KNOWN: [Self; 6] = [
        Self::Instantiating,
        Self::Instantiated,
        Self::InstantiateFailed,
        Self::Terminating,
        Self::Terminated,
        Self::TerminateFailed,
    ];

    /// The word on the wire and in the store.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Instantiating => "Instantiating",
            Self::Instantiated => "Instantiated",
            Self::InstantiateFailed => "InstantiateFailed",
            Self::Terminating => "Terminating",
            Self::Terminated => "Terminated",
            Self::TerminateFailed => "TerminateFailed",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for ContextStatus {
    fn from(word: &str) -> Self {
        let mut known = Self::KNOWN.into_iter();
        let known = known.find(|status| status.as_str() == word);
        known.unwrap_or_else(|| Self::Other(word.into()))
    }
}

impl From<String> for ContextStatus {
    fn from(word: String) -> Self {
        word.as_str().into()
    }
}

impl From<ContextStatus> for String {
    fn from(status: ContextStatus) -> Self {
        status.as_str().to_owned()
    }
}

impl fmt::Display for ContextStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_survives_a_round_trip() {
        for status in ContextStatus::KNOWN {
            assert_eq!(ContextStatus::from(status.as_str()), status);
            let json = serde_json::to_string(&status).unwrap();
            assert_eq!(json, format!("\"{status}\""));
        }
        let other = ContextStatus::from("Updating");
        assert_eq!(other, ContextStatus::Other("Updating".into()));
        assert_eq!(serde_json::to_string(&other).unwrap(), r#""Updating""#);
    }
}
