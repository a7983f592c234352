//! Instances in the form of ONAP's Kubernetes plugin (k8splugin): resource bundles that were instantiated in a cloud
//! region.
//!
//! Members, their names and their order are the same as in the plugin's own types. `state` is an addition.

use std::collections::BTreeMap;

use kindsight_model::Gvk;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::onap::OnapState;
use crate::status::Detail;

/// Parameters of a list of instances. Any other parameter is an error.
// Only serialized: the server lists all errors of a query, which a derived deserializer cannot do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[serde(rename_all = "kebab-case")]
#[into_params(parameter_in = Query)]
pub struct RbInstanceParameters {
    /// Only instances of this resource bundle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "vfw")]
    pub rb_name: Option<String>,
    /// Only instances of this version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "v1")]
    pub rb_version: Option<String>,
    /// Only instances of this profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "default")]
    pub profile_name: Option<String>,
}

/// The request that an instance was made with, as far as the configuration or the application names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RbInstanceRequest {
    /// The resource bundle. By default, the name of the application.
    #[schema(example = "vfw")]
    pub rb_name: String,
    /// Its version. By default, the version of the composite application; empty if there is none.
    #[schema(example = "v1")]
    pub rb_version: String,
    /// The profile. By default, the composite profile; empty if there is none.
    #[schema(example = "default")]
    pub profile_name: String,
    /// The release. Empty if the configuration does not name it.
    #[schema(example = "vfw-1")]
    pub release_name: String,
    /// The cloud region, which names a cluster.
    #[schema(example = "edge01")]
    pub cloud_region: String,
    /// Labels of the request, from the configuration.
    pub labels: BTreeMap<String, String>,
    /// Overridden values, from the configuration.
    pub override_values: BTreeMap<String, String>,
}

/// An instance in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RbInstanceSummary {
    /// The ID.
    #[schema(example = "serene_mcnulty")]
    pub id: String,
    /// The request.
    pub request: RbInstanceRequest,
    /// The release, as in the request.
    #[schema(example = "vfw-1")]
    pub release_name: String,
    /// The namespace of most of its resources. Empty if it has none.
    #[schema(example = "vfw")]
    pub namespace: String,
}

/// An instance with the identities of its resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RbInstance {
    /// The ID.
    #[schema(example = "serene_mcnulty")]
    pub id: String,
    /// The request.
    pub request: RbInstanceRequest,
    /// The namespace of most of its resources. Empty if it has none.
    #[schema(example = "vfw")]
    pub namespace: String,
    /// The release, as in the request.
    #[schema(example = "vfw-1")]
    pub release_name: String,
    /// The resources that no other resource owns, without hooks.
    pub resources: Vec<RbResource>,
}

/// Identity of a resource of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RbResource {
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Gvk,
    /// Its name.
    #[serde(rename = "Name")]
    #[schema(example = "vfw-sink")]
    pub name: String,
}

/// The status of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RbInstanceStatus {
    /// The request.
    pub request: RbInstanceRequest,
    /// True if the rolled-up state of all resources is `Ready`, and the report of the cluster is current.
    pub ready: bool,
    /// The number of resources in `resourcesStatus`.
    #[schema(example = 2)]
    pub resource_count: usize,
    /// The resources that no other resource owns, without hooks, then the Pods of these resources.
    pub resources_status: Vec<RbResourceStatus>,
}

/// The status of a resource of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RbResourceStatus {
    /// Its name.
    #[schema(example = "vfw-sink")]
    pub name: String,
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Gvk,
    /// The complete object in the cluster. Values of Secrets are `REDACTED` or left out. If the cluster does not have the
    /// object, only `apiVersion`, `kind`, and name and namespace.
    #[schema(value_type = serde_json::Value)]
    pub status: Detail,
    /// The state of the resource in one of three words.
    pub state: OnapState,
}

/// The reason why there is no answer about an instance. The texts are for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RbInstanceRefusal {
    /// There is no such instance, or the reader may not see it.
    NotFound(String),
    /// The ID does not determine one instance.
    Ambiguous(String),
}
