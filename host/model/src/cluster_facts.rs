//! Facts about a cluster, for users.

use std::sync::Arc;

crate::words! {
    /// The source of the reports on the apps of `AppContext`s.
    #[derive(Default)]
    ReportMode {
        /// The ResourceBundleState of the app if it can be used, or else the app's objects.
        #[default]
        Auto = "auto",
        /// Only the ResourceBundleState of the app.
        Bundles = "bundles",
        /// Only objects.
        Direct = "direct",
    }
}

/// Facts about a cluster and the connection to it, from the source of the cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClusterFacts {
    /// The name of the cluster in its configuration, such as a context of a kubeconfig.
    pub origin: Arc<str>,
    /// Identity of the cluster as text: equal texts mean the same cluster. `None` until it is known.
    pub identity: Option<Arc<str>>,
    /// The source of the reports on the apps of `AppContext`s.
    pub mode: ReportMode,
    /// The label selector for objects that can form found applications, in the syntax of `kubectl --selector`; `None`
    /// selects all objects.
    pub selector: Option<Arc<str>>,
    /// Version of its API server; `None` before its first answer.
    pub server_version: Option<Arc<str>>,
    /// Number of objects of applications in memory.
    pub objects: usize,
    /// Number of watched Kinds.
    pub watches: usize,
    /// Number of sessions that the API server accepted since the start.
    pub sessions: u64,
    /// Number of failures of watches since the start. A failure whose first repetition succeeds does not count.
    pub watch_failures: u64,
    /// Results of the audits since the start.
    pub audit: AuditCounts,
}

/// Results of the audits of a cluster. An audit compares samples of the index with the API server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditCounts {
    /// Number of samples without a drift.
    pub same: u64,
    /// Number of samples with a drift.
    pub drifted: u64,
    /// Number of samples without a result: a request failed, or the watch did not reach the version of the sample in
    /// time.
    pub inconclusive: u64,
    /// Number of objects in all samples with a result.
    pub objects: u64,
    /// Number of objects whose state in the index differed from the state at the server.
    pub drifts: u64,
}
