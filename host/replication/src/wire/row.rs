//! Rows: the resources of a placement.

use std::sync::Arc;

use kindsight_model::{Claims, Gvk, InterpretedBy, Phase, RsyncStatus, Texts, Verdict};
use kindsight_status::{ResourceView, Role};
use serde::{Deserialize, Serialize};

use super::error::WireError;
use super::object::WireObject;

/// One step that builds the resources of a placement from its previous resources.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowOp {
    /// The resources from this position of the previous resources on, and their number.
    Keep(usize, usize),
    /// A new or changed resource.
    Row(Box<Row>),
}

/// A resource with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// Position of the previous version among the previous resources; left out for a new resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<usize>,
    #[serde(rename = "GVK")]
    gvk: Gvk,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    namespace: Arc<str>,
    name: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    manifest: Option<WireObject>,
    /// True if the manifest is the same as in the previous version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    same_manifest: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<WireObject>,
    /// True if the object is the same as in the previous version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    same_object: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rsync: Option<RsyncStatus>,
    phase: Phase,
    state: Arc<str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    reason: Arc<str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    message: Arc<str>,
    /// Start of the state according to the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told_since_ms: Option<i64>,
    /// Number of the interpreter; left out for a verdict of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<u32>,
    /// Start of the state as it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since_ms: Option<i64>,
    role: WireRole,
    /// Position of the owner among the new resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claims: Option<Arc<Claims>>,
}

/// The role of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireRole {
    Sent,
    Unsent,
    SentHook,
    Hook,
    Missing,
    Gone,
}

impl Row {
    /// The form on the wire of a resource. `like` is its previous version with its position. The caller sets the number
    /// of the interpreter.
    pub(crate) fn of(resource: &ResourceView, like: Option<(usize, &ResourceView)>) -> Self {
        let before = like.map(|(_, before)| before);
        let manifest = resource.manifest.as_ref();
        let object = resource.object.as_ref();
        let same_manifest = manifest
            .zip(before.and_then(|before| before.manifest.as_ref()))
            .is_some_and(|(now, before)| now.is_unchanged(before));
        let same_object = object
            .zip(before.and_then(|before| before.object.as_ref()))
            .is_some_and(|(now, before)| now.is_unchanged(before));
        let wire = |object| WireObject::of(object, &resource.gvk);
        let verdict = &resource.verdict;
        Self {
            like: like.map(|(position, _)| position),
            gvk: resource.gvk.clone(),
            namespace: Arc::clone(&resource.namespace),
            name: Arc::clone(&resource.name),
            manifest: manifest.filter(|_| !same_manifest).map(wire),
            same_manifest,
            object: object.filter(|_| !same_object).map(wire),
            same_object,
            rsync: resource.rsync,
            phase: verdict.phase,
            state: Arc::clone(&verdict.state),
            reason: Arc::clone(&verdict.reason),
            message: Arc::clone(&verdict.message),
            told_since_ms: verdict.since_ms,
            by: None,
            since_ms: resource.since_ms,
            role: WireRole::of(resource.role),
            owner: resource.owner,
            claims: resource.claims.clone(),
        }
    }

    /// The resource, whose texts are shared with other resources. `like` is its previous version.
    pub(crate) fn read(
        self,
        like: Option<&ResourceView>,
        by: Option<Arc<InterpretedBy>>,
        texts: &mut Texts,
    ) -> Result<ResourceView, WireError> {
        let same = |is_same: bool, before: Option<&kindsight_model::Object>| {
            let before = before.cloned();
            let unknown = WireError::Unknown("the previous version of a resource");
            if is_same {
                before.map(Some).ok_or(unknown)
            } else {
                Ok(None)
            }
        };
        let kept_manifest = same(
            self.same_manifest,
            like.and_then(|before| before.manifest.as_ref()),
        )?;
        let kept_object = same(
            self.same_object,
            like.and_then(|before| before.object.as_ref()),
        )?;
        let gvk = texts.gvk(&self.gvk.group, &self.gvk.version, &self.gvk.kind);
        let mut read = |object: Option<WireObject>| {
            let object = object.map(|object| object.read(&gvk, texts));
            object.transpose()
        };
        let (manifest, object) = (read(self.manifest)?, read(self.object)?);
        let (manifest, object) = (kept_manifest.or(manifest), kept_object.or(object));
        let named = object.as_ref().or(manifest.as_ref());
        let name = named
            .map(|named| &named.name)
            .filter(|name| **name == self.name);
        Ok(ResourceView {
            namespace: texts.share(self.namespace),
            name: name.cloned().unwrap_or(self.name),
            manifest,
            rsync: self.rsync,
            object,
            verdict: Verdict {
                phase: self.phase,
                state: texts.share(self.state),
                reason: texts.share(self.reason),
                message: texts.share(self.message),
                since_ms: self.told_since_ms,
                recheck_at_ms: None,
                by,
            },
            since_ms: self.since_ms,
            role: self.role.role(),
            owner: self.owner,
            claims: self.claims,
            gvk,
        })
    }
}

impl WireRole {
    fn of(role: Role) -> Self {
        match role {
            Role::Sent => Self::Sent,
            Role::Unsent => Self::Unsent,
            Role::SentHook => Self::SentHook,
            Role::Hook => Self::Hook,
            Role::Missing => Self::Missing,
            Role::Gone => Self::Gone,
        }
    }

    fn role(self) -> Role {
        match self {
            Self::Sent => Role::Sent,
            Self::Unsent => Role::Unsent,
            Self::SentHook => Role::SentHook,
            Self::Hook => Role::Hook,
            Self::Missing => Role::Missing,
            Self::Gone => Role::Gone,
        }
    }
}
