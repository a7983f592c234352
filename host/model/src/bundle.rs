//! Reads a ResourceBundleState: what the monitor in one cluster saw of one app.
//!
//! Decoding is total: whatever the bytes are, it ends with a bundle or with a reason, in memory and
//! time that grow with the bytes. One bad item never loses its neighbours.

use std::sync::Arc;

use serde::de::{IgnoredAny, MapAccess};
use serde_json::value::RawValue;

use crate::labels::LabelledMetadata;
use crate::lenient::{self, Lenient, Text};
use crate::object::read_object;
use crate::{DeploymentId, Object, ObjectError};

mod items;

/// The largest bundle that is read, in bytes of JSON.
pub const BUNDLE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The most items one bundle may carry, good and bad ones together.
pub const BUNDLE_ITEMS_MAX: usize = 100_000;

/// What one cluster said of one app.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// From the label `emco/deployment-id`.
    pub deployment: DeploymentId,
    /// Everything that could be read: Pods, Services, Deployments, ConfigMaps, Secrets, DaemonSets,
    /// Ingresses, Jobs, StatefulSets, CSRs and then `resourceStatuses`, each in the bundle's order.
    ///
    /// No two have the same Group, Version, Kind, namespace and name (unless they have no name):
    /// the first one's place, the last one's content.
    pub objects: Vec<Object>,
    /// Everything that could not, with why, in the same order.
    pub rejected: Vec<Rejected>,
    /// The `status` as it came: what the `AppContext` stores of a bundle.
    pub status_json: Arc<str>,
}

/// One item of a bundle that could not be read. Its neighbours are not affected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Where it stands, as a JSON pointer into the ResourceBundleState.
    pub pointer: String,
    /// Why.
    pub error: ObjectError,
}

/// Why a whole bundle was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// Over [`BUNDLE_BYTES_MAX`].
    #[error("bundle of {0} bytes is over the limit of {BUNDLE_BYTES_MAX} bytes")]
    TooLarge(usize),
    /// Not JSON of the right shape.
    #[error("not a ResourceBundleState: {0}")]
    NotABundle(String),
    /// The label that says whose it is is missing or wrong.
    #[error("label `emco/deployment-id`: {0}")]
    Label(String),
    /// It was created and its monitor has not written a status yet.
    ///
    /// Not the same as an empty one, which says that nothing is there.
    #[error("the ResourceBundleState has no status yet")]
    NoStatus,
}

/// Reads one ResourceBundleState.
///
/// # Errors
/// Only what makes the whole unusable; a bad item lands in [`Bundle::rejected`].
pub fn decode_bundle(bytes: &[u8]) -> Result<Bundle, BundleError> {
    let document: Document<'_> = read_object(text_of(bytes)?).map_err(BundleError::NotABundle)?;
    if !matches!(document.kind.0.as_ref(), "" | "ResourceBundleState") {
        return Err(BundleError::NotABundle("its `kind` is another".to_owned()));
    }
    let deployment = document.deployment()?;
    let status = document.status.map_or("null", RawValue::get);
    decode(deployment, status)
}

/// Reads the bare `status` of a ResourceBundleState, which is what the `AppContext` stores.
///
/// Pointers in [`Bundle::rejected`] are the same as if the whole had been read.
///
/// # Errors
/// Only what makes the whole unusable; a bad item lands in [`Bundle::rejected`].
pub fn decode_status(deployment: DeploymentId, status_json: &[u8]) -> Result<Bundle, BundleError> {
    decode(deployment, text_of(status_json)?)
}

fn text_of(bytes: &[u8]) -> Result<&str, BundleError> {
    if bytes.len() > BUNDLE_BYTES_MAX {
        return Err(BundleError::TooLarge(bytes.len()));
    }
    std::str::from_utf8(bytes).map_err(|error| BundleError::NotABundle(error.to_string()))
}

fn decode(deployment: DeploymentId, status: &str) -> Result<Bundle, BundleError> {
    if status.trim() == "null" {
        return Err(BundleError::NoStatus);
    }
    let lists = read_object(status)
        .map_err(|error| BundleError::NotABundle(format!("`status`: {error}")))?;
    let (objects, rejected) = items::read(&lists);
    Ok(Bundle {
        deployment,
        objects,
        rejected,
        status_json: status.into(),
    })
}

/// The outermost level; the rest of it (`spec` and whatever else) is not looked at.
#[derive(Default)]
struct Document<'de> {
    kind: Text<'de>,
    metadata: Option<&'de RawValue>,
    status: Option<&'de RawValue>,
}

impl Document<'_> {
    fn deployment(&self) -> Result<DeploymentId, BundleError> {
        let metadata = self.metadata.map_or("null", RawValue::get);
        let mut metadata: LabelledMetadata = lenient::read(metadata)
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

impl<'de> Lenient<'de> for Document<'de> {
    fn member<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "kind" => self.kind = lenient::next(map)?,
            "metadata" => self.metadata = Some(map.next_value()?),
            "status" => self.status = Some(map.next_value()?),
            _ => drop(map.next_value::<IgnoredAny>()?),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
