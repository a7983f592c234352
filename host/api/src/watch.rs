//! Events of streams: what changed since the event before.
//!
//! The first event of a stream is `snapshot`, whose data is a whole answer. Every `change` after it tells
//! what changed since the event before. To follow, take away what is `gone`, then put what is told in place
//! of what has the same name, or at the end. `problem` is the last event of a stream that cannot go on.

#![expect(
    single_use_lifetimes,
    reason = "utoipa derives implementations that name a lifetime once"
)]

use std::borrow::Cow;

use kindsight_model::{Gvk, words};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::applications::{Application, ApplicationList};
use crate::problem::ProblemDocument;
use crate::status::{CompositeApp, Status};
use crate::store::StoreState;

words! {
    /// Names of the events of a stream.
    EventName {
        /// A whole answer: the first event, and where changes were missed.
        Snapshot = "snapshot",
        /// The change since the event before.
        Change = "change",
        /// The reason why the stream ends, such as that the application is gone.
        Problem = "problem",
    }
}

/// Data of one event of `status/watch`, by the name of the event.
// Not to be read: the name of the event tells which one it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum StatusEvent<'a> {
    /// Of `snapshot`.
    #[schema(value_type = Status<'a>)]
    Snapshot(Box<Status<'a>>),
    /// Of `change`.
    Change(Box<StatusChange<'a>>),
    /// Of `problem`.
    Problem(ProblemDocument),
}

/// The change of a status since the event before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct StatusChange<'a> {
    /// Everything that is not there any more.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Gone<'a>>,
    /// The status as it is now, of which `apps` has only the apps that changed, those only the clusters that
    /// changed, and those only the resources that changed or are new.
    #[serde(borrow)]
    #[schema(value_type = Status<'a>)]
    pub status: Status<'a>,
}

/// An app that is gone, an app that is gone from a cluster, or a resource that is gone from an app in a
/// cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Gone<'a> {
    /// The app.
    #[serde(borrow)]
    #[schema(example = "sink")]
    pub app: Cow<'a, str>,
    /// The cluster; left out where the whole app is gone.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = GoneCluster<'a>)]
    pub cluster: Option<GoneCluster<'a>>,
    /// The resource; left out where the app is gone from the cluster.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = GoneResource<'a>)]
    pub resource: Option<GoneResource<'a>>,
}

/// The cluster that an app or a resource is gone from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GoneCluster<'a> {
    /// Provider of the cluster.
    #[serde(borrow)]
    #[schema(example = "vfw-cluster-provider")]
    pub cluster_provider: Cow<'a, str>,
    /// Name of the cluster at that provider.
    #[serde(borrow)]
    #[schema(example = "edge01")]
    pub cluster: Cow<'a, str>,
}

/// The identity of a resource that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GoneResource<'a> {
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Cow<'a, Gvk>,
    /// Its name.
    #[serde(borrow)]
    #[schema(example = "sink-configmap")]
    pub name: Cow<'a, str>,
    /// Its namespace; left out if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "default")]
    pub namespace: Cow<'a, str>,
}

/// Data of one event of `/v2/applications/watch`, by the name of the event.
// Not to be read: the name of the event tells which one it is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ApplicationsEvent<'a> {
    /// Of `snapshot`.
    #[schema(value_type = ApplicationList<'a>)]
    Snapshot(ApplicationList<'a>),
    /// Of `change`.
    Change(ApplicationsChange<'a>),
    /// Of `problem`.
    Problem(ProblemDocument),
}

/// The change of a list of applications since the event before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ApplicationsChange<'a> {
    /// Applications that are not there any more, or are not selected any more.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<GoneApplication<'a>>)]
    pub gone: Vec<GoneApplication<'a>>,
    /// Applications that changed or are new, each as a whole. Also those that a snapshot left out, since they
    /// were too many.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Application<'a>>)]
    pub applications: Vec<Application<'a>>,
    /// The store of `AppContext`s as it is now, while it is away.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub store: Option<StoreState<'a>>,
    /// The store of lifecycle states as it is now, while it is away.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub state_store: Option<StoreState<'a>>,
}

/// The name of an application that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct GoneApplication<'a> {
    /// The composite application.
    #[serde(flatten, borrow)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// The deployment intent group.
    #[serde(borrow)]
    #[schema(example = "web")]
    pub name: Cow<'a, str>,
}
