//! Status queries: parameters and answers.
//!
//! Members, their names and their order are the same as in the specification. The additional
//! members are `message`, `faults`, `stale-since`, `stale-reason`, `unanswered`, the members that begin with
//! `ready-` and, on a resource, all members from `namespace` on.
//!
//! The parameter `R` of [`Status`] and of its parts is written as a list of [`Resource`]. A client
//! reads all resources. The server passes a list that makes each resource when it is written, so
//! that a large answer is never completely in memory.

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

mod confirmation;
mod detail;
mod listing;
mod parameters;
mod resource;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use kindsight_model::{ContextStatus, LifecycleState, Phase};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::StoreState;

pub use confirmation::Confirmation;
pub use detail::Detail;
pub use listing::{
    ClustersOfApp, Listing, NameList, NamedCluster, Names, ResourceName, ResourcesOfApp,
};
pub use parameters::{Dialect, ListingParameters, Output, QueryType, StatusParameters};
pub use resource::{Resource, ResourceOwner};

/// Media type with which a request asks for this dialect, regardless of the server's setting.
/// Answers are `application/json`.
pub const MEDIA_TYPE: &str = "application/vnd.kindsight+json";

/// The answer to a status query: a status, a list of instances (with `instance` without a value),
/// or a list of names.
// Not for deserialization: the client's request determines the type.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum StatusAnswer<'a, R = Vec<Resource<'a>>, N = Vec<ResourceName<'a>>> {
    /// The answer to a query about one instance.
    #[schema(value_type = Status<'a>)]
    Status(Box<Status<'a, R>>),
    /// The answer to a query with `instance` without a value.
    Instances(Instances<'a>),
    /// The answer to a query with `apps`, `clusters` or `resources`.
    #[schema(value_type = Names<'a>)]
    Names(Names<'a, N>),
}

/// Status of a deployment intent group, of a cluster's own resources or of a logical cloud. With
/// `type=all`, it has the members of `type=rsync` and of `type=cluster`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(bound = "")]
pub struct Status<'a, R = Vec<Resource<'a>>> {
    /// The composite application that contains the group.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// The logical cloud, if this is the status of a logical cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub logical_cloud: Option<Cow<'a, str>>,
    /// The deployment intent group, the cluster as `provider+name`, or the logical cloud.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Lifecycle actions so far.
    #[serde(borrow)]
    pub state: State<'a>,
    /// The status of the `AppContext`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Instantiated")]
    pub status: Option<ContextStatus>,
    /// The reason why there is no further information, such as that the application was never
    /// instantiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub message: Option<Cow<'a, str>>,
    /// The store of `AppContext`s, while it cannot be reached. Omitted while it can be reached, and
    /// for applications that were found in clusters.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub store: Option<StoreState<'a>>,
    /// The store of lifecycle states that the orchestrator keeps besides its `AppContext`s, while
    /// it cannot be reached. `state` is then the last state that was read from it.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub state_store: Option<StoreState<'a>>,
    /// With `type=rsync`: number of selected resources that were sent, by rsync status.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Applied": 12}))]
    pub rsync_status: BTreeMap<Cow<'a, str>, u32>,
    /// With `type=cluster`: number of selected resources by state, including children.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Ready": 11, "Pending": 1}))]
    pub cluster_status: BTreeMap<Cow<'a, str>, u32>,
    /// With `type=cluster`: the rolled-up state of all selected resources.
    #[serde(flatten, borrow)]
    #[schema(value_type = Readiness<'a>)]
    pub readiness: Readiness<'a>,
    /// Unreadable parts, each with its place: of the `AppContext`, of the reports of the selected
    /// clusters on the selected apps, and of reports whose application cannot be determined. At
    /// most the first 20.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub faults: Cow<'a, [Arc<str>]>,
    /// The apps with selected resources. Omitted with `output=summary`.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<App<'a>>)]
    pub apps: Vec<App<'a, R>>,
}

/// Instances of a deployment intent group, a cluster or a logical cloud: the answer to `instance` without a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Instances<'a> {
    /// The deployment intent group, the cluster as `provider+name`, or the logical cloud.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// The logical cloud, if these are the instances of a logical cloud.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub logical_cloud: Option<Cow<'a, str>>,
    /// The composite application that contains the group. `composite-profile-name` is omitted.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// Ids of the `AppContext`s of its instantiations, oldest first.
    #[schema(example = json!(["2621114006130701074"]))]
    pub instances: Vec<Cow<'a, str>>,
}

/// The composite application that contains a deployment intent group. Clusters have none, and
/// logical clouds have only the project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CompositeApp<'a> {
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "testvfw")]
    pub project: Option<Cow<'a, str>>,
    /// The composite application.
    #[serde(
        rename = "composite-app-name",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = String, example = "compositevfw")]
    pub name: Option<Cow<'a, str>>,
    /// The version of the composite application at the time of instantiation.
    #[serde(
        rename = "composite-app-version",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = String, example = "v1")]
    pub version: Option<Cow<'a, str>>,
    /// The composite profile of the deployment.
    #[serde(
        rename = "composite-profile-name",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = String)]
    pub profile: Option<Cow<'a, str>>,
}

/// Lifecycle actions on a deployment intent group, a cluster or a logical cloud.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct State<'a> {
    /// The actions, oldest first.
    #[serde(borrow)]
    pub actions: Vec<Action<'a>>,
}

/// One lifecycle action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Action<'a> {
    /// The state after the action.
    pub state: LifecycleState,
    /// Id of the `AppContext` of the action. Empty if it has none.
    #[serde(borrow)]
    pub context_id: Cow<'a, str>,
    /// Time of the action, as it was recorded. Omitted for an action without a record, which is
    /// derived from an `AppContext`.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(value_type = String, format = DateTime)]
    pub time_stamp: Cow<'a, str>,
    /// The revision of the group that the action made or left, as its orchestrator counts
    /// revisions. Omitted if there is none.
    #[serde(default, skip_serializing_if = "is_none")]
    #[schema(value_type = i64, example = 1)]
    pub revision: i64,
}

/// Returns whether an action has no revision.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference to the field"
)]
fn is_none(revision: &i64) -> bool {
    *revision == 0
}

/// The rolled-up state of resources, on each level of an answer to `type=cluster` or `type=all`. If
/// resources with a manifest are selected, resources that exist only in the cluster do not count.
/// Removed resources (reason `Gone`), hooks, and children (resources with an `owner`) count only if
/// nothing else is selected, in this order. With `type=rsync`, every member is omitted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Readiness<'a> {
    /// With `type=cluster`: `ready-phase` as a word, or `Terminated` if all resources were removed
    /// as requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Ready")]
    pub ready_status: Option<Cow<'a, str>>,
    /// With `type=cluster`: the worst phase of the selected resources, or `unknown` if no resource
    /// is selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Phase)]
    pub ready_phase: Option<Phase>,
    /// With `type=cluster`: the resource that determines `ready-phase`, with its state and its
    /// reason. Omitted if no resource has a problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Pod web-0 of sink in provider+edge01 is Failed (Evicted)")]
    pub ready_reason: Option<Cow<'a, str>>,
    /// With `type=cluster`: number of resources by phase that count in the roll-up.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(example = json!({"ready": 11, "pending": 1}))]
    pub ready_counts: BTreeMap<Phase, u32>,
    /// With `type=cluster`: the earliest time since which a report may be outdated. The states and
    /// phases come from the last report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub stale_since: Option<Timestamp>,
    /// With `type=cluster`: the report to which `stale-since` refers, and why it may be outdated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "sink in provider+edge01: the cluster no longer reports on this app")]
    pub stale_reason: Option<Cow<'a, str>>,
    /// With `type=cluster`: Kinds that the clusters have not answered for, each with its cluster and the cause; the
    /// first 20. A cluster may have objects of these Kinds, and they may belong to the application.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>, example = json!(["provider+edge01: Crane.example.org: it answers 500"]))]
    pub unanswered: Cow<'a, [Arc<str>]>,
}

/// One app of a deployment intent group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(bound = "")]
pub struct App<'a, R = Vec<Resource<'a>>> {
    /// Name of the app.
    #[serde(borrow)]
    #[schema(example = "sink")]
    pub name: Cow<'a, str>,
    /// With `type=cluster`: the rolled-up state of its selected resources.
    #[serde(flatten, borrow)]
    #[schema(value_type = Readiness<'a>)]
    pub readiness: Readiness<'a>,
    /// The clusters with selected resources.
    #[serde(borrow)]
    #[schema(value_type = Vec<Cluster<'a>>)]
    pub clusters: Vec<Cluster<'a, R>>,
}

/// One app in one cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(bound = "")]
pub struct Cluster<'a, R = Vec<Resource<'a>>> {
    /// Provider of the cluster.
    #[serde(borrow)]
    #[schema(example = "vfw-cluster-provider")]
    pub cluster_provider: Cow<'a, str>,
    /// Name of the cluster at that provider.
    #[serde(borrow)]
    #[schema(example = "edge01")]
    pub cluster: Cow<'a, str>,
    /// With `type=cluster`: the rolled-up state of the selected resources.
    #[serde(flatten, borrow)]
    #[schema(value_type = Readiness<'a>)]
    pub readiness: Readiness<'a>,
    /// Unreadable parts of the cluster's report, then of its reports whose application cannot be
    /// determined. At most the first 20.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub faults: Cow<'a, [Arc<str>]>,
    /// The selected resources: first the resources with a manifest in the order of the
    /// `AppContext`, then the resources that exist only in the cluster.
    #[schema(value_type = Vec<Resource<'a>>)]
    pub resources: R,
}

#[cfg(test)]
mod tests;
