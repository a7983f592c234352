//! Reports that the agent of a cluster pushes: the parameters and the answers. The crate `kindsight-push` defines the
//! lines of a body.
//!
//! A reader ignores members, parameters and lines that it does not know, so that an agent one release older or newer
//! than the server works. An incompatible change has another [`FORMAT`].

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The version of the format. Two versions cannot read each other.
pub const FORMAT: u32 = 1;

/// The media type of a body: gzip of JSON lines.
pub const MEDIA_TYPE: &str = "application/gzip";

/// Maximum size of the body of a push, in bytes.
pub const PUSH_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Parameters of a push.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "kebab-case")]
pub struct PushParameters {
    /// Version of the format.
    #[param(example = 1)]
    pub format: u32,
    /// Name of the agent, unique for each spool: 1 to 128 letters, digits, `-`, `_` or `.`.
    #[param(example = "monitor-0-5e1f")]
    pub agent: String,
    /// Number of the complete report that the agent has begun. Numbers of later reports are greater.
    #[param(example = 1_700_000_000_000_i64)]
    pub epoch: u64,
    /// Sequence number of the body in this epoch, from 0. Without a body, the number of the next body.
    #[param(example = 17)]
    pub sequence: u64,
    /// Age of the oldest change in the body, in milliseconds.
    #[serde(default)]
    #[param(example = 80)]
    pub lag_ms: u64,
    /// True if the agent stops: another agent can take its place at once.
    #[serde(default)]
    pub leaving: bool,
}

/// The answer to a push that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PushAnswer {
    /// The sequence number of the next body.
    #[schema(example = 18)]
    pub expected: u64,
}

/// Parameters of a query for the needs of the server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "kebab-case")]
pub struct NeedsParameters {
    /// The revision that the agent has. The server answers when it has another one, or after some seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[param(example = 7)]
    pub revision: Option<u64>,
}

/// Needs of the server, for the agent of one cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct AgentNeeds {
    /// A number that differs after each change.
    #[schema(required = true, example = 7)]
    pub revision: u64,
    /// The relations that interpreters ask for.
    #[schema(required = true)]
    pub related: Vec<NeededRelation>,
    /// The deployments that `AppContext`s send to the cluster.
    #[schema(required = true)]
    pub recorded: Vec<NeededDeployment>,
    /// Applications that the configuration of the server selects.
    #[schema(required = true)]
    pub applications: Vec<NeededApplication>,
    /// Requests to confirm that everything was pushed.
    #[schema(required = true)]
    pub confirmations: Vec<NeededConfirmation>,
}

/// A relation that interpreters ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NeededRelation {
    /// Pattern of the objects that are judged.
    pub judged: NeededKind,
    /// JSON pointer of a field that these objects must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub when: Option<String>,
    /// Pattern of the related objects.
    pub related: NeededKind,
    /// The relation: `owned`, `descendant`, `owner`, `selected-by`, `labelled` or `named`. An agent ignores another one.
    #[schema(example = "owned")]
    pub relation: String,
    /// The JSON pointer or the label of the relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub at: Option<String>,
    /// True if the related objects are needed without their content.
    #[serde(default)]
    pub identity_only: bool,
}

/// A pattern of Kinds, with `*` for any group, version or Kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NeededKind {
    /// API group; empty for the core group.
    #[schema(example = "apps")]
    pub group: String,
    /// API version.
    #[schema(example = "*")]
    pub version: String,
    /// Kind.
    #[schema(example = "Deployment")]
    pub kind: String,
}

/// A deployment that an `AppContext` sends to the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NeededDeployment {
    /// The value of the label `emco/deployment-id`.
    #[schema(example = "2755581958183303505-front")]
    pub deployment: String,
    /// The namespace that it is deployed to; empty where the `AppContext` names none.
    #[schema(example = "web")]
    pub namespace: String,
    /// With another number, the deployment must be reported again.
    #[schema(example = 3)]
    pub number: u64,
}

/// An application that the configuration of the server selects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NeededApplication {
    /// Its full name.
    #[schema(example = "shop/web/v1/prod")]
    pub name: String,
    /// Patterns of the namespaces of its objects; all namespaces if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<String>,
    /// Its apps. If several select an object, the object belongs to the first.
    pub apps: Vec<NeededApp>,
}

/// One app of an application that the configuration of the server selects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NeededApp {
    /// Its name.
    #[schema(example = "front")]
    pub name: String,
    /// The label selector of its objects, in the syntax of `kubectl --selector`.
    #[schema(example = "app=front")]
    pub selector: String,
}

/// A request to confirm that everything was pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NeededConfirmation {
    /// Its number, which the confirmation repeats.
    #[schema(example = 12)]
    pub id: u64,
    /// The Kinds that it is about.
    pub kinds: Vec<ConfirmedKind>,
}

/// A Kind that a confirmation is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ConfirmedKind {
    /// API group; omitted if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub group: Option<String>,
    /// Kind.
    #[schema(example = "Pod")]
    pub kind: String,
    /// The namespaces of its objects; an empty name for objects without a namespace.
    pub namespaces: Vec<String>,
}

/// The reason why a push was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushRefusal {
    /// No configured cluster of this name is pushed.
    NotPushed(String),
    /// The format is not the format of the server.
    Format(u32),
    /// Another agent reports on the cluster.
    OtherAgent(String),
    /// The body has not the expected sequence number.
    Sequence {
        /// The sequence number of the body.
        got: u64,
        /// The sequence number that the server expects.
        expected: u64,
    },
    /// The agent must send a complete report in a new epoch.
    NewEpoch(String),
    /// The body cannot be read; the text names the line.
    Invalid(String),
    /// The body, or the report on the cluster, is over a limit.
    TooLarge(String),
    /// The server has not handled the last bodies yet.
    Busy,
}

impl PushRefusal {
    /// The member of a problem that names the expected sequence number.
    pub const SEQUENCE: &str = "sequence";
    /// The member of a problem that asks for a new epoch.
    pub const EPOCH: &str = "epoch";
    /// The member of a problem that names the other agent.
    pub const AGENT: &str = "agent";
    /// The member of a problem that names the expected format.
    pub const FORMAT: &str = "format";
}
