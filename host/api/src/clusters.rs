//! Clusters and the connections to them.

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use kindsight_model::words;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::StoreState;

words! {
    /// State of the connection to a cluster.
    #[derive(Default)]
    Connection {
        /// It was not heard yet.
        #[default]
        Connecting = "connecting",
        /// It was listed in full, and its changes are followed.
        Connected = "connected",
        /// It cannot be reached; what was last known is shown.
        Stale = "stale",
    }
}

words! {
    /// Coverage of the Kinds of a watched cluster.
    ClusterCoverage {
        /// Every Kind that is not left out is watched.
        Complete = "complete",
        /// Some Kinds cannot be watched; `not-covered` says which and why.
        Partial = "partial",
    }
}

words! {
    /// The view by which the apps of `AppContext`s are reported.
    #[derive(Default)]
    ReportMode {
        /// By the ResourceBundleState of the app where there is one that can be used, else by its objects.
        #[default]
        Auto = "auto",
        /// By the ResourceBundleState of the app alone.
        Bundles = "bundles",
        /// By objects alone.
        Direct = "direct",
    }
}

/// Every cluster that is configured, in order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ClusterList<'a> {
    /// The clusters.
    #[serde(borrow)]
    #[schema(value_type = Vec<ClusterConnection<'a>>)]
    pub clusters: Vec<ClusterConnection<'a>>,
    /// The store of `AppContext`s, while it is away.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub store: Option<StoreState<'a>>,
}

/// One cluster and the connection to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterConnection<'a> {
    /// Provider of the cluster.
    #[serde(borrow)]
    #[schema(example = "kubeconfig")]
    pub cluster_provider: Cow<'a, str>,
    /// Name of the cluster at that provider.
    #[serde(borrow)]
    #[schema(example = "prod-eu")]
    pub cluster: Cow<'a, str>,
    /// Name of the cluster where it was configured, such as a context of a kubeconfig.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "admin@prod-eu")]
    pub origin: Cow<'a, str>,
    /// The view by which the apps of `AppContext`s are reported, where it is not `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReportMode)]
    pub mode: Option<ReportMode>,
    /// Label selector of the objects that belong to applications by themselves, where not all do: of one that
    /// it does not select, and that none of an application owns, nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "team=web")]
    pub selector: Option<Cow<'a, str>>,
    /// State of the connection.
    pub connection: Connection,
    /// Coverage of its Kinds; left out until an API server was listed, and for folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ClusterCoverage)]
    pub coverage: Option<ClusterCoverage>,
    /// Time since when it is in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The reason why it is stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "the cluster cannot be reached: connection refused")]
    pub error: Option<Cow<'a, str>>,
    /// Version of its API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "v1.34.1")]
    pub server_version: Option<Cow<'a, str>>,
    /// Kinds that are not watched, with the reason; the first 100.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub not_covered: Cow<'a, [Arc<str>]>,
    /// Number of objects of applications that are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = usize)]
    pub objects: Option<usize>,
    /// Number of Kinds that are watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = usize)]
    pub watches: Option<usize>,
    /// Time when the cluster last told anything: a report, a change of one, or that everything was listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub last_event: Option<Timestamp>,
    /// Its reports about nobody knows which application that could not be read; the first 20.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub faults: Cow<'a, [Arc<str>]>,
}
