//! Histories: the state changes of an application and of its resources.

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

use std::borrow::Cow;

use jiff::Timestamp;
use kindsight_model::{Gvk, InterpretedBy, Phase, words};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::status::CompositeApp;

words! {
    /// The cause of a transition.
    #[derive(Default)]
    TransitionCause {
        /// The object changed, or time passed.
        #[default]
        Observed = "observed",
        /// The interpreters or their settings changed, but the object did not.
        Interpreters = "interpreters",
    }
}

/// Parameters of a history. Any other parameter is an error.
// Only serialized: the server lists all errors of a query, which a derived deserializer cannot do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HistoryParameters {
    /// Id of the AppContext of one instantiation. The default is the latest instantiation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "2621114006130701074")]
    pub instance: Option<String>,
    /// Only transitions of resources of this app. Can be repeated. With this parameter, `cluster`
    /// or `resource`, transitions of the application itself are omitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["sink"]))]
    pub app: Vec<String>,
    /// Only transitions of resources in this cluster, as `provider+name`. Can be repeated. In a
    /// URL, write `%2B` for the `+`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(
        value_type = Option<Vec<String>>,
        explode,
        example = json!(["vfw-cluster-provider+edge01"])
    )]
    pub cluster: Vec<String>,
    /// Only transitions of resources with this name, of any Kind. Can be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["sink-configmap"]))]
    pub resource: Vec<String>,
    /// Maximum number of transitions in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(default = 100, minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// Only transitions before the transition with this id, which is `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}

/// Transitions of an application and of its resources, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct History<'a> {
    /// The composite application that contains the group.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// The deployment intent group. For an application that was found in clusters: its namespace,
    /// or `-`.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Id of the `AppContext` of this history. Omitted for an application that was found in
    /// clusters.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub instance: Option<Cow<'a, str>>,
    /// The reason why there is no history, such as that the application was never instantiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub message: Option<Cow<'a, str>>,
    /// The selected transitions.
    #[serde(borrow)]
    #[schema(value_type = Vec<Transition<'a>>)]
    pub transitions: Vec<Transition<'a>>,
    /// Value of `before` for the next page. Omitted on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    pub next: Option<u64>,
    /// Number of older transitions of this application that were dropped because of the limit of
    /// histories, selected or not. Omitted if it is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    pub dropped: Option<u64>,
}

/// One change of the phase or state of a resource, or of the application itself. In the second
/// case, app, cluster and resource are omitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Transition<'a> {
    /// The id, which increases with time.
    pub id: u64,
    /// The time when the server detected it, by the server's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Option<Timestamp>,
    /// The app of the resource.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "sink")]
    pub app: Option<Cow<'a, str>>,
    /// The cluster of the resource, as `provider+name`.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "vfw-cluster-provider+edge01")]
    pub cluster: Option<Cow<'a, str>>,
    /// Group, version and Kind of the resource.
    #[serde(rename = "GVK", default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Gvk)]
    pub gvk: Option<Cow<'a, Gvk>>,
    /// The namespace of the resource, from its manifest if it has one. Omitted if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "default")]
    pub namespace: Cow<'a, str>,
    /// The name of the resource.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "sink-configmap")]
    pub name: Option<Cow<'a, str>>,
    /// Previous phase and state. Omitted if the resource is new.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PhaseAndState<'a>)]
    pub from: Option<PhaseAndState<'a>>,
    /// New phase and state. Omitted if the resource is no longer listed.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PhaseAndState<'a>)]
    pub to: Option<PhaseAndState<'a>>,
    /// Start time of the state according to the object. Omitted if the interpreter does not provide
    /// it. If it is before the previously seen state, the time when the server saw the change. For
    /// the application itself, the time of the change that caused its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// The reason of the state, as one word. For the application itself: the reason of the resource
    /// that determines its state.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "ProgressDeadlineExceeded")]
    pub reason: Cow<'a, str>,
    /// The reason of the state, as a sentence of at most 512 bytes.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    pub message: Cow<'a, str>,
    /// The interpreter that determined the state. Omitted if the host itself did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = InterpretedBy)]
    pub interpreter: Option<Cow<'a, InterpretedBy>>,
    /// The cause of the transition.
    #[serde(default)]
    pub cause: TransitionCause,
}

/// A phase with the state, as the interpreter names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PhaseAndState<'a> {
    /// The phase.
    pub phase: Phase,
    /// The state.
    #[serde(borrow)]
    #[schema(example = "Ready")]
    pub state: Cow<'a, str>,
}
