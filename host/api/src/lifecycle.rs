//! Stored deployment intent groups and the actions on them.

use kindsight_model::LifecycleState;
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
}

/// An app of a deployment intent group. Another member is an error.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AppIntent {
    /// Name of the app: at most 43 characters, because the label of its resources contains it.
    #[schema(example = "front")]
    pub name: String,
    /// Clusters that the app is sent to, as `provider+name`.
    #[schema(example = json!(["lab+edge01", "lab+edge02"]))]
    pub clusters: Vec<String>,
    /// Manifests as YAML, with one object each, in the order of their application. An answer contains the content of
    /// Secrets as `REDACTED`; a request with this word in a Secret is refused.
    #[schema(example = json!(["apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: front\ndata:\n  colour: blue\n"]))]
    pub manifests: Vec<String>,
}

/// The state of a deployment intent group.
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
    /// The actions that are possible now: `apply`, `approve`, `instantiate`, `terminate`, `stop`, `delete`.
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
    /// The actions, oldest first.
    pub actions: Vec<GroupAction>,
}

/// An action on a deployment intent group.
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

/// The reason why an action on a group changed nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupRefusal {
    /// The content is not valid. Each problem names its JSON path.
    Invalid(Vec<PartialProblem>),
    /// There is no such group.
    NotFound(String),
    /// The group cannot be changed, or the action is not possible in its state. The problems contain the possible
    /// actions, or the reason of each cluster.
    Conflict(String, Vec<PartialProblem>),
    /// The store does not answer: try again.
    Unavailable(String),
    /// The server failed. The text is for the log.
    Failed(String),
}
