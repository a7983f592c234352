//! Reports in several ResourceBundleStates.
//!
//! Readers of the original treat each object with the label `emco/deployment-id` as a complete report, so only the first
//! object has it. A further object is never changed: its name has the digest of its content.

use std::fmt::Write as _;
use std::sync::Arc;

use kindsight_contract::Cursor;

use super::canonical::status_digest;
use super::header::{Header, PartEntry};
use super::items::ANY_KIND;
use super::lists::LISTS;
use super::status::{Lists, Status};
use super::{BUNDLE_BYTES_MAX, Bundle, BundleError, decode};
use crate::{DeploymentId, Digest};

/// The label of a further object of a report. It has the value of the label `emco/deployment-id` of the first object.
pub const PART_LABEL: &str = "kindsight.dev/report-of";

/// The first object of a report in several objects. It is kept as text until the others were read.
#[derive(Debug, Clone)]
pub struct SplitBundle {
    /// The deployment that the report is about, from the label `emco/deployment-id`.
    pub deployment: DeploymentId,
    header: Header,
    status: Arc<str>,
    /// True if the header belongs to the status. The monitor writes the two in separate requests.
    is_bound: bool,
}

/// A further object of a report, as text.
#[derive(Debug, Clone)]
pub struct PartDocument {
    /// The deployment that the report is about, from the label [`PART_LABEL`].
    pub deployment: DeploymentId,
    status: Arc<str>,
    digest: Digest,
}

impl PartDocument {
    pub(super) fn of(deployment: DeploymentId, status: &str) -> Self {
        Self {
            deployment,
            digest: status_digest(status),
            status: status.into(),
        }
    }

    /// Its size, in bytes of JSON.
    pub fn bytes(&self) -> usize {
        self.status.len()
    }
}

impl SplitBundle {
    pub(super) fn of(deployment: DeploymentId, header: Header, status: &str) -> Self {
        let is_bound = header.status.as_ref() == Some(&status_digest(status));
        Self {
            deployment,
            header,
            status: status.into(),
            is_bound,
        }
    }

    /// Its size, in bytes of JSON.
    pub fn bytes(&self) -> usize {
        self.status.len()
    }

    /// The report, from all its objects. `part` finds a further object by its name, in the namespace of the first one.
    ///
    /// # Errors
    /// [`BundleError::Torn`] if an object is missing, or has another content than the first object states. Errors that
    /// make the bundle unusable.
    pub fn join<'p>(
        &self,
        part: impl Fn(&str) -> Option<&'p PartDocument>,
    ) -> Result<Bundle, BundleError> {
        if !self.is_bound {
            return Err(BundleError::Torn(
                "the annotation belongs to another status".to_owned(),
            ));
        }
        let mut texts = vec![&*self.status];
        for entry in &self.header.parts {
            texts.push(&self.found(entry, &part)?.status);
        }
        let bytes = texts.iter().map(|text| text.len()).sum();
        if bytes > BUNDLE_BYTES_MAX {
            return Err(BundleError::TooLarge(bytes));
        }
        let joined = joined(&texts)?;
        let mut cursor = Cursor::of(&joined);
        let status = Status::read(&mut cursor).map_err(|error| BundleError::status(&error))?;
        let header = self.header.clone().of_joined();
        decode(self.deployment.clone(), status, Some(header))
    }

    fn found<'p>(
        &self,
        entry: &PartEntry,
        part: impl Fn(&str) -> Option<&'p PartDocument>,
    ) -> Result<&'p PartDocument, BundleError> {
        let name = crate::clean(&entry.name, crate::NAME_BYTES_MAX);
        let found = part(&entry.name).filter(|found| found.deployment == self.deployment);
        let found = found.ok_or_else(|| BundleError::Torn(format!("`{name}` is missing")))?;
        if found.digest != entry.status {
            return Err(BundleError::Torn(format!("`{name}` has another content")));
        }
        Ok(found)
    }
}

/// One status with the items of all these. Members other than lists are dropped, except for the sum of the counts.
fn joined(texts: &[&str]) -> Result<String, BundleError> {
    let mut all = Vec::new();
    for text in texts {
        let status = Status::read(&mut Cursor::of(text));
        let status = status.map_err(|error| BundleError::status(&error))?;
        all.extend(status.lists);
    }
    let count: usize = all.iter().filter_map(|lists| lists.count).sum();
    let mut joined = format!(r#"{{"resourceCount":{count}"#);
    let fields = LISTS.iter().map(|list| list.field).chain([ANY_KIND]);
    for field in fields {
        if let Some(list) = joined_list(&all, field) {
            // Writing to a String does not fail.
            let _ = write!(joined, r#","{field}":{list}"#);
        }
    }
    joined.push('}');
    Ok(joined)
}

/// The items of one list in all statuses; `None` if no status has the list. A text that is not an array takes
/// precedence, so that the reader finds the fault.
fn joined_list(all: &[Lists<'_>], field: &str) -> Option<String> {
    let texts = all.iter().filter_map(|lists| lists.text(field));
    let texts: Vec<&str> = texts.filter(|text| *text != "null").collect();
    let items = |text: &str| -> Option<String> {
        let items = text.strip_prefix('[')?.strip_suffix(']')?.trim();
        Some(items.to_owned())
    };
    let items: Option<Vec<String>> = texts.iter().map(|text| items(text)).collect();
    let Some(items) = items else {
        return texts
            .iter()
            .find(|text| !text.starts_with('['))
            .map(|text| (*text).to_owned());
    };
    let items: Vec<String> = items.into_iter().filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| format!("[{}]", items.join(",")))
}
