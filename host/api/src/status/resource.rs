//! Resources in answers to status queries.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::Arc;

use jiff::Timestamp;
use kindsight_model::{Claims, Gvk, InterpretedBy, Phase, RsyncStatus};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Detail;
use crate::explanation::{Explanation, SpecSource};

/// One resource. With `type=all`, it has the members of `type=rsync` and of `type=cluster`.
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
    /// With `output=detail`: the manifest, or with `type=cluster` the object that the cluster
    /// reported, or with `type=all` this object, else the manifest. Values of Secrets are
    /// `REDACTED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = serde_json::Value)]
    pub detail: Option<Detail>,
    /// With `type=rsync`: the result of sending it to the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RsyncStatus)]
    pub rsync_status: Option<RsyncStatus>,
    /// With `type=cluster`: its state, as the interpreter names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "Ready")]
    pub cluster_status: Option<Cow<'a, str>>,
    /// With `type=cluster`: its namespace. Omitted if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "default")]
    pub namespace: Cow<'a, str>,
    /// With `type=cluster`: the phase of its state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Phase)]
    pub phase: Option<Phase>,
    /// With `type=cluster`: the reason of the state, as one word.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "Progressing")]
    pub reason: Cow<'a, str>,
    /// With `type=cluster`: the reason of the state, as a sentence.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "1 of 2 replicas are ready")]
    pub message: Cow<'a, str>,
    /// With `type=cluster`: start time of the state according to the object. If the interpreter
    /// does not provide it, the time when this server first detected the state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub since: Option<Timestamp>,
    /// With `type=cluster`: `false` for a resource that exists only in the cluster, such as the
    /// Pods of a Deployment. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    pub expected: Option<bool>,
    /// With `type=cluster`: `true` for a hook, which ran once for an installation or an upgrade. A
    /// hook counts in `cluster-status`, but counts in the members that begin with `ready-` only if
    /// nothing else is left. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool)]
    pub hook: Option<bool>,
    /// With `type=cluster`: the owner of this resource, if a resource of the same app and cluster
    /// owns it. This makes it a child: it counts in `cluster-status`, but not in the members that
    /// begin with `ready-`, because its owner represents it. Omitted for resources with a manifest,
    /// and if the report does not contain an owner.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ResourceOwner<'a>)]
    pub owner: Option<ResourceOwner<'a>>,
    /// With `type=cluster`: `restartCount` of the Pod's container that restarted most. Omitted if no
    /// container restarted, and for other Kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u32, example = 7)]
    pub restarts: Option<NonZeroU32>,
    /// With `explain=true`: the interpreter that judged the resource. Omitted if the host itself
    /// did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = InterpretedBy)]
    pub interpreter: Option<Arc<InterpretedBy>>,
    /// With `explain=true`: `manifest` if the interpreter received the spec of the manifest, because
    /// the report of the cluster has none. Omitted otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = SpecSource)]
    pub spec: Option<SpecSource>,
    /// With `explain=true`: the claims of several applications on the resource. Omitted if one
    /// application claims it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Claims)]
    pub claims: Option<Arc<Claims>>,
    /// With `explain=true`: that interpreter's declaration of the state and the reason. Omitted if
    /// it declares neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Explanation)]
    pub explanation: Option<Explanation>,
}

impl<'a> Resource<'a> {
    /// Makes a resource that contains only its identity.
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
            restarts: None,
            interpreter: None,
            spec: None,
            claims: None,
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
    /// Namespace of the owner. Omitted if it has none.
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    #[schema(example = "default")]
    pub namespace: Cow<'a, str>,
}
