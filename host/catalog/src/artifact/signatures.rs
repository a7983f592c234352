//! Required signatures of live versions: at a start from local files, and then from the repository.

use kindsight_api::interpreters::Refusal;
use kindsight_model::{InterpreterName, Source};
use kindsight_registry::{Error as RegistryError, Version as Named, component_digest, verify};

use super::cache::Proof;
use super::{ArtifactFollower, ArtifactSource, Failure, opened};
use crate::catalog::Catalog;
use crate::state::Version;

/// Removes versions from the catalog before the first request: of references that are not
/// configured any more, and, if signatures are required, those whose stored signatures are not
/// valid. Reads only local files. Blocks.
///
/// A version without a stored manifest stays live: another host that shares the store may have
/// admitted it. Its follower verifies it.
pub fn forget_artifacts(catalog: &Catalog, source: &ArtifactSource) {
    let rank = source.rank;
    let configured = source.references.iter().map(ToString::to_string);
    let configured: Vec<String> = configured.collect();
    for known in catalog.files(rank) {
        if configured.contains(&known) {
            continue;
        }
        for name in catalog.names_in(rank, &known) {
            let why = "the configuration does not name it any more";
            // The next start tries again.
            let _ = take_out(catalog, rank, &known, &name, why);
        }
    }
    if source.keys.is_empty() {
        return;
    }
    for reference in &source.references {
        let artifact = ArtifactFollower::new(source, reference.clone());
        let file = &artifact.file;
        for (name, live) in catalog.live_versions_of(rank, file) {
            match artifact.proof(&live) {
                Proof::Valid => {}
                Proof::Missing => {
                    let version = live.version;
                    tracing::info!(artifact = file, %name, version, "no signature of the live version is stored; it is verified in the registry");
                }
                Proof::Invalid => {
                    let why =
                        "no valid signature of it is stored; it is live again after it was pulled";
                    // The follower tries again.
                    let _ = take_out(catalog, rank, file, &name, why);
                }
            }
        }
    }
}

/// Removes the versions of an artifact.
fn take_out(
    catalog: &Catalog,
    rank: Source,
    file: &str,
    name: &InterpreterName,
    why: &str,
) -> Result<(), Refusal> {
    match catalog.remove(name, rank) {
        Ok(_) => {
            tracing::warn!(artifact = file, %name, why, "an artifact is not live any more");
            Ok(())
        }
        Err(error) => {
            tracing::error!(artifact = file, %name, %error, "an artifact could not be removed");
            Err(error)
        }
    }
}

impl ArtifactFollower {
    /// Verifies the live version once after a start, if a signature is required and no valid one is
    /// stored. The repository decides, because another host that shares the store may have admitted
    /// the version. Until the repository answers, the version stays live.
    pub(super) fn confirm_live(&mut self, catalog: &Catalog) -> Result<(), Failure> {
        if self.is_confirmed || self.source.keys.is_empty() {
            return Ok(());
        }
        let rank = self.source.rank;
        for (name, live) in catalog.live_versions_of(rank, &self.file) {
            let stored = self.proof(&live);
            if stored == Proof::Valid {
                continue;
            }
            let Err(error) = self.verify_in_repository(&live) else {
                continue;
            };
            // A repository that is away, or has lost the manifest, proves nothing.
            if stored == Proof::Missing && !matches!(error, RegistryError::NotSigned { .. }) {
                return Err(error.into());
            }
            let why = format!("{name} {} is not live any more: {error}", live.version);
            take_out(catalog, rank, &self.file, &name, &why).map_err(Failure::Admit)?;
            catalog.refuse_unread(rank, &self.file, &why);
        }
        self.is_confirmed = true;
        Ok(())
    }

    /// The stored proof that a version is signed.
    fn proof(&self, version: &Version) -> Proof {
        let keys = &self.source.keys;
        let cache = self.cache.as_ref();
        cache.map_or(Proof::Missing, |cache| cache.proof(&version.digest, keys))
    }

    /// Verifies a version of the catalog in the repository, and stores its signatures.
    fn verify_in_repository(&mut self, version: &Version) -> Result<(), RegistryError> {
        let repository = opened(&mut self.repository, &self.source, &self.reference)?;
        let named = match &version.manifest {
            Some(manifest) => Named::Digest(manifest.clone()),
            None => repository.version(&self.reference)?,
        };
        let manifest = repository.digest(&named)?;
        if component_digest(repository, &Named::Digest(manifest.clone()))? != version.digest {
            return Err(RegistryError::NotSigned {
                reference: self.file.clone(),
                why: "it names another component, and the manifest of the live one is not known"
                    .to_owned(),
            });
        }
        verify(repository, &manifest, &self.source.keys)?;
        if let Some(cache) = &self.cache {
            let stored = cache.fetch_manifest(repository, &manifest, &version.digest);
            stored.inspect_err(|error| {
                tracing::warn!(artifact = self.file, %error, "the signatures of the live version are not kept for a start without the registry");
            }).ok();
        }
        Ok(())
    }
}
