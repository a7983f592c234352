//! Applications: those that are recorded, and those that were found in the clusters.

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
// Written only: the server names everything that is wrong, which no derived reader does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ApplicationParameters {
    /// Only applications of this name: of the application or of its deployment intent group, both as
    /// `application/group` or `namespace/application`, or in full with four parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "shop")]
    pub name: Option<String>,
    /// Only applications in this state, as `ready-phase` has it; may be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<Phase>>, explode, inline)]
    pub state: Vec<String>,
    /// Only applications in this cluster, as `provider+name`; may be repeated. In a URL the `+` is written
    /// `%2B`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["vfw-cluster-provider+edge01"]))]
    pub cluster: Vec<String>,
}

/// Applications in order of their names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ApplicationList<'a> {
    /// The applications; the first 10,000.
    #[serde(borrow)]
    #[schema(value_type = Vec<Application<'a>>)]
    pub applications: Vec<Application<'a>>,
    /// Number of applications that are left out, since they are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = usize)]
    pub more: Option<usize>,
    /// The store of `AppContext`s, while it is away.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub store: Option<StoreState<'a>>,
    /// The store of lifecycle states that an orchestrator keeps beside its `AppContext`s, while it is away: groups
    /// that it alone tells of are those that were last read.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub state_store: Option<StoreState<'a>>,
}

/// One application with the state of all its resources together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Application<'a> {
    /// The composite application; of one that was found, its name with `-` as project and version.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// The deployment intent group; of an application that was found its namespace, or `-`.
    #[serde(borrow)]
    #[schema(example = "web")]
    pub name: Cow<'a, str>,
    /// The clusters it is in, as `provider+name`.
    #[schema(example = json!(["kubeconfig+prod-eu"]))]
    pub clusters: Vec<Cow<'a, str>>,
    /// The reason why there is no state, such as that it was never instantiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub message: Option<Cow<'a, str>>,
    /// Number of resources by state, children included.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, u32>, example = json!({"Ready": 11, "Pending": 1}))]
    pub cluster_status: BTreeMap<Cow<'a, str>, u32>,
    /// All resources rolled up.
    #[serde(flatten, borrow)]
    #[schema(value_type = Readiness<'a>)]
    pub readiness: Readiness<'a>,
    /// Time since when it is in this state: of the resource that gave it, or where nothing is wrong of the
    /// resource that came to its state last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The resource that gave the state; left out where nothing is wrong.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = WorstResource<'a>)]
    pub worst: Option<WorstResource<'a>>,
}

/// The resource that gave an application its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct WorstResource<'a> {
    /// Its app.
    #[serde(borrow)]
    #[schema(example = "front")]
    pub app: Cow<'a, str>,
    /// Its cluster, as `provider+name`.
    #[schema(example = "kubeconfig+prod-eu")]
    pub cluster: Cow<'a, str>,
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Cow<'a, Gvk>,
    /// Its namespace; left out if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "web")]
    pub namespace: Cow<'a, str>,
    /// Its name.
    #[serde(borrow)]
    #[schema(example = "front")]
    pub name: Cow<'a, str>,
    /// Its state, in the word of the interpreter.
    #[serde(borrow)]
    #[schema(example = "Failed")]
    pub state: Cow<'a, str>,
    /// Reason of the state, in one word.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "ProgressDeadlineExceeded")]
    pub reason: Cow<'a, str>,
    /// Reason of the state, in a sentence.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    pub message: Cow<'a, str>,
}
