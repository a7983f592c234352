//! The arguments and values that the commands for artifacts share.

use clap::Args;
use kindsight_server::oci::{Reference, Repository, Version};

use crate::config::registry::ConnectionArgs;

/// An artifact of the command line.
#[derive(Debug, Args)]
pub(super) struct ArtifactArg {
    /// Artifact: `oci://HOST/REPOSITORY:TAG`, optionally with `@sha256:…`, or `oci-layout:PATH[:TAG]`.
    #[arg(value_name = "REFERENCE", value_parser = reference)]
    pub(super) reference: Reference,
    #[command(flatten)]
    pub(super) connection: ConnectionArgs,
}

impl ArtifactArg {
    /// Opens the repository, and determines the version.
    ///
    /// # Errors
    /// The layout folder cannot be read, or the reference names no version.
    pub(super) fn open(&self) -> anyhow::Result<(Repository, Version)> {
        let repository = self.connection.client()?.open(&self.reference)?;
        let version = repository.version(&self.reference)?;
        Ok((repository, version))
    }
}

/// Parser of a reference, or of the path of a layout folder.
pub(super) fn reference(text: &str) -> Result<Reference, String> {
    match Reference::of_argument(text).map_err(|error| error.to_string())? {
        Some(reference) => Ok(reference),
        None => Err("expected `oci://HOST/REPOSITORY:TAG` or a folder in OCI layout; a file alone is not an artifact".to_owned()),
    }
}

/// The time of this moment, or of `SOURCE_DATE_EPOCH` for reproducible artifacts, in RFC 3339.
///
/// # Errors
/// `SOURCE_DATE_EPOCH` is not a number of seconds.
pub(super) fn created() -> anyhow::Result<String> {
    let now = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => {
            let seconds = seconds.parse().ok();
            let time = seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
            time.ok_or_else(|| anyhow::anyhow!("SOURCE_DATE_EPOCH is not a number of seconds"))?
        }
        Err(_) => jiff::Timestamp::from_millisecond(kindsight_server::now_ms())?,
    };
    Ok(jiff::Timestamp::from_second(now.as_second())?.to_string())
}
