//! Verification of required signatures: at a start from local files, and then in the repository.

use kindsight_api::interpreters::Refusal;
use kindsight_model::{InterpreterName, Source};
use kindsight_registry::{Error as RegistryError, Version as Named, component_digest, verify};

use super::cache::Proof;
use super::versions::KeptVersion;
use super::{ArtifactFollower, ArtifactSource, Failure, opened};
use crate::catalog::Catalog;
use crate::state::Version;

/// Prepares the catalog for the artifacts before the first request. Removes versions of references
/// that are not configured any more. If signatures are required, this host does not use versions
/// without a valid stored signature from now on. Reads only local files. Blocks.
///
/// A version without a stored manifest that is live now is used: another host that shares the store
/// may have admitted it. Its follower verifies it. A version that another host makes live later is
/// not used before it is verified.
pub fn forget_artifacts(catalog: &Catalog, source: &ArtifactSource) {
    let rank = source.rank;
    let configured = source.references.iter().map(ToString::to_string);
    let configured: Vec<String> = configured.collect();
    for known in catalog.files(rank) {
        if configured.contains(&known) {
            continue;
        }
        for name in catalog.names_in(rank, &known) {
            take_out(catalog, rank, &known, &name);
        }
    }
    if source.keys.is_empty() {
        return;
    }
    let kept = catalog.kept_versions(rank);
    let live = kept.iter().filter(|kept| kept.is_live());
    let live = live.map(|kept| kept.version.digest.clone()).collect();
    catalog.require_signatures(rank, configured.into_iter(), live);
    for reference in &source.references {
        let artifact = ArtifactFollower::new(source, reference.clone());
        for kept in &kept {
            // A version without a reference may be of any of them.
            let is_of_other = kept.file.as_ref().is_some_and(|of| *of != artifact.file);
            if !is_of_other {
                artifact.record_stored(catalog, kept);
            }
        }
    }
    if let Err(error) = catalog.apply_signatures() {
        // The followers try again.
        tracing::error!(%rank, %error, "unsigned artifacts are still live");
    }
}

/// Removes the versions of an artifact that the configuration does not name any more. If this
/// fails, the next start tries again. If the configuration of another host that shares the store
/// names the artifact, that host admits it again.
fn take_out(catalog: &Catalog, rank: Source, file: &str, name: &InterpreterName) {
    match catalog.remove(name, rank) {
        Ok(_) => {
            tracing::warn!(artifact = file, %name, "an artifact is not live any more: the configuration does not name it");
        }
        Err(error) => {
            tracing::error!(artifact = file, %name, %error, "an artifact could not be removed");
        }
    }
}

impl ArtifactFollower {
    /// Records whether a version has a valid stored signature.
    fn record_stored(&self, catalog: &Catalog, kept: &KeptVersion) {
        let (artifact, name) = (&self.file, &kept.name);
        let KeptVersion { version, .. } = kept;
        let is_signed = match self.proof(version) {
            Proof::Valid => true,
            Proof::Invalid => false,
            Proof::Missing => {
                if kept.is_live() && kept.file.is_some() {
                    let version = &version.version;
                    tracing::warn!(artifact, %name, version, "no signature of the live version is stored; it is used unverified until the registry answers");
                }
                return;
            }
        };
        if !is_signed && kept.is_live() {
            let version = &version.version;
            tracing::warn!(artifact, %name, version, "the live version is not used on this server: no valid signature of it is stored");
        }
        catalog.record_signature(self.source.rank, artifact, &version.digest, is_signed);
    }

    /// Verifies the versions of the artifact without a valid stored signature in the repository,
    /// each once. The repository decides, because another host that shares the store may have
    /// admitted the version, or a signature may have been added. Until the repository answers, the
    /// version that was live at the start is used, unless it is stored without a valid signature.
    pub(super) fn confirm(&mut self, catalog: &Catalog) -> Result<(), Failure> {
        if self.source.keys.is_empty() {
            return Ok(());
        }
        let confirmed = self.confirm_kept(catalog);
        catalog
            .apply_signatures()
            .map_err(|error| Failure::Admit(Refusal::from(error)))?;
        confirmed.map_err(Failure::from)
    }

    fn confirm_kept(&mut self, catalog: &Catalog) -> Result<(), RegistryError> {
        let rank = self.source.rank;
        let mut kept = catalog.kept_versions(rank);
        kept.retain(|kept| kept.file.as_ref() == Some(&self.file));
        // The live version first.
        kept.sort_by_key(|kept| !kept.is_live());
        self.verified
            .retain(|known| kept.iter().any(|kept| kept.version.digest == *known));
        for kept in kept {
            let component = &kept.version.digest;
            if self.verified.contains(component) || catalog.is_signed(rank, component) {
                continue;
            }
            match self.verify_in_repository(&kept.version) {
                Ok(()) => catalog.record_signature(rank, &self.file, component, true),
                Err(error @ RegistryError::NotSigned { .. }) => self.deny(catalog, &kept, &error),
                // A repository that is away, or has lost the manifest, proves nothing.
                Err(error) if kept.is_live() || error.is_transient() => return Err(error),
                Err(error) => {
                    let (name, version) = (&kept.name, &kept.version.version);
                    tracing::info!(artifact = self.file, %name, version, %error, "a version cannot be verified, so it cannot be live again");
                }
            }
            self.verified.insert(component.clone());
        }
        Ok(())
    }

    /// Records that the repository has no valid signature of a version.
    fn deny(&self, catalog: &Catalog, kept: &KeptVersion, error: &RegistryError) {
        let rank = self.source.rank;
        let KeptVersion { name, version, .. } = kept;
        catalog.record_signature(rank, &self.file, &version.digest, false);
        let version = &version.version;
        if kept.is_live() {
            let why = format!("{name} {version} is not used on this server: {error}");
            catalog.refuse_unread(rank, &self.file, &why);
        } else {
            tracing::info!(artifact = self.file, %name, version, %error, "a version is not signed, so it cannot be live again");
        }
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
                why: "it names another component, and the manifest of this one is not known"
                    .to_owned(),
            });
        }
        verify(repository, &manifest, &self.source.keys)?;
        if let Some(cache) = &self.cache {
            let stored = cache.fetch_manifest(repository, &manifest, &version.digest);
            stored.inspect_err(|error| {
                tracing::warn!(artifact = self.file, %error, "the signatures of a version are not kept for a start without the registry");
            }).ok();
        }
        Ok(())
    }
}
