//! Events of streams, with the changes since the previous event.
//!
//! The first event of a stream is `snapshot`, whose data is a complete answer. Each following
//! `change` contains the changes since the previous event. To apply a change, first remove
//! everything in `gone`. Then put each item in place of the item with the same name, or at the end.
//! `problem` is the last event of a stream that cannot continue.

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
        /// A complete answer: the first event, and the event after changes were missed.
        Snapshot = "snapshot",
        /// The changes since the previous event.
        Change = "change",
        /// The reason why the stream ends, such as that the application was removed.
        Problem = "problem",
    }
}

/// Data of one event of `status/watch`, by the name of the event.
// Not for deserialization: the name of the event determines the type.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum StatusEvent<'a> {
    /// The data of `snapshot`.
    #[schema(value_type = Status<'a>)]
    Snapshot(Box<Status<'a>>),
    /// The data of `change`.
    Change(Box<StatusChange<'a>>),
    /// The data of `problem`.
    Problem(ProblemDocument),
}

/// The changes of a status since the previous event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct StatusChange<'a> {
    /// Everything that was removed.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Gone<'a>>,
    /// The present status. It contains only the apps that changed, within them only the clusters
    /// that changed, and within these only the resources that changed or are new.
    #[serde(borrow)]
    #[schema(value_type = Status<'a>)]
    pub status: Status<'a>,
}

/// An app that was removed, an app that was removed from a cluster, or a resource that was removed
/// from an app in a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Gone<'a> {
    /// The app.
    #[serde(borrow)]
    #[schema(example = "sink")]
    pub app: Cow<'a, str>,
    /// The cluster. Omitted if the complete app was removed.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = GoneCluster<'a>)]
    pub cluster: Option<GoneCluster<'a>>,
    /// The resource. Omitted if the app was removed from the cluster.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = GoneResource<'a>)]
    pub resource: Option<GoneResource<'a>>,
}

/// The cluster from which an app or a resource was removed.
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

/// The identity of a resource that was removed.
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
    /// The namespace of the resource. Omitted if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "default")]
    pub namespace: Cow<'a, str>,
}

/// Data of one event of `/v2/applications/watch`, by the name of the event.
// Not for deserialization: the name of the event determines the type.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ApplicationsEvent<'a> {
    /// The data of `snapshot`.
    #[schema(value_type = ApplicationList<'a>)]
    Snapshot(ApplicationList<'a>),
    /// The data of `change`.
    Change(ApplicationsChange<'a>),
    /// The data of `problem`.
    Problem(ProblemDocument),
}

/// The changes of a list of applications since the previous event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ApplicationsChange<'a> {
    /// Applications that were removed, or that the query no longer selects.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<GoneApplication<'a>>)]
    pub gone: Vec<GoneApplication<'a>>,
    /// Applications that changed or are new, each complete. Also applications that a snapshot
    /// omitted because of the limit.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Application<'a>>)]
    pub applications: Vec<Application<'a>>,
    /// The present state of the store of `AppContext`s, while it cannot be reached.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub store: Option<StoreState<'a>>,
    /// The present state of the store of lifecycle states, while it cannot be reached.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = StoreState<'a>)]
    pub state_store: Option<StoreState<'a>>,
}

/// The name of an application that was removed.
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
