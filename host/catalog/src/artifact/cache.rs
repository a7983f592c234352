//! The artifact of one reference that was admitted last, in a layout folder.

use std::path::{Path, PathBuf};

use kindsight_model::Digest;
use kindsight_registry::{
    Client, ClientOptions, Error, PublicKey, Pulled, Reference, Repository, Version, copy, keep,
    pull, retag,
};

/// The tag of the artifact that was admitted last.
const LAST: &str = "last";
/// The tag of an artifact that is not admitted yet.
const NEXT: &str = "next";

/// A layout folder with the artifact of one reference that was admitted last, and its signatures.
#[derive(Debug)]
pub(super) struct Cache {
    path: PathBuf,
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
        let to = Client::new(ClientOptions::default())?.create(&self.reference())?;
        let version = Version::Digest(digest.clone());
        copy(from, &version, &to, &tag(NEXT), bytes_max)?;
        pull(&to, &version, keys, bytes_max)
    }

    /// Keeps the artifact that was admitted, or drops one that was refused.
    pub(super) fn settle(&self, admitted: Option<&Digest>) -> Result<(), Error> {
        let repository = self.open()?;
        if let Some(digest) = admitted {
            retag(&repository, digest, &tag(LAST))?;
        }
        keep(&repository, &[LAST])
    }

    /// The artifact that was admitted last.
    pub(super) fn last(&self, keys: &[PublicKey], bytes_max: usize) -> Result<Pulled, Error> {
        pull(&self.open()?, &tag(LAST), keys, bytes_max)
    }

    fn open(&self) -> Result<Repository, Error> {
        Client::new(ClientOptions::default())?.open(&self.reference())
    }

    fn reference(&self) -> Reference {
        Reference::of_layout(&self.path)
    }
}

fn tag(tag: &str) -> Version {
    Version::Tag(tag.to_owned())
}
