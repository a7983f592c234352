//! The stored artifact of one reference, and the stored signatures of its versions, in a layout
//! folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kindsight_model::Digest;
use kindsight_registry::{
    Client, ClientOptions, Error, Layout, PublicKey, Pulled, Reference, Repository, Version,
    component_digest, copy, copy_manifest, keep_with_manifests, pull, retag, verify,
};

/// The tag of the artifact that was admitted last.
const LAST: &str = "last";
/// The tag of an artifact that is not admitted yet.
const NEXT: &str = "next";
/// The beginning of the tag of a manifest. The rest is the digest of its component.
const COMPONENT: &str = "component-";

/// Maximum number of versions whose manifests and signatures are stored. The catalog keeps at most
/// 42 versions of one artifact: the live one, a candidate, and 40 for a rollback.
const MANIFESTS_MAX: usize = 64;

/// A layout folder with the artifact of one reference that was admitted last, and with the manifests
/// and signatures of the versions that the catalog keeps. The store of the catalog has the components
/// of these versions.
#[derive(Debug)]
pub(super) struct Cache {
    path: PathBuf,
}

/// The result of the search for a stored signature of a component, from the least to the most
/// certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    /// No manifest of the component is stored.
    Missing,
    /// A manifest of the component is stored without a valid signature.
    Invalid,
    /// A manifest of the component is stored with a valid signature.
    Valid,
}

impl Cache {
    /// The cache of a reference in this folder. Its own folder has the digest of the reference as
    /// its name, because a reference is not the name of a file.
    pub(super) fn new(folder: &Path, reference: &str) -> Self {
        let digest = Digest::of(reference.as_bytes());
        let name = digest.as_str().trim_start_matches("sha256:");
        Self {
            path: folder.join(name),
        }
    }

    /// Copies an artifact from its repository, and reads it from the copy.
    pub(super) fn fetch(
        &self,
        from: &Repository,
        digest: &Digest,
        keys: &[PublicKey],
        bytes_max: usize,
    ) -> Result<Pulled, Error> {
        let to = self.create()?;
        let version = Version::Digest(digest.clone());
        copy(from, &version, &to, &tag(NEXT), bytes_max)?;
        let pulled = pull(&to, &version, keys, bytes_max)?;
        // Before the component is admitted: a host that is killed in between finds the signatures.
        let component = Digest::of(&pulled.component);
        retag(&to, digest, &tag(&manifest_tag(&component)))?;
        Ok(pulled)
    }

    /// Copies the manifest of a component and its signatures from its repository.
    pub(super) fn fetch_manifest(
        &self,
        from: &Repository,
        manifest: &Digest,
        component: &Digest,
    ) -> Result<(), Error> {
        let version = Version::Digest(manifest.clone());
        let target = tag(&manifest_tag(component));
        copy_manifest(from, &version, &self.create()?, &target)
    }

    /// Keeps the artifact that was admitted, or drops one that was refused. Of the manifests, those
    /// of the components `kept` remain.
    pub(super) fn settle(
        &self,
        admitted: Option<&Digest>,
        kept: &BTreeSet<Digest>,
    ) -> Result<(), Error> {
        let repository = self.open()?;
        if let Some(digest) = admitted {
            retag(&repository, digest, &tag(LAST))?;
        }
        keep_with_manifests(&repository, &[LAST], &self.manifests_of(kept)?)
    }

    /// The tags of the stored manifests of these components. If there are more than the limit, the
    /// tags of the manifests that were stored last.
    fn manifests_of(&self, components: &BTreeSet<Digest>) -> Result<Vec<String>, Error> {
        let known: BTreeSet<String> = components.iter().map(manifest_tag).collect();
        let mut tags = Layout::open(&self.path)?.tags()?;
        tags.retain(|tag| known.contains(tag));
        let surplus = tags.len().saturating_sub(MANIFESTS_MAX);
        Ok(tags.split_off(surplus))
    }

    /// The artifact that was admitted last.
    pub(super) fn last(&self, keys: &[PublicKey], bytes_max: usize) -> Result<Pulled, Error> {
        pull(&self.open()?, &tag(LAST), keys, bytes_max)
    }

    /// Returns whether a valid signature of a component is stored.
    pub(super) fn proof(&self, component: &Digest, keys: &[PublicKey]) -> Proof {
        let Ok(repository) = self.open() else {
            return Proof::Missing;
        };
        // Earlier releases stored only the last manifest, and only with the second tag.
        let tags = [manifest_tag(component), LAST.to_owned()];
        let proofs = tags.iter().map(|name| {
            let proof = proof_under(&repository, &tag(name), component, keys);
            // A damaged manifest or signature is as good as none.
            proof.unwrap_or(Proof::Missing)
        });
        proofs.max().unwrap_or(Proof::Missing)
    }

    /// The folder, for writing. If it is not a valid layout, for example because the process was
    /// killed while it made the folder, it is made again: a cache must not block its artifact.
    fn create(&self) -> Result<Repository, Error> {
        let client = Client::new(ClientOptions::default())?;
        let created = client.create(&self.reference());
        // Reads the index, because a folder with a damaged index can be opened.
        let created = created.and_then(|repository| {
            Layout::open(&self.path)?.tags()?;
            Ok(repository)
        });
        match created {
            Err(Error::NotALayout { .. }) => {
                let removed = fs::remove_dir_all(&self.path);
                removed.map_err(|source| Error::File {
                    path: self.path.clone(),
                    source,
                })?;
                client.create(&self.reference())
            }
            created => created,
        }
    }

    fn open(&self) -> Result<Repository, Error> {
        Client::new(ClientOptions::default())?.open(&self.reference())
    }

    fn reference(&self) -> Reference {
        Reference::of_layout(&self.path)
    }
}

/// The proof of a component by the manifest with this tag.
fn proof_under(
    repository: &Repository,
    tag: &Version,
    component: &Digest,
    keys: &[PublicKey],
) -> Result<Proof, Error> {
    if component_digest(repository, tag)? != *component {
        return Ok(Proof::Missing);
    }
    match verify(repository, &repository.digest(tag)?, keys) {
        Ok(_) => Ok(Proof::Valid),
        Err(Error::NotSigned { .. }) => Ok(Proof::Invalid),
        Err(error) => Err(error),
    }
}

/// The tag of the manifest of a component.
fn manifest_tag(component: &Digest) -> String {
    let digits = component.as_str().trim_start_matches("sha256:");
    format!("{COMPONENT}{digits}")
}

fn tag(tag: &str) -> Version {
    Version::Tag(tag.to_owned())
}
