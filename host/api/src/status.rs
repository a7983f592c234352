//! Status queries: parameters and answers.
//!
//! Members, their names and their order are those of the specification. Beside it are: `message`,
//! `faults`, `stale-since`, `stale-reason`, what begins with `ready-`, and on a resource everything from `namespace`
//! on.
//!
//! The parameter `R` of [`Status`] and what it holds is written as a list of [`Resource`]. A client
//! reads them all; the server passes a list that makes each when it is written, so that a large answer
//! is never in memory as a whole.

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

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

pub use detail::Detail;
pub use listing::{
    ClustersOfApp, Listing, NameList, NamedCluster, Names, ResourceName, ResourcesOfApp,
};
pub use parameters::{Dialect, ListingParameters, Output, QueryType, StatusParameters};
pub use resource::{Resource, ResourceOwner};

/// Media type by which a request asks for this dialect, whatever the server is set to. Answers are
/// `application/json`.
pub const MEDIA_TYPE: &str = "application/vnd.kindsight+json";

/// The answer to a status query: a status, with `instance` and no value a list of instances, or a list of names.
// Not to be read: a client knows by its question which of them it gets.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum StatusAnswer<'a, R = Vec<Resource<'a>>, N = Vec<ResourceName<'a>>> {
    /// To a query about one instance.
    #[schema(value_type = Status<'a>)]
    Status(Box<Status<'a, R>>),
    /// To a query with `instance` and no value.
    Instances(Instances<'a>),
    /// To a query with `apps`, `clusters` or `resources`.
    #[schema(value_type = Names<'a>)]
    Names(Names<'a, N>),
}

/// Status of a deployment intent group, of a cluster's own resources or of a logical cloud.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(bound = "")]
pub struct Status<'a, R = Vec<Resource<'a>>> {
    /// The composite application it is part of.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// The logical cloud, where it is the status of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub logical_cloud: Option<Cow<'a, str>>,
    /// The deployment intent group, the cluster as `provider+name`, or the logical cloud.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Lifecycle actions on it so far.
    #[serde(borrow)]
    pub state: State<'a>,
    /// Status of the `AppContext`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Instantiated")]
    pub status: Option<ContextStatus>,
    /// The reason why there is no more to tell, such as that it was never instantiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub message: Option<Cow<'a, str>>,
    /// The store of `AppContext`s, while it is away; left out while it is reached, and for applications that
    /// were found in clusters.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub store: Option<StoreState<'a>>,
    /// The store of lifecycle states that the orchestrator keeps beside its `AppContext`s, while it is away: `state`
    /// is what was last read from it.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub state_store: Option<StoreState<'a>>,
    /// With `type=rsync`: number of selected resources by rsync status.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Applied": 12}))]
    pub rsync_status: BTreeMap<Cow<'a, str>, u32>,
    /// With `type=cluster`: number of selected resources by state, children included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Ready": 11, "Pending": 1}))]
    pub cluster_status: BTreeMap<Cow<'a, str>, u32>,
    /// With `type=cluster`: all selected resources rolled up.
    #[serde(flatten, borrow)]
    #[schema(value_type = Readiness<'a>)]
    pub readiness: Readiness<'a>,
    /// Parts that could not be read, each with its place: of the `AppContext`, of the reports of the
    /// selected clusters on the selected apps, and reports about nobody knows what; the first 20.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub faults: Cow<'a, [Arc<str>]>,
    /// The apps with selected resources; left out with `output=summary`.
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
    /// The logical cloud, where they are those of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub logical_cloud: Option<Cow<'a, str>>,
    /// The composite application it is part of; `composite-profile-name` is left out.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// Ids of the `AppContext`s it was instantiated as, oldest first.
    #[schema(example = json!(["2621114006130701074"]))]
    pub instances: Vec<Cow<'a, str>>,
}

/// The composite application that a deployment intent group is part of. Clusters have none, logical clouds the
/// project alone.
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
    /// Its version, as it was instantiated.
    #[serde(
        rename = "composite-app-version",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = String, example = "v1")]
    pub version: Option<Cow<'a, str>>,
    /// The composite profile it is deployed with.
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
    /// Oldest first.
    #[serde(borrow)]
    pub actions: Vec<Action<'a>>,
}

/// One lifecycle action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Action<'a> {
    /// The state it led to.
    pub state: LifecycleState,
    /// Id of the `AppContext` it concerned; empty for none.
    #[serde(borrow)]
    pub context_id: Cow<'a, str>,
    /// Time of the action, as it was recorded; left out of an action that nobody recorded, which is derived from
    /// an `AppContext`.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(value_type = String, format = DateTime)]
    pub time_stamp: Cow<'a, str>,
    /// The revision of the group that it made or left, as its orchestrator counts them; left out where there is none.
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

/// Resources rolled up, on each level of an answer to `type=cluster`. Resources that only the cluster
/// has do not count beside those that were sent. What is gone (reason `Gone`), hooks, and children (resources
/// with an `owner`) count only where nothing else is selected, in this order.
/// With `type=rsync` every member is left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Readiness<'a> {
    /// With `type=cluster`: `ready-phase` as a word, or `Terminated` where all resources are gone as
    /// asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Ready")]
    pub ready_status: Option<Cow<'a, str>>,
    /// With `type=cluster`: the worst phase of the selected resources; `unknown` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Phase)]
    pub ready_phase: Option<Phase>,
    /// With `type=cluster`: the resource that gave `ready-phase`, its state and its reason; left out
    /// where nothing is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Pod web-0 of sink in provider+edge01 is Failed (Evicted)")]
    pub ready_reason: Option<Cow<'a, str>>,
    /// With `type=cluster`: number of resources that were rolled up, by phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(example = json!({"ready": 11, "pending": 1}))]
    pub ready_counts: BTreeMap<Phase, u32>,
    /// With `type=cluster`: time since when the first of the reports may be out of date; the last one is
    /// shown, and its states and phases are those of then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub stale_since: Option<Timestamp>,
    /// With `type=cluster`: the report that `stale-since` is about, and why it may be out of date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "sink in provider+edge01: the cluster no longer reports on this app")]
    pub stale_reason: Option<Cow<'a, str>>,
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
    /// With `type=cluster`: its selected resources rolled up.
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
    /// With `type=cluster`: the selected resources rolled up.
    #[serde(flatten, borrow)]
    #[schema(value_type = Readiness<'a>)]
    pub readiness: Readiness<'a>,
    /// Parts of the cluster's report that could not be read, then its reports about nobody knows what; the
    /// first 20.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub faults: Cow<'a, [Arc<str>]>,
    /// The selected resources: those that were sent in the order of the `AppContext`, then those that
    /// only the cluster has.
    #[schema(value_type = Vec<Resource<'a>>)]
    pub resources: R,
}

#[cfg(test)]
mod tests;
