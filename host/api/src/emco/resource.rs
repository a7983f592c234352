//! Resources in EMCO's newer dialect.

use std::borrow::Cow;

use kindsight_model::{Gvk, RsyncStatus, words};
use serde::Serialize;
use utoipa::ToSchema;

use crate::status::Detail;

words! {
    /// The states of resources in their cluster in EMCO's newer dialect.
    ReadyStatus {
        /// The resource works, or has completed its task.
        Ready = "Ready",
        /// The resource exists but does not work, or its state is unknown.
        NotReady = "NotReady",
        /// The cluster does not contain the object, or has not reported it.
        NotPresent = "NotPresent",
    }
}

/// One resource, in EMCO's newer dialect. With `type=all`, it has the members of `type=rsync` and of
/// `type=cluster`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceStatus<'a> {
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Cow<'a, Gvk>,
    /// Name of the resource.
    #[schema(example = "sink-configmap")]
    pub name: Cow<'a, str>,
    /// With `output=detail`: the manifest, or with `type=cluster`, `type=all` and `status=ready` the
    /// object that the cluster reported, if it did. Values of Secrets are `REDACTED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value)]
    pub detail: Option<Detail>,
    /// With `type=rsync`: the result of sending it to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RsyncStatus)]
    pub rsync_status: Option<RsyncStatus>,
    /// With `type=cluster`: its state in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReadyStatus)]
    pub cluster_status: Option<ReadyStatus>,
    /// With `status=deployed`: the result of sending it to the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RsyncStatus)]
    pub deployed_status: Option<RsyncStatus>,
    /// With `status=ready`: its state in the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReadyStatus)]
    pub ready_status: Option<ReadyStatus>,
}

impl<'a> ResourceStatus<'a> {
    /// Makes a status that contains only the identity of the resource.
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
