//! Resources in EMCO's newer dialect.

use std::borrow::Cow;

use kindsight_model::{Gvk, RsyncStatus, words};
use serde::Serialize;
use utoipa::ToSchema;

use crate::status::Detail;

words! {
    /// The words that EMCO's newer dialect has for the state of resources in their cluster.
    ReadyStatus {
        /// It works, or has done what it is there for.
        Ready = "Ready",
        /// It is there and does not work, or nobody can tell.
        NotReady = "NotReady",
        /// The cluster has no such object, or has not told of one.
        NotPresent = "NotPresent",
    }
}

/// One resource, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceStatus<'a> {
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Cow<'a, Gvk>,
    /// Name of the resource.
    #[schema(example = "sink-configmap")]
    pub name: Cow<'a, str>,
    /// With `output=detail`: the manifest, or with `type=cluster` and `status=ready` the object as the cluster
    /// reported it, where it did. Values of Secrets are `REDACTED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value)]
    pub detail: Option<Detail>,
    /// With `type=rsync`: result of sending it to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RsyncStatus)]
    pub rsync_status: Option<RsyncStatus>,
    /// With `type=cluster`: its state in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReadyStatus)]
    pub cluster_status: Option<ReadyStatus>,
    /// With `status=deployed`: result of sending it to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RsyncStatus)]
    pub deployed_status: Option<RsyncStatus>,
    /// With `status=ready`: its state in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReadyStatus)]
    pub ready_status: Option<ReadyStatus>,
}

impl<'a> ResourceStatus<'a> {
    /// Of which nothing but its identity is told.
    pub fn new(gvk: &'a Gvk, name: &'a str) -> Self {
        Self {
            gvk: Cow::Borrowed(gvk),
            name: name.into(),
            detail: None,
            rsync_status: None,
            cluster_status: None,
            deployed_status: None,
            ready_status: None,
        }
    }
}
