//! Items: a later line forms a report of them.

use std::sync::Arc;

use kindsight_model::{
    Claims, Gvk, Identity, MissingResource, Object, ObjectError, OtherClaim, Rejected,
    RejectedIdentity, Removal,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// An object.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ObjectLine<'l> {
    /// The object, without the content of Secrets.
    #[serde(borrow)]
    pub json: &'l RawValue,
    /// Its Kind, if the JSON does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gvk: Option<WireKind>,
    /// True if the spec may be older than the status.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub old_spec: bool,
}

/// Group, version and Kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WireKind {
    /// API group; empty for the core group.
    #[serde(default)]
    pub group: Arc<str>,
    /// API version.
    #[serde(default)]
    pub version: Arc<str>,
    /// Kind.
    pub kind: Arc<str>,
}

/// An object that could not be decoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RejectedLine {
    /// Its location, as text for readers.
    pub pointer: String,
    /// The word of the error.
    pub error: String,
    /// The text of the error `not-an-object`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The number of the errors `too-large` and `too-many`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
    /// Its Kind, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gvk: Option<WireKind>,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub namespace: Arc<str>,
    /// Its name.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub name: Arc<str>,
}

/// The claims of several applications on an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClaimsLine {
    /// The position of the object.
    pub position: usize,
    /// The mark or the inventory that assigns the object to its application.
    pub evidence: Arc<str>,
    /// The claims of other applications.
    #[serde(default)]
    pub others: Vec<OtherClaim>,
}

/// An object that is no longer in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RemovedLine {
    /// API group; empty for the core group.
    #[serde(default)]
    pub group: Arc<str>,
    /// Kind.
    pub kind: Arc<str>,
    /// Namespace; empty for a cluster-scoped object.
    #[serde(default)]
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
    /// The word of the reason. With an unknown word, the reason counts as unknown.
    pub reason: String,
}

/// A resource that an inventory lists and that the cluster does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MissingLine {
    /// Its Kind.
    pub gvk: WireKind,
    /// Its namespace; empty for a cluster-scoped resource.
    #[serde(default)]
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The inventory, as text for readers.
    #[serde(default)]
    pub inventory: Arc<str>,
}

/// Writes the line of an object. The JSON of an object may have newlines between its tokens, which would end the line.
pub fn object_line(object: &Object) -> String {
    let mut line = String::with_capacity(object.json.len() + 32);
    line.push_str(r#"{"object":{"json":"#);
    for part in object.json.split(['\n', '\r']) {
        line.push_str(part);
    }
    if !object.names_itself {
        let gvk = serde_json::to_string(&WireKind::from(&object.gvk));
        line.push_str(r#","gvk":"#);
        line.push_str(gvk.as_deref().unwrap_or("null"));
    }
    if object.has_old_spec {
        line.push_str(r#","old-spec":true"#);
    }
    line.push_str("}}");
    line
}

impl From<&Gvk> for WireKind {
    fn from(gvk: &Gvk) -> Self {
        Self {
            group: Arc::clone(&gvk.group),
            version: Arc::clone(&gvk.version),
            kind: Arc::clone(&gvk.kind),
        }
    }
}

impl From<WireKind> for Gvk {
    fn from(kind: WireKind) -> Self {
        Self {
            group: kind.group,
            version: kind.version,
            kind: kind.kind,
        }
    }
}

impl From<&Rejected> for RejectedLine {
    fn from(rejected: &Rejected) -> Self {
        let (error, text, number) = match &rejected.error {
            ObjectError::NotAnObject(why) => ("not-an-object", why.clone(), None),
            ObjectError::TooLarge(bytes) => ("too-large", String::new(), Some(*bytes)),
            ObjectError::NoKind => ("no-kind", String::new(), None),
            ObjectError::TooMany(items) => ("too-many", String::new(), Some(*items)),
            ObjectError::NotReported(why) => ("not-reported", why.clone(), None),
        };
        let identity = rejected.identity.as_ref();
        Self {
            pointer: rejected.pointer.clone(),
            error: error.to_owned(),
            text,
            number,
            gvk: identity.map(|identity| (&identity.gvk).into()),
            namespace: identity
                .map_or_else(Arc::default, |identity| Arc::clone(&identity.namespace)),
            name: identity.map_or_else(Arc::default, |identity| Arc::clone(&identity.name)),
        }
    }
}

impl From<RejectedLine> for Rejected {
    fn from(line: RejectedLine) -> Self {
        let number = line.number.unwrap_or_default();
        let error = match &*line.error {
            "too-large" => ObjectError::TooLarge(number),
            "no-kind" => ObjectError::NoKind,
            "too-many" => ObjectError::TooMany(number),
            "not-reported" => ObjectError::NotReported(line.text),
            _ => ObjectError::NotAnObject(line.text),
        };
        let (namespace, name) = (line.namespace, line.name);
        let gvk = line.gvk.filter(|gvk| !gvk.kind.is_empty());
        Self {
            pointer: line.pointer,
            error,
            identity: gvk
                .filter(|_| !name.is_empty())
                .map(|gvk| RejectedIdentity {
                    gvk: gvk.into(),
                    namespace,
                    name,
                }),
        }
    }
}

impl ClaimsLine {
    /// The line about the object at a position.
    pub fn new(position: usize, claims: &Claims) -> Self {
        Self {
            position,
            evidence: Arc::clone(&claims.evidence),
            others: claims.others.clone(),
        }
    }
}

impl From<ClaimsLine> for Claims {
    fn from(line: ClaimsLine) -> Self {
        Self {
            evidence: line.evidence,
            others: line.others,
        }
    }
}

impl RemovedLine {
    /// The line about a removed object.
    pub fn new(identity: &Identity, removal: Removal) -> Self {
        let reason = match removal {
            Removal::Deleted => "deleted",
            Removal::LeftApplication => "left-application",
            Removal::OutOfScope => "out-of-scope",
            Removal::KindRemoved => "kind-removed",
        };
        Self {
            group: Arc::clone(&identity.group),
            kind: Arc::clone(&identity.kind),
            namespace: Arc::clone(&identity.namespace),
            name: Arc::clone(&identity.name),
            reason: reason.to_owned(),
        }
    }

    /// The object and the reason; `None` if this release does not know the reason.
    pub fn removal(self) -> Option<(Identity, Removal)> {
        let removal = match &*self.reason {
            "deleted" => Removal::Deleted,
            "left-application" => Removal::LeftApplication,
            "out-of-scope" => Removal::OutOfScope,
            "kind-removed" => Removal::KindRemoved,
            _ => return None,
        };
        let identity = Identity {
            group: self.group,
            kind: self.kind,
            namespace: self.namespace,
            name: self.name,
        };
        Some((identity, removal))
    }
}

impl From<&MissingResource> for MissingLine {
    fn from(resource: &MissingResource) -> Self {
        Self {
            gvk: (&resource.gvk).into(),
            namespace: Arc::clone(&resource.namespace),
            name: Arc::clone(&resource.name),
            inventory: Arc::clone(&resource.inventory),
        }
    }
}

impl From<MissingLine> for MissingResource {
    fn from(line: MissingLine) -> Self {
        Self {
            gvk: line.gvk.into(),
            namespace: line.namespace,
            name: line.name,
            inventory: line.inventory,
        }
    }
}
