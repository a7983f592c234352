//! Clusters that operators register while the server runs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::problem::PartialProblem;

/// The registration of a cluster: one kubeconfig, in a file or in a Secret. Another member is an error.
///
/// The kubeconfig has its credentials in itself. `exec`, `auth-provider` and paths of files are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClusterRegistration {
    /// Name of a file in the folder of kubeconfigs of the server, without a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "edge01.yaml")]
    pub kubeconfig_file: Option<String>,
    /// Name of a Secret in the namespace of the server, which has the kubeconfig under the key `kubeconfig` or `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "edge01-kubeconfig")]
    pub kubeconfig_secret: Option<String>,
    /// The context of the kubeconfig. Without it, the current context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "admin@edge01")]
    pub context: Option<String>,
    /// The namespaces to watch. Without it, the entire cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(example = json!(["web"]))]
    pub namespaces: Vec<String>,
}

/// A cluster and its registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RegisteredCluster {
    /// Provider of the cluster.
    #[schema(example = "lab")]
    pub provider: String,
    /// Name of the cluster at that provider.
    #[schema(example = "edge01")]
    pub name: String,
    /// True if the configuration of the server names the cluster. Such a cluster has no registration and cannot be
    /// changed here.
    #[schema(example = false)]
    pub configured: bool,
    /// The registration. Omitted for a cluster of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ClusterRegistration)]
    pub registration: Option<ClusterRegistration>,
}

/// The reason why a registration was not read or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RegistrationRefusal {
    /// The registration is not valid. Each problem names its JSON path.
    Invalid(Vec<PartialProblem>),
    /// There is no such cluster.
    NotFound(String),
    /// The configuration names the cluster, or another operator changed it at the same time.
    Conflict(String),
    /// The store does not answer: try again.
    Unavailable(String),
    /// The server failed. The text is for the log.
    Failed(String),
}
