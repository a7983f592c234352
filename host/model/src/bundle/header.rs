//! The header of a report: the annotation with the parts of a report that a status has no place for.
//!
//! A status has no place for the coverage, and the definition of the original monitors removes unknown members of a
//! status. `docs/bundles.md` describes the format.

mod coverage;

use std::collections::BTreeSet;

use kindsight_contract::Cursor;
use serde::{Deserialize, Serialize};

use crate::{Digest, Gvk, Object, ObjectError, Rejected, RejectedIdentity, Report};
pub(super) use coverage::Stated;

/// The annotation of a ResourceBundleState that has the header of its report.
pub const REPORT_ANNOTATION: &str = "kindsight.dev/report";

/// The member of a stored status that has the header, because an `AppContext` stores only the status.
pub(crate) const MEMBER: &str = "kindsightReport";

/// The version of the format. A later format that this version cannot read has a larger number.
const FORMAT: u32 = 1;

/// Maximum size of a header, in bytes of JSON. Kubernetes limits all annotations of an object to 256 KiB.
pub(super) const HEADER_BYTES_MAX: usize = 128 * 1024;

/// Maximum size of the rejected objects and of the hooks in a header, in bytes of JSON each.
const LISTED_BYTES_MAX: usize = 16 * 1024;

/// Maximum length of a reason in a header, in bytes.
const REASON_BYTES_MAX: usize = 200;

/// The parts of a report that its status has no place for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    format: u32,
    /// The status that this header belongs to; absent if every status of the object may be combined with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<Digest>,
    /// The further objects of the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<PartEntry>,
    #[serde(flatten)]
    pub(super) coverage: Stated,
    /// Objects that exist and are not in the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rejected: Vec<RejectedEntry>,
    /// Objects that are hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<ObjectEntry>,
}

/// A further object of a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartEntry {
    /// Its name. It is in the namespace of the first object.
    pub(super) name: String,
    /// The number of its items.
    pub(super) items: usize,
    /// The digest of its status.
    pub(super) status: Digest,
}

/// The identity of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ObjectEntry {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    version: String,
    kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    namespace: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
}

/// An object that is not in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RejectedEntry {
    #[serde(flatten)]
    object: ObjectEntry,
    reason: String,
}

/// The reason why a header cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum HeaderError {
    #[error("{0} bytes are over the limit of {HEADER_BYTES_MAX} bytes")]
    TooLarge(usize),
    #[error("{0}")]
    NotAHeader(String),
    #[error("format {0} is newer than format {FORMAT}, the latest that this version reads")]
    Newer(u32),
}

impl Header {
    /// A header of one object with this coverage.
    pub(super) fn of(coverage: Stated) -> Self {
        Self {
            format: FORMAT,
            status: None,
            parts: Vec::new(),
            coverage,
            rejected: Vec::new(),
            hooks: Vec::new(),
        }
    }

    /// Reads a header. Unknown members are ignored.
    pub(super) fn read(json: &str) -> Result<Self, HeaderError> {
        if json.len() > HEADER_BYTES_MAX {
            return Err(HeaderError::TooLarge(json.len()));
        }
        let header: Self = serde_json::from_str(json)
            .map_err(|error| HeaderError::NotAHeader(error.to_string()))?;
        if header.format > FORMAT {
            return Err(HeaderError::Newer(header.format));
        }
        Ok(header)
    }

    /// The JSON of the header.
    pub(super) fn json(&self) -> String {
        // The members are texts and numbers, and the keys are texts.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns whether a stored status has a header.
    pub(crate) fn is_in(status_json: &str) -> bool {
        let mut is_in = false;
        let _ = Cursor::of(status_json).object(|cursor, key| {
            is_in |= key == MEMBER;
            cursor.skip().map(drop)
        });
        is_in
    }

    /// The header for a status that has all items of the report.
    pub(super) fn of_joined(mut self) -> Self {
        self.status = None;
        self.parts.clear();
        self
    }

    /// The header bound to a status that does not exist: readers keep the last report.
    pub(super) fn bound_to_none(&self) -> Self {
        Self {
            status: Some(Digest::of(b"")),
            ..self.clone()
        }
    }

    /// Returns whether the header belongs to one status only.
    pub(super) fn is_bound(&self) -> bool {
        self.status.is_some() || !self.parts.is_empty()
    }

    /// Adds the rejected objects. Returns the Kinds of the objects for which there is no space.
    pub(super) fn reject(&mut self, rejected: &[Rejected]) -> BTreeSet<Gvk> {
        let used: usize = self.rejected.iter().map(json_bytes).sum();
        let mut space = LISTED_BYTES_MAX.saturating_sub(used);
        let mut omitted = BTreeSet::new();
        for Rejected {
            error, identity, ..
        } in rejected
        {
            let Some(identity) = identity else {
                continue;
            };
            let reason = error.to_string();
            let entry = RejectedEntry {
                object: ObjectEntry::of(&identity.gvk, &identity.namespace, &identity.name),
                reason: crate::clean(&reason, REASON_BYTES_MAX).into_owned(),
            };
            match space.checked_sub(json_bytes(&entry)) {
                Some(rest) => {
                    space = rest;
                    self.rejected.push(entry);
                }
                None => drop(omitted.insert(identity.gvk.clone())),
            }
        }
        omitted
    }

    /// The rejected objects.
    pub(super) fn rejected(&self) -> impl Iterator<Item = Rejected> {
        let entries = self.rejected.iter().enumerate();
        entries.map(|(at, RejectedEntry { object, reason })| Rejected {
            pointer: format!("/metadata/annotations/kindsight.dev~1report/rejected/{at}"),
            error: ObjectError::NotReported(crate::clean(reason, REASON_BYTES_MAX).into_owned()),
            identity: RejectedIdentity::of(object.gvk(), &object.namespace, &object.name),
        })
    }

    /// Adds the hooks of a report, as far as there is space.
    pub(super) fn add_hooks(&mut self, report: &Report) {
        let mut space = LISTED_BYTES_MAX;
        let hooks = report.hooks.iter();
        for hook in hooks.filter_map(|at| report.objects.get(*at)) {
            let entry = ObjectEntry::of(&hook.gvk, &hook.namespace, &hook.name);
            let Some(rest) = space.checked_sub(json_bytes(&entry)) else {
                return;
            };
            space = rest;
            self.hooks.push(entry);
        }
    }

    /// The positions of the hooks among these objects.
    pub(super) fn hooks(&self, objects: &[Object]) -> BTreeSet<usize> {
        let hooks: BTreeSet<_> = self.hooks.iter().map(ObjectEntry::key).collect();
        let is_hook = |object: &Object| {
            let gvk = &object.gvk;
            hooks.contains(&(&*gvk.group, &*gvk.kind, &*object.namespace, &*object.name))
        };
        let positions = objects.iter().enumerate();
        let positions = positions.filter(|(_, object)| !hooks.is_empty() && is_hook(object));
        positions.map(|(at, _)| at).collect()
    }
}

impl ObjectEntry {
    fn of(gvk: &Gvk, namespace: &str, name: &str) -> Self {
        Self {
            group: gvk.group.to_string(),
            version: gvk.version.to_string(),
            kind: gvk.kind.to_string(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    fn gvk(&self) -> Gvk {
        Gvk::new(&self.group, &self.version, &self.kind)
    }

    fn key(&self) -> (&str, &str, &str, &str) {
        (&self.group, &self.kind, &self.namespace, &self.name)
    }
}

/// The size of a value as JSON, in bytes, with a separator.
fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |json| json.len() + 1)
}

#[cfg(test)]
mod tests;
