//! Lines about the cluster and the connection to it.

use std::sync::Arc;

use kindsight_model::{ClusterFacts, ReportMode};
use serde::{Deserialize, Serialize};

/// The cluster no longer reports on an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct GoneLine {
    /// The value of the label `emco/deployment-id`.
    pub deployment: String,
}

/// A report that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct UnreadableLine {
    /// The app of the report, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<String>,
    /// True if the report may be newer than the previous report.
    #[serde(default)]
    pub may_be_newer: bool,
    /// Its origin, as text for people.
    pub origin: String,
    /// The reason, as text for people.
    pub error: String,
}

/// The cluster does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StaleLine {
    /// The complete reason, as text for people.
    pub reason: String,
}

/// The answer to a request for confirmation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConfirmedLine {
    /// The number of the request.
    pub id: u64,
    /// The reason if it is not confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Facts about the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FactsLine {
    /// The name of the cluster in the configuration of the agent.
    pub origin: Arc<str>,
    /// Identity of the cluster: equal texts mean the same cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Arc<str>>,
    /// The word of the source of reports on the apps of `AppContext`s.
    pub mode: String,
    /// The label selector for objects that can form found applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<Arc<str>>,
    /// Version of the API server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_version: Option<Arc<str>>,
    /// Number of objects of applications.
    pub objects: usize,
    /// Number of watched Kinds.
    pub watches: usize,
    /// Number of sessions that the API server accepted.
    pub sessions: u64,
    /// Number of failures of watches.
    pub watch_failures: u64,
}

impl From<&ClusterFacts> for FactsLine {
    fn from(facts: &ClusterFacts) -> Self {
        Self {
            origin: Arc::clone(&facts.origin),
            identity: facts.identity.clone(),
            mode: facts.mode.to_string(),
            selector: facts.selector.clone(),
            server_version: facts.server_version.clone(),
            objects: facts.objects,
            watches: facts.watches,
            sessions: facts.sessions,
            watch_failures: facts.watch_failures,
        }
    }
}

impl From<FactsLine> for ClusterFacts {
    fn from(line: FactsLine) -> Self {
        let mut modes = ReportMode::ALL.iter();
        let mode = modes.find(|mode| mode.as_str() == line.mode);
        Self {
            origin: line.origin,
            identity: line.identity,
            mode: mode.copied().unwrap_or_default(),
            selector: line.selector,
            server_version: line.server_version,
            objects: line.objects,
            watches: line.watches,
            sessions: line.sessions,
            watch_failures: line.watch_failures,
            // An agent makes no audits.
            ..Self::default()
        }
    }
}
