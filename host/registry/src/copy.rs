//! Copies of artifacts with their signatures, from one repository to another.

use std::collections::BTreeSet;

use kindsight_model::Digest;

use crate::error::Error;
use crate::limits::{SIGNATURE_BYTES_MAX, SIGNATURES_MAX};
use crate::manifest::{Descriptor, Document, Index, Manifest, REF_NAME};
use crate::reference::Version;
use crate::repository::Repository;
use crate::simple_signing::signature_tag;

/// Copies an artifact and its signatures. Returns the digest of its manifest.
///
/// # Errors
/// The version does not exist, a blob does not have its digest or is too large, or one of the
/// repositories fails.
pub fn copy(
    from: &Repository,
    version: &Version,
    to: &Repository,
    target: &Version,
    component_bytes_max: usize,
) -> Result<Digest, Error> {
    let document = from.document(version)?;
    let layer = (component_bytes_max, "--component-bytes-max");
    copy_blobs(from, &document, to, layer)?;
    copy_signed(from, &document, to, target)?;
    Ok(document.digest)
}

/// Copies the manifest of an artifact and its signatures into a layout folder, without the config
/// and the component. The signatures can be verified there, and the artifact cannot be pulled.
///
/// # Errors
/// The version does not exist, or one of the repositories fails.
pub fn copy_manifest(
    from: &Repository,
    version: &Version,
    to: &Repository,
    target: &Version,
) -> Result<(), Error> {
    copy_signed(from, &from.document(version)?, to, target)
}

/// Copies the signatures of a document, and then the document.
fn copy_signed(
    from: &Repository,
    document: &Document,
    to: &Repository,
    target: &Version,
) -> Result<(), Error> {
    copy_signatures(from, &document.digest, to)?;
    // Last: whoever sees the version finds its signatures.
    to.put_document(target, document)
}

/// Copies the signatures of both forms.
fn copy_signatures(from: &Repository, digest: &Digest, to: &Repository) -> Result<(), Error> {
    let signature = (SIGNATURE_BYTES_MAX, "a signature");
    let tag = Version::Tag(signature_tag(digest));
    match from.document(&tag) {
        Err(Error::NotFound { .. }) => {}
        document => {
            let document = document?;
            copy_blobs(from, &document, to, signature)?;
            to.put_document(&tag, &document)?;
        }
    }
    for entry in from.referrers(digest)?.iter().take(SIGNATURES_MAX) {
        let document = from.document(&Version::Digest(entry.digest.clone()))?;
        copy_blobs(from, &document, to, signature)?;
        to.put_referrer(digest, &document, entry.artifact_type.as_deref())?;
    }
    Ok(())
}

/// Copies the blobs of a manifest.
fn copy_blobs(
    from: &Repository,
    document: &Document,
    to: &Repository,
    bytes_max: (usize, &'static str),
) -> Result<(), Error> {
    for descriptor in blobs(document) {
        to.put_blob(&from.blob(&descriptor, bytes_max)?)?;
    }
    Ok(())
}

/// The blobs of a manifest. Another document has none.
fn blobs(document: &Document) -> Vec<Descriptor> {
    let manifest = serde_json::from_slice::<Manifest>(&document.bytes).ok();
    manifest.map_or_else(Vec::new, |manifest| {
        let config = std::iter::once(manifest.config);
        config.chain(manifest.layers).collect()
    })
}

/// Gives a version of a repository another tag.
///
/// # Errors
/// The version does not exist, or the repository cannot be written.
pub fn retag(repository: &Repository, digest: &Digest, tag: &Version) -> Result<(), Error> {
    let document = repository.document(&Version::Digest(digest.clone()))?;
    repository.put_document(tag, &document)
}

/// Removes everything from a layout folder but the artifacts with these tags and their signatures.
/// Has no effect on a registry.
///
/// # Errors
/// The folder cannot be read or written.
pub fn keep(repository: &Repository, tags: &[&str]) -> Result<(), Error> {
    keep_with_manifests(repository, tags, &[])
}

/// Removes everything from a layout folder but the artifacts with the tags `whole`, the manifests
/// with the tags `manifests`, and the signatures of both. Has no effect on a registry.
///
/// # Errors
/// The folder cannot be read or written.
pub fn keep_with_manifests(
    repository: &Repository,
    whole: &[&str],
    manifests: &[String],
) -> Result<(), Error> {
    let Some(layout) = repository.as_layout() else {
        return Ok(());
    };
    let index = layout.index()?;
    let tag_of = |entry: &Descriptor| entry.annotations.get(REF_NAME).cloned();
    let is_named = |tag: &String| whole.contains(&tag.as_str()) || manifests.contains(tag);
    let named = index
        .manifests
        .iter()
        .filter(|entry| tag_of(entry).is_some_and(|tag| is_named(&tag)));
    let artifacts: BTreeSet<Digest> = named.map(|entry| entry.digest.clone()).collect();
    let signatures: BTreeSet<String> = artifacts.iter().map(signature_tag).collect();
    let mut kept = Index::default();
    let mut blobs_kept = Vec::new();
    for entry in index.manifests {
        let document = layout.document(&Version::Digest(entry.digest.clone()))?;
        let manifest = serde_json::from_slice::<Manifest>(&document.bytes).ok();
        let subject = manifest.and_then(|manifest| manifest.subject);
        let tag = tag_of(&entry);
        let is_kept = match &tag {
            Some(tag) => is_named(tag) || signatures.contains(tag),
            None => subject.is_some_and(|subject| artifacts.contains(&subject.digest)),
        };
        if !is_kept {
            continue;
        }
        blobs_kept.push(entry.digest.clone());
        if tag.is_none_or(|tag| !manifests.contains(&tag)) {
            blobs_kept.extend(blobs(&document).into_iter().map(|blob| blob.digest));
        }
        kept.manifests.push(entry);
    }
    layout.write_index(&kept)?;
    layout.keep_blobs(&blobs_kept)
}
