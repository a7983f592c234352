//! Decodes a ResourceBundleState: the report of the monitor in one cluster on one app.
//!
//! Decoding is total: any bytes give a bundle or an error, in memory and time linear in their number.
//! One bad item does not affect the others.

use std::sync::Arc;

use kindsight_contract::{Cursor, ReadError};

use crate::object::NO_BRACE;
use crate::{DeploymentId, Gvk, ObjectError, ObjectList, Origin, Report};

mod canonical;
mod document;
mod edits;
mod encode;
pub(crate) mod header;
mod items;
pub(crate) mod lists;
mod owners;
mod split;
mod status;

pub use canonical::status_digest;
pub use document::{BundleDocument, read_bundle};
pub use encode::{
    BundleDialect, BundleFormat, BundlePart, BundleWrite, EncodedBundle, REPORT_BYTES_MAX,
    StoredBundle, encode_bundle,
};
use header::Header;
pub use header::REPORT_ANNOTATION;
pub use split::{PART_LABEL, PartDocument, SplitBundle};
use status::Status;

/// Maximum size of a bundle, in bytes of JSON.
pub const BUNDLE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum number of items in a bundle, valid and invalid together.
pub const BUNDLE_ITEMS_MAX: usize = 100_000;

/// Report of the monitor of one cluster on one app.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// The deployment that the report is about, from the label `emco/deployment-id`.
    pub deployment: DeploymentId,
    /// The report.
    ///
    /// Its objects are Pods, Services, Deployments, ConfigMaps, Secrets, DaemonSets, Ingresses, Jobs,
    /// StatefulSets, CSRs and then `resourceStatuses`, each in the order of the bundle. A later object of the
    /// same Group, Version, Kind, namespace and name replaces an earlier one in its position. Objects without
    /// a name are all kept.
    pub report: Report,
}

impl Bundle {
    /// The `status`, unchanged except for the content of Secrets: the part of a bundle that the `AppContext`
    /// stores.
    pub fn status_json(&self) -> Arc<str> {
        self.report.status_json.clone().unwrap_or_default()
    }
}

/// One item of a bundle that could not be read. Other items are not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Its location, as a JSON pointer into the ResourceBundleState.
    pub pointer: String,
    /// The error.
    pub error: ObjectError,
    /// Identity of the object; `None` if the item does not name it.
    pub identity: Option<RejectedIdentity>,
}

/// Identity of an object whose item was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedIdentity {
    /// Group, version and Kind.
    pub gvk: Gvk,
    /// Its namespace; empty if the item has none.
    pub namespace: Arc<str>,
    /// Its name; never empty.
    pub name: Arc<str>,
}

impl RejectedIdentity {
    /// The identity with these parts; `None` without a Kind or a name.
    fn of(gvk: Gvk, namespace: &str, name: &str) -> Option<Self> {
        (!gvk.kind.is_empty() && !name.is_empty()).then(|| Self {
            gvk,
            namespace: namespace.into(),
            name: name.into(),
        })
    }
}

/// The reason why a bundle was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// Over [`BUNDLE_BYTES_MAX`].
    #[error("bundle of {0} bytes is over the limit of {BUNDLE_BYTES_MAX} bytes")]
    TooLarge(usize),
    /// Not JSON, or not of the expected structure.
    #[error("not a ResourceBundleState: {0}")]
    NotABundle(String),
    /// The label that names the deployment is missing or invalid.
    #[error("label `emco/deployment-id`: {0}")]
    Label(String),
    /// The monitor has not written a status yet.
    ///
    /// Unlike an empty status, which reports that there are no resources.
    #[error("the ResourceBundleState has no status yet")]
    NoStatus,
    /// The annotation with the header of the report cannot be used.
    #[error("annotation `{REPORT_ANNOTATION}`: {0}")]
    Annotation(String),
    /// The report is in several objects that do not belong together at this moment: its monitor is writing them, or
    /// some are missing.
    #[error("the report is in several objects that do not belong together: {0}")]
    Torn(String),
}

/// Decodes one ResourceBundleState that has a complete report. See [`read_bundle`] for a report in several objects.
///
/// # Errors
/// Only errors that make the bundle unusable; bad items are listed in [`Report::rejected`].
pub fn decode_bundle(bytes: &[u8]) -> Result<Bundle, BundleError> {
    match read_bundle(bytes)? {
        BundleDocument::Whole(bundle) => Ok(*bundle),
        BundleDocument::Split(split) => split.join(|_| None),
        BundleDocument::Part(_) => Err(BundleError::Label("it is missing".to_owned())),
    }
}

/// Decodes the bare `status` of a ResourceBundleState, as the `AppContext` stores it.
///
/// Pointers in [`Report::rejected`] begin at the root of the ResourceBundleState.
///
/// # Errors
/// Only errors that make the bundle unusable; bad items are listed in [`Report::rejected`].
pub fn decode_status(deployment: DeploymentId, status_json: &[u8]) -> Result<Bundle, BundleError> {
    let mut cursor = Cursor::of(text_of(status_json)?);
    let status = Status::read(&mut cursor).and_then(|status| cursor.end().map(|()| status));
    let status = status.map_err(|error| BundleError::status(&error))?;
    decode(deployment, status, None)
}

fn text_of(bytes: &[u8]) -> Result<&str, BundleError> {
    if bytes.len() > BUNDLE_BYTES_MAX {
        return Err(BundleError::TooLarge(bytes.len()));
    }
    std::str::from_utf8(bytes).map_err(|error| BundleError::NotABundle(error.to_string()))
}

/// Decodes a status. `header` is the header in the annotation of its object; a stored status has it in a member.
fn decode(
    deployment: DeploymentId,
    status: Status<'_>,
    header: Option<Header>,
) -> Result<Bundle, BundleError> {
    let Some(lists) = status.lists else {
        return Err(match status.text {
            "null" => BundleError::NoStatus,
            _ => BundleError::status(&NO_BRACE),
        });
    };
    let is_stored = lists.header.is_some();
    let header = match (header, lists.header) {
        (None, Some(json)) => Some(Header::read(json)?),
        (header, _) => header,
    };
    let contents = items::read(lists, status.text, header.as_ref());
    let Some(header) = header else {
        return Ok(Bundle::of(deployment, contents));
    };
    let mut bundle = Bundle::stated(deployment, contents, &header);
    if !is_stored {
        bundle.report.store_header(&header.of_joined().json());
    }
    Ok(bundle)
}

impl Bundle {
    /// The bundle of an original monitor.
    fn of(deployment: DeploymentId, contents: items::Contents) -> Self {
        let (objects, rejected) = (ObjectList::from(contents.objects), contents.rejected);
        let report = Report {
            related_coverage: lists::for_relations(&contents.coverage, &objects, &rejected),
            coverage: contents.coverage,
            objects,
            rejected,
            status_json: Some(contents.status_json),
            ..Report::empty(Origin::Monitor)
        };
        Self { deployment, report }
    }

    /// The bundle of kindsight's monitor, which keeps specs up to date.
    fn stated(deployment: DeploymentId, mut contents: items::Contents, header: &Header) -> Self {
        for object in &mut contents.objects {
            if object.has_old_spec {
                object.has_old_spec = false;
            }
        }
        let faults = owners::by_name(&mut contents.objects);
        let hooks = header.hooks(&contents.objects);
        contents.rejected.extend(header.rejected());
        let mut bundle = Self::of(deployment, contents);
        bundle.report.hooks = hooks;
        bundle.report.faults = faults.into_iter().collect();
        bundle
    }
}

impl BundleError {
    fn status(error: &impl std::fmt::Display) -> Self {
        Self::NotABundle(format!("`status`: {error}"))
    }
}

impl From<header::HeaderError> for BundleError {
    fn from(error: header::HeaderError) -> Self {
        Self::Annotation(error.to_string())
    }
}

impl From<ReadError> for BundleError {
    fn from(error: ReadError) -> Self {
        Self::NotABundle(error.to_string())
    }
}

#[cfg(test)]
mod tests;
