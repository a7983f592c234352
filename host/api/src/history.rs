//! Histories: the changes of state of an application and of its resources.

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
    /// Cause of a transition.
    #[derive(Default)]
    TransitionCause {
        /// The object changed, or time passed.
        #[default]
        Observed = "observed",
        /// The interpreters or their settings changed, and the object did not.
        Interpreters = "interpreters",
    }
}

/// Parameters of a history. Any other parameter is an error.
// Written only: the server names everything that is wrong, which no derived reader does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HistoryParameters {
    /// Id of the AppContext of one instantiation; by default that of the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(example = "2621114006130701074")]
    pub instance: Option<String>,
    /// Only transitions of resources of this app; may be repeated. Those of the application as a whole are
    /// left out where this, `cluster` or `resource` is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["sink"]))]
    pub app: Vec<String>,
    /// Only transitions of resources in this cluster, as `provider+name`; may be repeated. In a URL the `+` is
    /// written `%2B`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(
        value_type = Option<Vec<String>>,
        explode,
        example = json!(["vfw-cluster-provider+edge01"])
    )]
    pub cluster: Vec<String>,
    /// Only transitions of resources of this name, of any Kind; may be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[param(value_type = Option<Vec<String>>, explode, example = json!(["sink-configmap"]))]
    pub resource: Vec<String>,
    /// Largest number of transitions in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(default = 100, minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// Only transitions before the one of this id: `next` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}

/// Transitions of an application and of its resources, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct History<'a> {
    /// The composite application it is part of.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// The deployment intent group; of an application that was found its namespace, or `-`.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Id of the `AppContext` that it is the history of; left out for an application that was found.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub instance: Option<Cow<'a, str>>,
    /// The reason why there is nothing to tell, such as that it was never instantiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub message: Option<Cow<'a, str>>,
    /// The selected transitions.
    #[serde(borrow)]
    #[schema(value_type = Vec<Transition<'a>>)]
    pub transitions: Vec<Transition<'a>>,
    /// Value of `before` for those that follow; left out where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    pub next: Option<u64>,
    /// Number of older transitions of this application that were dropped, selected or not, since histories are
    /// bounded; left out for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u64)]
    pub dropped: Option<u64>,
}

/// One change of phase or state: of a resource, or of the application as a whole, which names no app, cluster
/// or resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Transition<'a> {
    /// Id, which grows with time.
    pub id: u64,
    /// Time when the server saw it, by the server's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Option<Timestamp>,
    /// App of the resource.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "sink")]
    pub app: Option<Cow<'a, str>>,
    /// Cluster of the resource, as `provider+name`.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "vfw-cluster-provider+edge01")]
    pub cluster: Option<Cow<'a, str>>,
    /// Group, version and Kind of the resource.
    #[serde(rename = "GVK", default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Gvk)]
    pub gvk: Option<Cow<'a, Gvk>>,
    /// Namespace of the resource, of its manifest where it was sent; left out if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "default")]
    pub namespace: Cow<'a, str>,
    /// Name of the resource.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "sink-configmap")]
    pub name: Option<Cow<'a, str>>,
    /// Phase and state before; left out where it was seen for the first time.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PhaseAndState<'a>)]
    pub from: Option<PhaseAndState<'a>>,
    /// Phase and state after; left out where it is not listed any more.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = PhaseAndState<'a>)]
    pub to: Option<PhaseAndState<'a>>,
    /// Time since when it is in this state, by the object itself; left out where its interpreter tells none. Of
    /// the application as a whole, `since` of its status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// Reason of the state, in one word; of the application as a whole that of the resource which gave it.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "ProgressDeadlineExceeded")]
    pub reason: Cow<'a, str>,
    /// Reason of the state, in a sentence of at most 512 bytes.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    pub message: Cow<'a, str>,
    /// The interpreter that gave the state; left out where the host itself did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = InterpretedBy)]
    pub interpreter: Option<Cow<'a, InterpretedBy>>,
    /// Its cause.
    #[serde(default)]
    pub cause: TransitionCause,
}

/// A phase, with the state in the word of the interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PhaseAndState<'a> {
    /// The phase.
    pub phase: Phase,
    /// The state.
    #[serde(borrow)]
    #[schema(example = "Ready")]
    pub state: Cow<'a, str>,
}
