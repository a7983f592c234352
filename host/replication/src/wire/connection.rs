//! Connections to clusters.

use std::sync::Arc;

use kindsight_model::{
    AuditCounts, ClusterFacts, ClusterName, Coverage, CoverageEntry, KindState, ReportMode,
};
use kindsight_status::{ClusterOwner, ConnectionState, ConnectionView};
use serde::{Deserialize, Serialize};

use super::error::WireError;
use super::is_zero;

/// The connection to a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ConnectionLine {
    /// The cluster.
    pub cluster: Arc<str>,
    /// The connection; left out for a cluster that is not configured any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    connection: Option<WireConnection>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct WireConnection {
    /// The fencing number of the owner.
    #[serde(default, skip_serializing_if = "is_zero")]
    fence: u64,
    /// The name of the owner among the hosts that share clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<Arc<str>>,
    state: ConnectionState,
    since_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    faults: Vec<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heard_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<WireFacts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coverage: Option<WireCoverage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct WireFacts {
    origin: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<Arc<str>>,
    mode: ReportMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selector: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server_version: Option<Arc<str>>,
    objects: usize,
    watches: usize,
    sessions: u64,
    watch_failures: u64,
}

/// The Kinds that are not covered. No answer depends on the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct WireCoverage {
    others: KindState,
    not_covered: Vec<CoverageEntry>,
}

impl ConnectionLine {
    /// The form on the wire of a connection; `None` for a cluster that is not configured any more.
    pub(crate) fn of(cluster: &ClusterName, view: Option<&ConnectionView>) -> Self {
        Self {
            cluster: cluster.to_string().into(),
            connection: view.map(WireConnection::of),
        }
    }

    /// The cluster and its connection, which another host owns.
    pub(crate) fn read(self) -> Result<(ClusterName, Option<ConnectionView>), WireError> {
        let cluster = self.cluster.parse();
        let cluster = cluster.map_err(|_| WireError::name("the cluster", &self.cluster))?;
        Ok((cluster, self.connection.map(WireConnection::read)))
    }
}

impl WireConnection {
    fn of(view: &ConnectionView) -> Self {
        Self {
            fence: view.owner.fence,
            owner: view.owner.host.clone(),
            state: view.state,
            since_ms: view.since_ms,
            reason: view.reason.clone(),
            faults: view.faults.to_vec(),
            heard_ms: view.heard_ms,
            facts: view.facts.as_deref().map(WireFacts::of),
            coverage: view.coverage.as_ref().map(WireCoverage::of),
        }
    }

    fn read(self) -> ConnectionView {
        ConnectionView {
            owner: ClusterOwner {
                host: self.owner,
                fence: self.fence,
                is_remote: true,
            },
            state: self.state,
            since_ms: self.since_ms,
            reason: self.reason,
            faults: self.faults.into(),
            heard_ms: self.heard_ms,
            facts: self.facts.map(WireFacts::read).map(Arc::new),
            coverage: self.coverage.map(WireCoverage::read),
        }
    }
}

impl WireFacts {
    fn of(facts: &ClusterFacts) -> Self {
        Self {
            origin: Arc::clone(&facts.origin),
            identity: facts.identity.clone(),
            mode: facts.mode,
            selector: facts.selector.clone(),
            server_version: facts.server_version.clone(),
            objects: facts.objects,
            watches: facts.watches,
            sessions: facts.sessions,
            watch_failures: facts.watch_failures,
        }
    }

    fn read(self) -> ClusterFacts {
        ClusterFacts {
            origin: self.origin,
            identity: self.identity,
            mode: self.mode,
            selector: self.selector,
            server_version: self.server_version,
            objects: self.objects,
            watches: self.watches,
            sessions: self.sessions,
            watch_failures: self.watch_failures,
            // The host that watches the cluster counts its audits in its own metrics.
            audit: AuditCounts::default(),
        }
    }
}

impl WireCoverage {
    fn of(coverage: &Coverage) -> Self {
        Self {
            others: coverage.others().state,
            not_covered: coverage.not_covered().map(CoverageEntry::from).collect(),
        }
    }

    fn read(self) -> Coverage {
        let mut coverage = Coverage::of_others(self.others);
        coverage.extend(self.not_covered);
        coverage
    }
}
