//! Resources in answers to status queries.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use kindsight_model::{Gvk, InterpretedBy, Phase, RsyncStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Detail;
use crate::explanation::Explanation;

/// One resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Resource<'a> {
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Cow<'a, Gvk>,
    /// Name of the resource.
    #[serde(borrow)]
    #[schema(example = "sink-configmap")]
    pub name: Cow<'a, str>,
    /// With `output=detail`: the manifest, or with `type=cluster` the object as the cluster reported
    /// it. Values of Secrets are `REDACTED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value)]
    pub detail: Option<Detail>,
    /// With `type=rsync`: result of sending it to the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RsyncStatus)]
    pub rsync_status: Option<RsyncStatus>,
    /// With `type=cluster`: its state, in the word of the interpreter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Ready")]
    pub cluster_status: Option<Cow<'a, str>>,
    /// With `type=cluster`: its namespace; left out if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "default")]
    pub namespace: Cow<'a, str>,
    /// With `type=cluster`: the phase of its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Phase)]
    pub phase: Option<Phase>,
    /// With `type=cluster`: reason of the state, in one word.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "Progressing")]
    pub reason: Cow<'a, str>,
    /// With `type=cluster`: reason of the state, in a sentence.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "1 of 2 replicas are ready")]
    pub message: Cow<'a, str>,
    /// With `type=cluster`: time since when it is in this state, by the object itself where its interpreter
    /// tells, else since this server first saw it so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// With `type=cluster`: `false` for a resource that only the cluster has, such as the Pods of a
    /// Deployment; otherwise left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    pub expected: Option<bool>,
    /// With `type=cluster`: `true` for a hook, which ran once for an installation or an upgrade: it is counted
    /// in `cluster-status`, and in what begins with `ready-` only where nothing else is left. Otherwise left
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    pub hook: Option<bool>,
    /// With `type=cluster`: the resource of the same app and cluster that owns it, which makes it a child:
    /// it is counted in `cluster-status`, and not in what begins with `ready-`, where its owner answers for
    /// it. Left out for what was sent, and for what has no owner in the report.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ResourceOwner<'a>)]
    pub owner: Option<ResourceOwner<'a>>,
    /// With `explain=true`: the interpreter that judged it; left out where the host itself did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = InterpretedBy)]
    pub interpreter: Option<Arc<InterpretedBy>>,
    /// With `explain=true`: what that interpreter declares of the state and the reason; left out where it
    /// declares nothing of either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Explanation)]
    pub explanation: Option<Explanation>,
}

impl<'a> Resource<'a> {
    /// Of which nothing but its identity is told.
    pub fn new(gvk: &'a Gvk, name: &'a str) -> Self {
        Self {
            gvk: Cow::Borrowed(gvk),
            name: name.into(),
            detail: None,
            rsync_status: None,
            cluster_status: None,
            namespace: "".into(),
            phase: None,
            reason: "".into(),
            message: "".into(),
            since: None,
            expected: None,
            hook: None,
            owner: None,
            interpreter: None,
            explanation: None,
        }
    }
}

/// The owner of a child, which is a resource of the same app and cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ResourceOwner<'a> {
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Cow<'a, Gvk>,
    /// Name of the owner.
    #[serde(borrow)]
    #[schema(example = "packetgen-warmup")]
    pub name: Cow<'a, str>,
    /// Namespace of the owner; left out if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "default")]
    pub namespace: Cow<'a, str>,
}
