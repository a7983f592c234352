//! A repository: of a registry, or in a layout folder.

use kindsight_model::Digest;

use crate::error::Error;
use crate::layout::{Layout, json};
use crate::manifest::{Descriptor, Document, INDEX};
use crate::reference::{Place, Reference, Version};
use crate::remote::{Remote, fallback_tag};

/// A repository of artifacts, opened by [`crate::Client::open`] or [`crate::Client::create`].
#[derive(Debug)]
pub struct Repository {
    place: Place,
    backend: Backend,
}

#[derive(Debug)]
enum Backend {
    Remote(Box<Remote>),
    Layout(Layout),
}

impl Repository {
    pub(crate) fn remote(place: &Place, remote: Remote) -> Self {
        Self {
            place: place.clone(),
            backend: Backend::Remote(Box::new(remote)),
        }
    }

    pub(crate) fn layout(layout: Layout) -> Self {
        Self {
            place: Place::Layout(layout.path().to_owned()),
            backend: Backend::Layout(layout),
        }
    }

    /// The version that a reference names. Without a tag or digest, the only tag of a layout
    /// folder.
    ///
    /// # Errors
    /// [`Error::NoVersion`].
    pub fn version(&self, reference: &Reference) -> Result<Version, Error> {
        if let Some(version) = reference.version() {
            return Ok(version);
        }
        let why = match &self.backend {
            Backend::Remote(_) => "add `:TAG` or `@sha256:…`; there is no default tag".to_owned(),
            Backend::Layout(layout) => {
                let mut tags = layout.tags()?;
                match (tags.pop(), tags.as_slice()) {
                    (Some(tag), []) => return Ok(Version::Tag(tag)),
                    (None, _) => "the folder has no tags".to_owned(),
                    (Some(last), others) => {
                        format!("add one of the tags {}, {last}", others.join(", "))
                    }
                }
            }
        };
        Err(Error::NoVersion {
            reference: reference.to_string(),
            why,
        })
    }

    /// The digest of the manifest of a version at present.
    ///
    /// # Errors
    /// The version does not exist, or the repository cannot be read.
    pub fn digest(&self, version: &Version) -> Result<Digest, Error> {
        let head = match &self.backend {
            Backend::Remote(remote) => remote.head(version)?,
            Backend::Layout(_) => None,
        };
        match head {
            Some(digest) => Ok(digest),
            None => Ok(self.document(version)?.digest),
        }
    }

    /// The name of the repository for signatures: without a scheme, as cosign writes it.
    pub(crate) fn name(&self) -> String {
        match &self.place {
            Place::Registry { host, repository } => format!("{host}/{repository}"),
            Place::Layout(path) => path.display().to_string(),
        }
    }

    /// A reference to a version, for messages.
    pub(crate) fn named(&self, version: &Version) -> String {
        let (tag, digest) = match version {
            Version::Tag(tag) => (Some(tag.clone()), None),
            Version::Digest(digest) => (None, Some(digest.clone())),
        };
        let place = self.place.clone();
        Reference { place, tag, digest }.to_string()
    }

    /// The document of a version, with the digest that the version names.
    pub(crate) fn document(&self, version: &Version) -> Result<Document, Error> {
        let document = match &self.backend {
            Backend::Remote(remote) => remote.document(version)?,
            Backend::Layout(layout) => layout.document(version)?,
        };
        match version {
            Version::Digest(expected) if *expected != document.digest => {
                Err(Error::DigestMismatch {
                    what: self.named(version),
                    expected: expected.clone(),
                    actual: document.digest,
                })
            }
            _ => Ok(document),
        }
    }

    /// The bytes of a blob, with the digest of its descriptor.
    pub(crate) fn blob(
        &self,
        descriptor: &Descriptor,
        bytes_max: (usize, &'static str),
    ) -> Result<Vec<u8>, Error> {
        let what = || format!("the blob {} of {}", descriptor.digest, self.place);
        // Refused before it is received.
        if descriptor.size > u64::try_from(bytes_max.0).unwrap_or(u64::MAX) {
            return Err(Error::TooLarge {
                what: what(),
                bytes_max: bytes_max.0,
                limit: bytes_max.1,
            });
        }
        let bytes = match &self.backend {
            Backend::Remote(remote) => remote.blob(&descriptor.digest, bytes_max)?,
            Backend::Layout(layout) => layout.blob(&descriptor.digest, bytes_max)?,
        };
        let actual = Digest::of(&bytes);
        if actual != descriptor.digest {
            return Err(Error::DigestMismatch {
                what: what(),
                expected: descriptor.digest.clone(),
                actual,
            });
        }
        Ok(bytes)
    }

    pub(crate) fn put_blob(&self, bytes: &[u8]) -> Result<(), Error> {
        match &self.backend {
            Backend::Remote(remote) => remote.put_blob(bytes),
            Backend::Layout(layout) => layout.put_blob(bytes),
        }
    }

    pub(crate) fn put_document(&self, version: &Version, document: &Document) -> Result<(), Error> {
        match &self.backend {
            Backend::Remote(remote) => remote.put_document(version, document).map(drop),
            Backend::Layout(layout) => layout.put_document(version, document),
        }
    }

    /// Stores a document that refers to a subject. If the registry does not list referrers, adds
    /// it to the index under the fallback tag.
    pub(crate) fn put_referrer(
        &self,
        subject: &Digest,
        document: &Document,
        artifact_type: Option<&str>,
    ) -> Result<(), Error> {
        let version = Version::Digest(document.digest.clone());
        let remote = match &self.backend {
            Backend::Layout(layout) => return layout.put_document(&version, document),
            Backend::Remote(remote) => remote,
        };
        if remote.put_document(&version, document)? {
            return Ok(());
        }
        let mut index = remote.fallback(subject)?;
        let mut known = index.manifests.iter();
        if known.any(|entry| entry.digest == document.digest) {
            return Ok(());
        }
        index.manifests.push(Descriptor {
            artifact_type: artifact_type.map(str::to_owned),
            ..document.descriptor()
        });
        let index = Document::new(INDEX, json(&index));
        remote.put_document(&Version::Tag(fallback_tag(subject)), &index)?;
        Ok(())
    }

    /// The manifests that refer to this one.
    pub(crate) fn referrers(&self, of: &Digest) -> Result<Vec<Descriptor>, Error> {
        match &self.backend {
            Backend::Remote(remote) => remote.referrers(of),
            Backend::Layout(layout) => layout.referrers(of),
        }
    }

    /// The layout folder, if the repository is one.
    pub(crate) fn as_layout(&self) -> Option<&Layout> {
        match &self.backend {
            Backend::Remote(_) => None,
            Backend::Layout(layout) => Some(layout),
        }
    }
}
