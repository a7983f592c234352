//! Stored deployment intent groups, the network intents of clusters, and the actions on them.

use kindsight_model::{LifecycleState, words};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::PartialProblem;

/// The content of a deployment intent group. Another member is an error.
// Not `Debug`, because manifests can be Secrets.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GroupIntent {
    /// The composite profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "production")]
    pub profile: Option<String>,
    /// The apps, in the order of their instantiation. They are removed in reverse order.
    pub apps: Vec<AppIntent>,
    /// The intents of this group that controllers receive. A controller that is not in this list receives the intent of the
    /// configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<ControllerIntent>,
}

/// The intent that a controller receives for a group. Another member is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ControllerIntent {
    /// Name of the controller in the configuration of the server.
    #[schema(example = "near")]
    pub name: String,
    /// Name of the intent: at most 128 characters.
    #[schema(example = "near-customers")]
    pub intent: String,
}

/// An app of a deployment intent group. Another member is an error.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AppIntent {
    /// Name of the app: at most 43 characters, because the label of its resources contains it.
    #[schema(example = "front")]
    pub name: String,
    /// Clusters that the app is sent to, as `provider+name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["lab+edge01", "lab+edge02"]))]
    pub clusters: Vec<String>,
    /// Groups of clusters, as `provider+name`. The app is sent to one cluster of each group: to the cluster that has the
    /// app already, else to the first that can receive resources and is connected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!([["lab+edge03", "lab+edge04"]]))]
    pub any_of: Vec<Vec<String>>,
    /// Manifests as YAML, with one object each, in the order of their application. An answer contains the content of
    /// Secrets as `REDACTED`; a request with this word in a Secret is refused.
    #[schema(example = json!(["apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: front\ndata:\n  colour: blue\n"]))]
    pub manifests: Vec<String>,
    /// The apps that this app waits for, before its resources are sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<AppDependency>,
    /// Resources of this app that wait for other resources of this app in the same cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_dependencies: Vec<ResourceDependency>,
}

words! {
    /// The condition of a dependency.
    DependencyStatus {
        /// Every resource was applied.
        Applied = "applied",
        /// Every resource is ready, according to the live interpreters.
        Ready = "ready",
    }
}

/// An app that another app waits for. Another member is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AppDependency {
    /// Name of the app.
    #[schema(example = "database")]
    pub app: String,
    /// The condition.
    pub status: DependencyStatus,
    /// The time to wait after the condition is met, in seconds, at most 3600.
    #[serde(default)]
    #[schema(example = 0)]
    pub wait_seconds: u32,
}

/// A resource that waits for another resource. Another member is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ResourceDependency {
    /// The resource that waits, as `Kind/name`.
    #[schema(example = "Deployment/front")]
    pub resource: String,
    /// The other resource, as `Kind/name`.
    #[schema(example = "Job/migration")]
    pub on: String,
    /// The condition.
    pub status: DependencyStatus,
    /// The time to wait after the condition is met, in seconds, at most 3600.
    #[serde(default)]
    #[schema(example = 0)]
    pub wait_seconds: u32,
}

/// The network intents of a cluster. Another member is an error.
// Not `Debug`, for the same reason.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NetworkIntents {
    /// Manifests as YAML, with one object each, in the order of their application: Kinds of the API group
    /// `k8s.plugin.opnfv.org`, such as `Network` and `ProviderNetwork`.
    #[schema(example = json!(["apiVersion: k8s.plugin.opnfv.org/v1alpha1\nkind: Network\nmetadata:\n  name: emco-private-net\nspec:\n  cniType: ovn4nfv\n  ipv4Subnets:\n  - name: subnet1\n    subnet: 10.10.20.0/24\n    gateway: 10.10.20.1/24\n"]))]
    pub manifests: Vec<String>,
}

/// The network intents of a cluster, with their state.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterNetworkIntents {
    /// The content.
    pub intent: NetworkIntents,
    /// The state.
    pub lifecycle: GroupState,
    /// The actions, oldest first.
    pub actions: Vec<GroupAction>,
    /// The reasons why resources are not sent or not removed, at most 100.
    #[serde(default)]
    pub problems: Vec<ResourceProblem>,
    /// The number of further such resources.
    #[serde(default)]
    #[schema(example = 0)]
    pub problems_left_off: usize,
}

/// The state of a deployment intent group, or of the network intents of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GroupState {
    /// The state after the last action.
    pub state: LifecycleState,
    /// Id of the AppContext of the last instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "2621114006130701074")]
    pub instance: Option<String>,
    /// Status of this AppContext.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Instantiating")]
    pub instance_status: Option<String>,
    /// True while the instance is being sent or removed.
    #[schema(example = true)]
    pub running: bool,
    /// The revision of the last instance. Omitted before the first instantiation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, example = 1)]
    pub revision: Option<i64>,
    /// True if the content was replaced while the group was instantiated, and not approved since.
    #[serde(default)]
    #[schema(example = false)]
    pub unapproved: bool,
    /// Tag of the content: a random word that changes with the content. `If-Match` of an approval may name it. Omitted if
    /// another orchestrator recorded the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "5577006791947779410")]
    pub content: Option<String>,
    /// The actions that are possible now: `apply`, `approve`, `instantiate`, `update`, `rollback`, `terminate`, `stop`,
    /// `delete`. The network intents of a cluster have the actions `apply`, `terminate` and `delete`.
    #[schema(example = json!(["terminate", "stop"]))]
    pub allowed_actions: Vec<String>,
}

/// A deployment intent group.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Group {
    /// The content, without the content of Secrets.
    pub intent: GroupIntent,
    /// The state.
    pub lifecycle: GroupState,
    /// The actions, oldest first. If there are more than 500, the oldest actions of instances that are not kept are left
    /// out.
    pub actions: Vec<GroupAction>,
    /// The revisions that a rollback can return to, in ascending order.
    #[serde(default)]
    #[schema(example = json!([1, 2]))]
    pub revisions: Vec<i64>,
    /// The reasons why resources of the last instance are not sent or not removed, at most 100.
    #[serde(default)]
    pub problems: Vec<ResourceProblem>,
    /// The number of further such resources.
    #[serde(default)]
    #[schema(example = 0)]
    pub problems_left_off: usize,
}

/// The reason why a resource is not sent or not removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ResourceProblem {
    /// Name of the app.
    #[schema(example = "front")]
    pub app: String,
    /// The cluster, as `provider+name`.
    #[schema(example = "lab+edge01")]
    pub cluster: String,
    /// The resource, as `Kind/name`.
    #[schema(example = "ConfigMap/front")]
    pub resource: String,
    /// The status: `Pending`, `Applied`, `Failed`, `Retrying`, `Deleted`.
    #[schema(example = "Retrying")]
    pub status: String,
    /// The reason. It contains no content of the resource.
    #[schema(example = "the folder of the cluster does not exist")]
    pub detail: String,
}

/// A revision that a rollback returns to. Another member is an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RollbackTarget {
    /// The revision.
    #[schema(example = 1)]
    pub revision: i64,
    /// True if the resources overwrite the fields of other managers, such as `kubectl`.
    #[serde(default)]
    #[schema(example = false)]
    pub force: bool,
}

/// Options of an instantiation, an update or an application of network intents. Another member is an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SendingOptions {
    /// True if the resources overwrite the fields of other managers, such as `kubectl`.
    #[serde(default)]
    #[schema(example = false)]
    pub force: bool,
}

words! {
    /// The change of a resource in a dry run.
    PlannedChange {
        /// It would be created.
        Create = "create",
        /// It would be changed.
        Update = "update",
        /// It would not change.
        Unchanged = "unchanged",
        /// It would be removed.
        Delete = "delete",
        /// The cluster would refuse it.
        Refused = "refused",
        /// The cluster does not answer.
        Unknown = "unknown",
    }
}

/// The result of a dry run. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DryRun {
    /// The resources in the order of their application, at most 1000, then the resources that would be removed.
    pub resources: Vec<PlannedResource>,
    /// The number of further resources that would be sent. No cluster was asked about them.
    #[schema(example = 0)]
    pub left_off: usize,
}

/// A resource of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PlannedResource {
    /// Name of the app.
    #[schema(example = "front")]
    pub app: String,
    /// The cluster, as `provider+name`.
    #[schema(example = "lab+edge01")]
    pub cluster: String,
    /// The resource, as `Kind/name`.
    #[schema(example = "ConfigMap/front")]
    pub resource: String,
    /// The change.
    pub change: PlannedChange,
    /// The JSON paths that would change, without values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["data.colour"]))]
    pub differences: Vec<String>,
    /// The reason of `refused` and `unknown`, and the reason why the cluster has not checked a `create`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "the resource belongs to another application")]
    pub detail: Option<String>,
}

/// An action on a deployment intent group or on network intents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GroupAction {
    /// The state after the action.
    pub state: LifecycleState,
    /// Id of the AppContext of the action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "2621114006130701074")]
    pub instance: Option<String>,
    /// The time of the action, in RFC 3339.
    #[schema(example = "2026-11-24T20:00:00Z")]
    pub time: String,
    /// The revision of the group after the action. Omitted if the action has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, example = 1)]
    pub revision: Option<i64>,
}

/// The reason why an action on a group or on network intents changed nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupRefusal {
    /// The content is not valid. Each problem names its JSON path.
    Invalid(Vec<PartialProblem>),
    /// There is no such group, or the cluster has no network intents.
    NotFound(String),
    /// The subject cannot be changed, or the action is not possible in its state. The problems contain the possible
    /// actions, or the reason of each cluster.
    Conflict(String, Vec<PartialProblem>),
    /// The content of the group does not have the tag that the request names.
    OtherContent(String),
    /// The store does not answer: try again.
    Unavailable(String),
    /// The server failed. The text is for the log.
    Failed(String),
}
