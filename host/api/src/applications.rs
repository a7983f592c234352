//! Applications: recorded ones, and ones that were found in the clusters.

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use kindsight_model::{Gvk, Phase};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::status::{CompositeApp, Readiness};
use crate::store::StoreState;

/// Parameters of a list of applications. Any other parameter is an error.
// Only serialized: the server lists all errors of a query, which a derived deserializer cannot do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ApplicationParameters {
    /// Only applications with this name: the name of the application or of its deployment intent
    /// group, both as `application/group` or `namespace/application`, or the full name with four
    /// parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "shop")]
    pub name: Option<String>,
    /// Only applications in this state, as in `ready-phase`. Can be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<Phase>>, explode, inline)]
    pub state: Vec<String>,
    /// Only applications in this cluster, as `provider+name`. Can be repeated. In a URL, write
    /// `%2B` for the `+`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["vfw-cluster-provider+edge01"]))]
    pub cluster: Vec<String>,
}

/// Applications in order of their names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ApplicationList<'a> {
    /// The applications, at most the first 10,000.
    #[serde(borrow)]
    #[schema(value_type = Vec<Application<'a>>)]
    pub applications: Vec<Application<'a>>,
    /// Number of applications that are omitted because of the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = usize)]
    pub more: Option<usize>,
    /// The store of `AppContext`s, while it cannot be reached.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub store: Option<StoreState<'a>>,
    /// The store of lifecycle states that an orchestrator keeps besides its `AppContext`s, while it
    /// cannot be reached. Groups that only this store contains are shown as they were last read.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub state_store: Option<StoreState<'a>>,
}

/// One application with the combined state of all its resources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Application<'a> {
    /// The composite application. For an application that was found in clusters: its name, with `-`
    /// as project and version.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// The deployment intent group. For an application that was found in clusters: its namespace,
    /// or `-`.
    #[serde(borrow)]
    #[schema(example = "web")]
    pub name: Cow<'a, str>,
    /// The clusters that contain it, as `provider+name`.
    #[schema(example = json!(["kubeconfig+prod-eu"]))]
    pub clusters: Vec<Cow<'a, str>>,
    /// The reason why there is no state, such as that the application was never instantiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub message: Option<Cow<'a, str>>,
    /// Number of resources by state, including children.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Ready": 11, "Pending": 1}))]
    pub cluster_status: BTreeMap<Cow<'a, str>, u32>,
    /// The rolled-up state of all resources.
    #[serde(flatten, borrow)]
    #[schema(value_type = Readiness<'a>)]
    pub readiness: Readiness<'a>,
    /// The time of the application's last change of state. If its state did not change since the
    /// application was first seen: the start time of the resource that determines the state or, if
    /// no resource has a problem, of the resource that reached its state last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The resource that determines the state. Omitted if no resource has a problem.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = WorstResource<'a>)]
    pub worst: Option<WorstResource<'a>>,
}

/// The resource that determines an application's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct WorstResource<'a> {
    /// The app of the resource.
    #[serde(borrow)]
    #[schema(example = "front")]
    pub app: Cow<'a, str>,
    /// The cluster of the resource, as `provider+name`.
    #[schema(example = "kubeconfig+prod-eu")]
    pub cluster: Cow<'a, str>,
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Cow<'a, Gvk>,
    /// The namespace of the resource. Omitted if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "web")]
    pub namespace: Cow<'a, str>,
    /// The name of the resource.
    #[serde(borrow)]
    #[schema(example = "front")]
    pub name: Cow<'a, str>,
    /// The state of the resource, as the interpreter names it.
    #[serde(borrow)]
    #[schema(example = "Failed")]
    pub state: Cow<'a, str>,
    /// The reason of the state, as one word.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "ProgressDeadlineExceeded")]
    pub reason: Cow<'a, str>,
    /// The reason of the state, as a sentence.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    pub message: Cow<'a, str>,
}
