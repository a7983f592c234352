//! States of deployment intent groups, clusters and `AppContext`s.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

crate::words! {
    /// The state that an action on a deployment intent group or a cluster led to.
    LifecycleState {
        /// It is known.
        Created = "Created",
        /// It may be instantiated.
        Approved = "Approved",
        /// A cluster got its network intents.
        Applied = "Applied",
        /// It was sent to its clusters.
        Instantiated = "Instantiated",
        /// It was taken away from its clusters.
        Terminated = "Terminated",
        /// Sending was stopped.
        InstantiateStopped = "InstantiateStopped",
        /// Taking away was stopped.
        TerminateStopped = "TerminateStopped",
        /// Another instantiation took its place.
        Updated = "Updated",
    }
}

/// The status of a whole `AppContext`, as the reference names it.
///
/// Orchestrators of other releases write words of their own; those are kept as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ContextStatus {
    /// Its resources are being sent.
    Instantiating,
    /// All of them were sent.
    Instantiated,
    /// Sending failed.
    InstantiateFailed,
    /// Its resources are being taken away.
    Terminating,
    /// All of them were taken away.
    Terminated,
    /// Taking away failed.
    TerminateFailed,
    /// A word of another orchestrator.
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
    fn every_word_is_read_back_as_what_it_was() {
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
