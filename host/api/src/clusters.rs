//! Clusters and the connections to them.

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
pub use kindsight_model::ReportMode;
use kindsight_model::words;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::StoreState;

words! {
    /// State of the connection to a cluster.
    #[derive(Default)]
    Connection {
        /// The cluster has not reported yet.
        #[default]
        Connecting = "connecting",
        /// The cluster was listed completely, and its changes are followed.
        Connected = "connected",
        /// The cluster cannot be reached. Its last known state is shown.
        Stale = "stale",
    }
}

words! {
    /// Coverage of the Kinds of a watched cluster.
    ClusterCoverage {
        /// Every Kind that is not excluded was listed and is watched.
        Complete = "complete",
        /// Some Kinds cannot be watched. `not-covered` lists them with the reasons.
        Partial = "partial",
    }
}

/// All configured clusters, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterList<'a> {
    /// The clusters.
    #[serde(borrow)]
    #[schema(value_type = Vec<ClusterConnection<'a>>)]
    pub clusters: Vec<ClusterConnection<'a>>,
    /// The store of `AppContext`s, while it cannot be reached.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub store: Option<StoreState<'a>>,
}

/// One cluster, and the connection to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterConnection<'a> {
    /// The provider of the cluster.
    #[serde(borrow)]
    #[schema(example = "kubeconfig")]
    pub cluster_provider: Cow<'a, str>,
    /// The name of the cluster at that provider.
    #[serde(borrow)]
    #[schema(example = "prod-eu")]
    pub cluster: Cow<'a, str>,
    /// The name of the cluster in its configuration, such as a context of a kubeconfig.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "admin@prod-eu")]
    pub origin: Cow<'a, str>,
    /// The source of the reports on the apps of `AppContext`s, if it is not `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReportMode)]
    pub mode: Option<ReportMode>,
    /// The label selector of the objects that belong to applications, if not all objects do. An
    /// object is not shown if the selector does not match it and no object of an application owns
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "team=web")]
    pub selector: Option<Cow<'a, str>>,
    /// The state of the connection.
    pub connection: Connection,
    /// The coverage of its Kinds. Omitted for folders, and for an API server that is being listed or
    /// cannot be reached and has no known gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ClusterCoverage)]
    pub coverage: Option<ClusterCoverage>,
    /// Start time of this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The reason why it is stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "the cluster cannot be reached: connection refused")]
    pub error: Option<Cow<'a, str>>,
    /// The version of its API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "v1.34.1")]
    pub server_version: Option<Cow<'a, str>>,
    /// Kinds that are not watched, with the reasons. At most the first 100.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub not_covered: Cow<'a, [Arc<str>]>,
    /// Number of objects of applications in memory. Omitted if the user may not see every application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = usize)]
    pub objects: Option<usize>,
    /// Number of watched Kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = usize)]
    pub watches: Option<usize>,
    /// The time of the last report or change from the cluster, or of its last complete listing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub last_event: Option<Timestamp>,
    /// The host that watches the cluster, if hosts share clusters.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Owner<'a>)]
    pub owner: Option<Owner<'a>>,
    /// The faults of its reports whose application cannot be determined because they cannot be
    /// read. At most the first 20. Omitted if the user may not see every application.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub faults: Cow<'a, [Arc<str>]>,
}

/// The host that watches a cluster, among the hosts that share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Owner<'a> {
    /// The name of the host: the authority of the URL at which the other hosts reach it.
    #[serde(borrow)]
    #[schema(example = "10.0.0.1:9015")]
    pub host: Cow<'a, str>,
    /// The fencing number of its lease. Each later owner of the cluster has a greater number. Omitted until the host
    /// has listed the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64, example = 4711)]
    pub lease: Option<u64>,
}
