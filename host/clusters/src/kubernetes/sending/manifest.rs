//! The members of a manifest that its path needs.

use std::fmt::Write as _;

use kindsight_model::clean;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ObjectError;
use crate::SentKind;
use crate::kubernetes::REASON_BYTES_MAX;

/// Longest name of an object, and of each part of its `apiVersion`, in bytes.
const PART_BYTES_MAX: usize = 253;

/// The names in a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    /// Empty for the core group.
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    api_version: String,
    kind: String,
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    namespace: Option<String>,
    name: String,
    managed_fields: Option<IgnoredAny>,
    resource_version: Option<IgnoredAny>,
    uid: Option<IgnoredAny>,
}

impl Metadata {
    /// A member that refers to one version of one object. With it, the manifest could be applied only to this version.
    fn maintained(&self) -> Option<&'static str> {
        let members = [
            ("managedFields", &self.managed_fields),
            ("resourceVersion", &self.resource_version),
            ("uid", &self.uid),
        ];
        let mut members = members.into_iter();
        let set = members.find(|(_, value)| value.is_some());
        set.map(|(name, _)| name)
    }
}

impl Manifest {
    /// Reads the names, and refuses names that cannot be a part of a path.
    ///
    /// # Errors
    /// [`ObjectError::Refused`] without content of the manifest.
    pub(super) fn read(json: &str) -> Result<Self, ObjectError> {
        let refused = |what: &str| ObjectError::Refused(what.to_owned());
        let read: Read = serde_json::from_str(json).map_err(|_| {
            refused("the manifest has no `apiVersion`, `kind` or `metadata.name` as text")
        })?;
        let (group, version) = read.api_version.split_once('/').unwrap_or_default();
        let (group, version) = if read.api_version.contains('/') {
            (group, version)
        } else {
            ("", &*read.api_version)
        };
        if !(group.is_empty() || is_part(group)) || !is_part(version) {
            return Err(refused("`apiVersion` is not `version` or `group/version`"));
        }
        if let Some(member) = read.metadata.maintained() {
            let text = format!("the API server sets `metadata.{member}`: remove it");
            return Err(ObjectError::Refused(text));
        }
        let namespace = read
            .metadata
            .namespace
            .filter(|namespace| !namespace.is_empty());
        if namespace
            .as_deref()
            .is_some_and(|namespace| !is_part(namespace))
        {
            return Err(refused(
                "`metadata.namespace` is not the name of a namespace",
            ));
        }
        let name = read.metadata.name;
        let is_path = matches!(&*name, "" | "." | "..") || name.contains(['/', '%']);
        if is_path || name.len() > PART_BYTES_MAX {
            return Err(refused("`metadata.name` cannot be the name of an object"));
        }
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: read.kind,
            namespace,
            name,
        })
    }

    /// The Kind, for the rights of the project.
    pub(super) fn sent_kind(&self) -> SentKind<'_> {
        SentKind {
            group: &self.group,
            kind: &self.kind,
        }
    }

    /// The Kind with its version, as text for users.
    pub(super) fn kind_text(&self) -> String {
        let text = match &*self.group {
            "" => format!("{} of {}", self.kind, self.version),
            group => format!("{} of {group}/{}", self.kind, self.version),
        };
        clean(&text, REASON_BYTES_MAX).into_owned()
    }

    /// Returns whether the object is a Secret, whose content no text may contain.
    pub(super) fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }

    /// Returns whether the objects of the Kind are Kinds.
    pub(super) fn is_custom_kind(&self) -> bool {
        self.group == "apiextensions.k8s.io" && self.kind == "CustomResourceDefinition"
    }
}

/// Returns whether a text can be a part of a path: lower-case letters, digits, `-` and `.`, with a letter or digit at both
/// ends.
fn is_part(text: &str) -> bool {
    let is_end = |byte: Option<u8>| {
        byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let is_inner = |byte: u8| is_end(Some(byte)) || b"-.".contains(&byte);
    text.len() <= PART_BYTES_MAX
        && text.bytes().all(is_inner)
        && is_end(text.bytes().next())
        && is_end(text.bytes().next_back())
}

/// A name as a part of a path. Each byte that is not plain becomes a `%` escape.
pub(super) fn escaped(name: &str) -> String {
    let mut path = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            path.push(char::from(byte));
        } else {
            // Writing to a String does not fail.
            let _ = write!(path, "%{byte:02X}");
        }
    }
    path
}
