//! What answers look like, for the OpenAPI document only.
//!
//! Answers are written by the room `status`, which names no framework; what is described here is
//! held against real answers by a test. A member is left out where it does not apply, and never
//! null.

#![expect(dead_code, reason = "these types are described, never made")]
#![expect(
    clippy::struct_field_names,
    reason = "members are named as on the wire"
)]

use std::collections::BTreeMap;

use kindsight_model::{Gvk, InterpretedBy, Phase};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The full name of a deployment intent group.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct DigParts {
    /// The project.
    #[param(example = "testvfw")]
    project: String,
    /// The composite application.
    #[param(example = "compositevfw")]
    composite_app: String,
    /// The version of the composite application.
    #[param(example = "v1")]
    version: String,
    /// The deployment intent group.
    #[param(example = "vfw_deployment_intent_group")]
    deployment_intent_group: String,
}

/// The full name of a cluster.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ClusterParts {
    /// Who runs the cluster.
    #[param(example = "vfw-cluster-provider")]
    cluster_provider: String,
    /// Its name at that provider.
    #[param(example = "edge01")]
    cluster: String,
}

/// What can be asked. A parameter that is not among these is an error.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct StatusParameters {
    /// The id of an AppContext: which instantiation it is about. By default the latest. Without a
    /// value, the instances are listed and nothing else is answered.
    #[param(example = "2621114006130701074")]
    instance: Option<String>,
    /// Whose word is asked for: what happened when the resources were sent, or what the clusters say.
    #[serde(rename = "type")]
    #[param(inline)]
    kind: Option<QueryType>,
    /// How much is wanted: counts only, every resource, or every resource with its manifest or (with
    /// `type=cluster`) the object itself. `small`, `full` and `rsync` are older words for `summary`,
    /// `detail` and `all` with `type=rsync`.
    #[param(inline)]
    output: Option<Output>,
    /// Only this app; may be repeated.
    #[param(explode, example = json!(["sink"]))]
    app: Option<Vec<String>>,
    /// Only this cluster, as `provider+name`; may be repeated. In a URL the `+` is written `%2B`.
    #[param(explode, example = json!(["vfw-cluster-provider+edge01"]))]
    cluster: Option<Vec<String>>,
    /// Only resources of this name, of any Kind; may be repeated.
    #[param(explode, example = json!(["sink-configmap"]))]
    resource: Option<Vec<String>>,
    /// Whether to say, with `type=cluster`, which interpreter judged each resource.
    #[param(default = false)]
    explain: Option<bool>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(default = "rsync")]
pub(crate) enum QueryType {
    Rsync,
    Cluster,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(default = "all")]
pub(crate) enum Output {
    Summary,
    All,
    Detail,
    Small,
    Full,
    Rsync,
}

/// How a deployment intent group or a cluster fares.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Status {
    /// The project; left out for a cluster.
    #[schema(required = false)]
    project: String,
    /// The composite application; left out for a cluster.
    #[schema(required = false)]
    composite_app_name: String,
    /// Its version, as it was instantiated; left out for a cluster.
    #[schema(required = false)]
    composite_app_version: String,
    /// The composite profile it is deployed with.
    #[schema(required = false)]
    composite_profile_name: String,
    /// The deployment intent group, or the cluster as `provider+name`.
    name: String,
    /// What was done to it; left out when instances are listed.
    #[schema(required = false)]
    state: State,
    /// The status of the AppContext, for example `Instantiated`.
    #[schema(required = false)]
    status: String,
    /// Why there is no more to say.
    #[schema(required = false)]
    message: String,
    /// With `type=rsync`: the selected resources by what happened when they were sent.
    #[schema(required = false, example = json!({"Applied": 12}))]
    rsync_status: BTreeMap<String, u32>,
    /// With `type=cluster`: the selected resources by state.
    #[schema(required = false, example = json!({"Ready": 11, "Pending": 1}))]
    cluster_status: BTreeMap<String, u32>,
    /// With `type=cluster`: how the selected resources fare together, in a word. `Terminated` when
    /// all are gone as asked; otherwise that of `ready-phase`.
    #[schema(required = false)]
    ready_status: String,
    /// With `type=cluster`: the worst phase of the selected resources. Those that only the cluster
    /// has do not count beside those that were sent. `unknown` if there are none.
    #[schema(required = false)]
    ready_phase: Phase,
    /// Which resource made it so; left out if all is well.
    #[schema(required = false)]
    ready_reason: String,
    /// The resources that were rolled up, by phase.
    #[schema(required = false)]
    ready_counts: BTreeMap<String, u32>,
    /// Since when the first of the clusters cannot be reached; what it said last is shown.
    #[schema(required = false, format = DateTime)]
    stale_since: String,
    /// What could not be read of the AppContext.
    #[schema(required = false)]
    faults: Vec<String>,
    /// The apps with selected resources; left out with `output=summary`.
    #[schema(required = false)]
    apps: Vec<App>,
    /// When instances are listed: the ids of their `AppContext`s, oldest first.
    #[schema(required = false)]
    instances: Vec<String>,
}

/// What was done to it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct State {
    /// Oldest first.
    actions: Vec<Action>,
}

/// One thing that was done.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Action {
    /// What it led to.
    #[schema(example = "Instantiated")]
    state: String,
    /// The AppContext it concerned; empty for none.
    context_id: String,
    /// When.
    #[schema(format = DateTime)]
    time_stamp: String,
}

/// One app.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct App {
    /// Its name.
    name: String,
    /// As on the whole.
    #[schema(required = false)]
    ready_status: String,
    /// As on the whole.
    #[schema(required = false)]
    ready_phase: Phase,
    /// As on the whole.
    #[schema(required = false)]
    ready_reason: String,
    /// As on the whole.
    #[schema(required = false)]
    ready_counts: BTreeMap<String, u32>,
    /// As on the whole.
    #[schema(required = false, format = DateTime)]
    stale_since: String,
    /// The clusters with selected resources.
    clusters: Vec<Cluster>,
}

/// One app in one cluster.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Cluster {
    /// Who runs it.
    cluster_provider: String,
    /// Its name at that provider.
    cluster: String,
    /// As on the whole.
    #[schema(required = false)]
    ready_status: String,
    /// As on the whole.
    #[schema(required = false)]
    ready_phase: Phase,
    /// As on the whole.
    #[schema(required = false)]
    ready_reason: String,
    /// As on the whole.
    #[schema(required = false)]
    ready_counts: BTreeMap<String, u32>,
    /// Since when it cannot be reached; what it said last is shown.
    #[schema(required = false, format = DateTime)]
    stale_since: String,
    /// What could not be read of its report.
    #[schema(required = false)]
    faults: Vec<String>,
    /// The selected resources: those that were sent in the order of the AppContext, then those that
    /// only the cluster has.
    resources: Vec<Resource>,
}

/// One resource.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Resource {
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    gvk: Gvk,
    /// Its name.
    name: String,
    /// With `output=detail`: the manifest, or with `type=cluster` the object as the cluster reported
    /// it. What a Secret holds is left out.
    #[schema(required = false)]
    detail: serde_json::Value,
    /// With `type=rsync`: `Pending`, `Applied`, `Failed`, `Retrying` or `Deleted`.
    #[schema(required = false, example = "Applied")]
    rsync_status: String,
    /// With `type=cluster`: its state, in the interpreter's word.
    #[schema(required = false, example = "Ready")]
    cluster_status: String,
    /// With `type=cluster`: its namespace, if it has one.
    #[schema(required = false)]
    namespace: String,
    /// With `type=cluster`: the phase its state belongs to.
    #[schema(required = false)]
    phase: Phase,
    /// With `type=cluster`: why, in one word.
    #[schema(required = false)]
    reason: String,
    /// With `type=cluster`: why, for people.
    #[schema(required = false)]
    message: String,
    /// With `type=cluster`: since when it is in this state.
    #[schema(required = false, format = DateTime)]
    since: String,
    /// With `type=cluster`: `false` for what only the cluster has, as a Deployment's Pods; otherwise
    /// left out.
    #[schema(required = false)]
    expected: bool,
    /// With `explain=true`: who said so; left out if the host itself did.
    #[schema(required = false)]
    interpreter: InterpretedBy,
}
