//! Decodes a ResourceBundleState: the report of the monitor in one cluster on one app.
//!
//! Decoding is total: any bytes give a bundle or an error, in memory and time linear in their number.
//! One bad item does not affect the others.

use std::sync::Arc;

use kindsight_contract::{Cursor, ReadError};

use crate::labels::LabelledMetadata;
use crate::lenient;
use crate::object::NO_BRACE;
use crate::{DeploymentId, Gvk, ObjectError, ObjectList, Origin, Report};

mod edits;
mod items;
pub(crate) mod lists;
mod status;

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
}

/// Decodes one ResourceBundleState.
///
/// # Errors
/// Only errors that make the bundle unusable; bad items are listed in [`Report::rejected`].
pub fn decode_bundle(bytes: &[u8]) -> Result<Bundle, BundleError> {
    let document = Document::read(text_of(bytes)?)?;
    if !matches!(&*document.kind, "" | "ResourceBundleState") {
        return Err(BundleError::NotABundle(
            "its `kind` is not `ResourceBundleState`".to_owned(),
        ));
    }
    let deployment = document.deployment()?;
    decode(deployment, document.status.ok_or(BundleError::NoStatus)?)
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
    decode(deployment, status)
}

fn text_of(bytes: &[u8]) -> Result<&str, BundleError> {
    if bytes.len() > BUNDLE_BYTES_MAX {
        return Err(BundleError::TooLarge(bytes.len()));
    }
    std::str::from_utf8(bytes).map_err(|error| BundleError::NotABundle(error.to_string()))
}

fn decode(deployment: DeploymentId, status: Status<'_>) -> Result<Bundle, BundleError> {
    let Some(lists) = status.lists else {
        return Err(match status.text {
            "null" => BundleError::NoStatus,
            _ => BundleError::status(&NO_BRACE),
        });
    };
    let contents = items::read(lists, status.text);
    let (objects, rejected) = (ObjectList::from(contents.objects), contents.rejected);
    let report = Report {
        related_coverage: lists::for_relations(&contents.coverage, &objects, &rejected),
        coverage: contents.coverage,
        objects,
        rejected,
        status_json: Some(contents.status_json),
        ..Report::empty(Origin::Monitor)
    };
    Ok(Bundle { deployment, report })
}

impl BundleError {
    fn status(error: &impl std::fmt::Display) -> Self {
        Self::NotABundle(format!("`status`: {error}"))
    }
}

impl From<ReadError> for BundleError {
    fn from(error: ReadError) -> Self {
        Self::NotABundle(error.to_string())
    }
}

/// The top level of a ResourceBundleState; other members, such as `spec`, are passed over.
#[derive(Default)]
struct Document<'d> {
    kind: String,
    metadata: Option<&'d str>,
    status: Option<Status<'d>>,
}

impl<'d> Document<'d> {
    fn read(text: &'d str) -> Result<Self, BundleError> {
        let mut cursor = Cursor::of(text);
        if cursor.first() != Some(b'{') {
            return Err(BundleError::NotABundle(NO_BRACE.to_owned()));
        }
        let mut document = Self::default();
        cursor.object(|cursor, key| {
            match key {
                "kind" => document.kind = text_at(cursor)?,
                "metadata" => document.metadata = Some(cursor.skip()?),
                "status" => document.status = Some(Status::read(cursor)?),
                _ => drop(cursor.skip()?),
            }
            Ok(())
        })?;
        cursor.end()?;
        Ok(document)
    }

    fn deployment(&self) -> Result<DeploymentId, BundleError> {
        let mut metadata: LabelledMetadata = lenient::read(self.metadata.unwrap_or("null"))
            .map_err(|error| BundleError::NotABundle(format!("`metadata`: {error}")))?;
        metadata
            .labels
            .0
            .remove(DeploymentId::LABEL)
            .ok_or_else(|| BundleError::Label("it is missing".to_owned()))?
            .parse()
            .map_err(|error: crate::NameError| BundleError::Label(error.to_string()))
    }
}

/// Reads a string; anything else is empty.
fn text_at(cursor: &mut Cursor<'_>) -> Result<String, ReadError> {
    let read = cursor.tree();
    let Some((text, tree)) = read else {
        return cursor.skip().map(|_| String::new());
    };
    Ok(tree.document(text).root().text_or_empty().to_owned())
}

#[cfg(test)]
mod tests;
