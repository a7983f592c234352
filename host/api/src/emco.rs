//! Status queries in EMCO's newer dialect: parameters and answers of its releases up to v22.09.
//!
//! Members, their names and their order are the same as in EMCO's own types. A member that EMCO's
//! encoder omits if it is empty is omitted here too. EMCO's clients can read these answers without
//! changes.
//!
//! The parameter `R` of an answer is written as a list of [`ResourceStatus`], in the same way as in
//! [`Status`](crate::status::Status).

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

mod document;
mod listing;
mod parameters;
mod resource;

use std::borrow::Cow;
use std::collections::BTreeMap;

use kindsight_model::{Connectivity, ContextStatus, LifecycleState};
use serde::Serialize;
use utoipa::ToSchema;

use crate::status::ResourceName;

pub use document::{EmcoClusterAnswer, EmcoGroupAnswer, EmcoLogicalCloudAnswer};
pub use listing::{AppClusters, AppResources, ClusterRef, EmcoNameList, EmcoNames};
pub use parameters::{EmcoParameters, QueryStatus};
pub use resource::{ReadyStatus, ResourceStatus};

/// Media type with which a request asks for this dialect. Answers are `application/json`, like
/// EMCO's.
pub const MEDIA_TYPE: &str = "application/vnd.emco.v22+json";

/// The answer to a query in EMCO's newer dialect: the status of a group, of a cluster or of a
/// logical cloud, or the names that `apps`, `clusters` and `resources` ask for.
// Not for deserialization: the client's request determines the type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EmcoAnswer<'a, R = Vec<ResourceStatus<'a>>, N = Vec<ResourceName<'a>>> {
    /// The answer about a deployment intent group.
    Group(Box<GroupStatus<'a, R>>),
    /// The answer about a cluster's own resources.
    Cluster(Box<ClusterStatus<'a, R>>),
    /// The answer about a logical cloud.
    LogicalCloud(Box<LogicalCloudStatus<'a, R>>),
    /// The answer to a query with `apps`, `clusters` or `resources`.
    Names(EmcoNames<'a, N>),
}

/// Status of a deployment intent group, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(bound = "")]
pub struct GroupStatus<'a, R = Vec<ResourceStatus<'a>>> {
    /// The composite application that contains the group.
    #[serde(flatten)]
    pub app: EmcoCompositeApp<'a>,
    /// The overall status.
    #[serde(flatten)]
    pub result: StatusResult<'a>,
    /// The apps with selected resources. Omitted with `output=summary`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<AppStatus<'a>>)]
    pub apps: Vec<AppStatus<'a, R>>,
    /// Ids of the `AppContext`s that the group's own `AppContext` lists as children.
    #[serde(rename = "ChildContextIDs", skip_serializing_if = "Vec::is_empty")]
    pub child_context_ids: Vec<Cow<'a, str>>,
}

/// Status of a cluster's own resources, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(bound = "")]
pub struct ClusterStatus<'a, R = Vec<ResourceStatus<'a>>> {
    /// The overall status.
    #[serde(flatten)]
    pub result: StatusResult<'a>,
    /// The cluster with the selected resources. It has no members if no resource is selected, and
    /// with `output=summary`.
    #[schema(value_type = PlacementStatus<'a>)]
    pub cluster: PlacementStatus<'a, R>,
}

/// Status of a logical cloud, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(bound = "")]
pub struct LogicalCloudStatus<'a, R = Vec<ResourceStatus<'a>>> {
    /// The project.
    #[schema(example = "testvfw")]
    pub project: Cow<'a, str>,
    /// The overall status.
    #[serde(flatten)]
    pub result: StatusResult<'a>,
    /// Ids of the `AppContext`s that its own `AppContext` lists as children.
    #[serde(rename = "ChildContextIDs", skip_serializing_if = "Vec::is_empty")]
    pub child_context_ids: Vec<Cow<'a, str>>,
    /// The clusters with selected resources. Omitted with `output=summary`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<PlacementStatus<'a>>)]
    pub clusters: Vec<PlacementStatus<'a, R>>,
}

/// The composite application that contains a deployment intent group. Clusters and logical clouds
/// have none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmcoCompositeApp<'a> {
    /// The project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "testvfw")]
    pub project: Option<Cow<'a, str>>,
    /// The composite application.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "compositevfw")]
    pub composite_app: Option<Cow<'a, str>>,
    /// The version of the composite application at the time of instantiation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "v1")]
    pub composite_app_version: Option<Cow<'a, str>>,
    /// The composite profile of the deployment.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub composite_profile: Option<Cow<'a, str>>,
}

/// The overall status: the common part of EMCO's answers about groups, clusters and logical clouds.
/// With `type=all`, it has the members of `type=rsync` and of `type=cluster`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusResult<'a> {
    /// The deployment intent group, the cluster as `provider+name`, or the logical cloud.
    pub name: Cow<'a, str>,
    /// Lifecycle actions so far.
    pub states: States<'a>,
    /// With `type`: status of the `AppContext`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Instantiated")]
    pub status: Option<ContextStatus>,
    /// With `status`: status of the `AppContext`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Instantiated")]
    pub deployed_status: Option<ContextStatus>,
    /// With `status=ready`, and for groups with `type=cluster`: the rolled-up state of all selected
    /// resources, never `NotPresent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReadyStatus)]
    pub ready_status: Option<ReadyStatus>,
    /// With `type=rsync`: number of selected resources by `rsyncStatus`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Applied": 12}))]
    pub rsync_status: BTreeMap<Cow<'a, str>, u32>,
    /// With `type=cluster`: number of selected resources by `clusterStatus`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Ready": 11, "NotReady": 1}))]
    pub cluster_status: BTreeMap<Cow<'a, str>, u32>,
    /// With `status=deployed`: number of selected resources by `deployedStatus`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Applied": 12}))]
    pub deployed_counts: BTreeMap<Cow<'a, str>, u32>,
    /// With `status=ready`: number of selected resources by `readyStatus`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Ready": 11, "NotReady": 1}))]
    pub ready_counts: BTreeMap<Cow<'a, str>, u32>,
}

/// Lifecycle actions, in EMCO's newer dialect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct States<'a> {
    /// Id of the `AppContext` that contains the statuses. Empty if it is unknown.
    #[serde(rename = "statusctxid")]
    pub status_context: Cow<'a, str>,
    /// The actions, oldest first.
    pub actions: Vec<StateAction<'a>>,
}

/// One lifecycle action, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct StateAction<'a> {
    /// The state it led to.
    pub state: LifecycleState,
    /// Id of the `AppContext` of the action. Empty if it has none.
    pub instance: Cow<'a, str>,
    /// Time of the action, as it was recorded. `0001-01-01T00:00:00Z` for an action without a
    /// record.
    #[schema(value_type = String, format = DateTime)]
    pub time: Cow<'a, str>,
    /// Number of the revision that the action made. 0 if it made none.
    pub revision: i64,
}

/// The text for a missing time: Go's zero time, which EMCO writes and its clients read.
pub const NO_TIME: &str = "0001-01-01T00:00:00Z";

/// One app of a deployment intent group, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(bound = "")]
pub struct AppStatus<'a, R = Vec<ResourceStatus<'a>>> {
    /// Name of the app.
    #[schema(example = "sink")]
    pub name: Cow<'a, str>,
    /// The clusters with selected resources.
    #[schema(value_type = Vec<PlacementStatus<'a>>)]
    pub clusters: Vec<PlacementStatus<'a, R>>,
}

/// One app in one cluster, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(bound = "")]
pub struct PlacementStatus<'a, R = Vec<ResourceStatus<'a>>> {
    /// Provider of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "vfw-cluster-provider")]
    pub cluster_provider: Option<Cow<'a, str>>,
    /// Name of the cluster at that provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "edge01")]
    pub cluster: Option<Cow<'a, str>>,
    /// With `type`: the same as `connectivity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Connectivity)]
    pub ready_status: Option<Connectivity>,
    /// With `status`: `Available`, `Retrying` if the cluster cannot be reached or its report may be
    /// outdated, or `Unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Connectivity)]
    pub connectivity: Option<Connectivity>,
    /// The selected resources: first the resources with a manifest in the order of the
    /// `AppContext`, then the resources that exist only in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<ResourceStatus<'a>>)]
    pub resources: Option<R>,
}

impl<R> Default for PlacementStatus<'_, R> {
    fn default() -> Self {
        Self {
            cluster_provider: None,
            cluster: None,
            ready_status: None,
            connectivity: None,
            resources: None,
        }
    }
}
