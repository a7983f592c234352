//! A folder in OCI layout: one repository on disk, for sites without a registry.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use kindsight_model::Digest;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::limits::{LAYOUT_ENTRIES_MAX, MANIFEST_BYTES_MAX};
use crate::manifest::{Descriptor, Document, Index, Manifest, REF_NAME};
use crate::reference::Version;

/// The file that marks a folder in OCI layout.
const MARKER: &str = "oci-layout";
/// The file with the index.
const INDEX_FILE: &str = "index.json";
/// The folder of the folders of blobs.
const BLOBS: &str = "blobs";
/// The folder of blobs in [`BLOBS`].
const SHA256: &str = "sha256";
/// The version of the layout.
const LAYOUT_VERSION: &str = "1.0.0";
/// The beginning of the name of an unfinished file. [`TEMPORARY_RANDOM`] letters and digits follow.
const TEMPORARY: &str = ".tmp";
/// Number of random letters and digits in the name of an unfinished file.
const TEMPORARY_RANDOM: usize = 6;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Marker {
    image_layout_version: String,
}

/// A folder in OCI layout (`oci-layout`, `index.json`, `blobs/sha256/`), which is one repository.
///
/// Files are replaced by renaming, so that a reader sees either the old or the new version. Only
/// one process at a time may write into a folder.
#[derive(Debug, Clone)]
pub struct Layout {
    path: PathBuf,
}

/// Returns whether a folder is in OCI layout.
pub fn is_layout(path: &Path) -> bool {
    path.join(MARKER).is_file()
}

impl Layout {
    /// The layout in an existing folder.
    ///
    /// # Errors
    /// [`Error::NotALayout`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let layout = Self {
            path: path.to_owned(),
        };
        let bytes = Self::file(&path.join(MARKER), MANIFEST_BYTES_MAX)?;
        let bytes = bytes.ok_or_else(|| layout.invalid("it has no file `oci-layout`"))?;
        let marker: Marker = serde_json::from_slice(&bytes)
            .map_err(|_| layout.invalid("its file `oci-layout` is not valid"))?;
        if marker.image_layout_version != LAYOUT_VERSION {
            let version = kindsight_model::clean(&marker.image_layout_version, 20);
            let why = format!("it has version {version}, and {LAYOUT_VERSION} is supported");
            return Err(layout.invalid(&why));
        }
        Ok(layout)
    }

    /// The layout in a folder. Makes the folder and the layout if they do not exist. Completes a layout without content
    /// whose creation was interrupted.
    ///
    /// # Errors
    /// [`Error::File`]: the folder cannot be written. [`Error::NotALayout`]: it has other files.
    pub fn create(path: &Path) -> Result<Self, Error> {
        if is_layout(path) {
            return Self::open(path);
        }
        let layout = Self {
            path: path.to_owned(),
        };
        if !is_new(path).map_err(failed(path))? {
            return Err(layout.invalid("it has other files: name an empty or a new folder"));
        }
        let blobs = layout.blobs();
        fs::create_dir_all(&blobs).map_err(failed(&blobs))?;
        layout.write_index(&Index::default())?;
        let marker = Marker {
            image_layout_version: LAYOUT_VERSION.to_owned(),
        };
        // Written last: a folder with this file is complete.
        layout.write(&path.join(MARKER), &json(&marker))?;
        Ok(layout)
    }

    /// The tags, without the tags of signatures.
    ///
    /// # Errors
    /// [`Error::NotALayout`] if the index is not valid, or [`Error::File`].
    pub fn tags(&self) -> Result<Vec<String>, Error> {
        let entries = self.index()?.manifests.into_iter();
        let tags = entries.filter_map(|mut entry| entry.annotations.remove(REF_NAME));
        Ok(tags.filter(|tag| !tag.starts_with("sha256-")).collect())
    }

    /// The document of a version.
    pub(crate) fn document(&self, version: &Version) -> Result<Document, Error> {
        let not_found = || Error::NotFound {
            what: match version {
                Version::Tag(tag) => format!("oci-layout:{}:{tag}", self.path.display()),
                Version::Digest(digest) => format!("oci-layout:{}@{digest}", self.path.display()),
            },
        };
        let entries = self.index()?.manifests.into_iter();
        let entry = entries.rev().find(|entry| match version {
            Version::Tag(tag) => entry.annotations.get(REF_NAME) == Some(tag),
            Version::Digest(digest) => entry.digest == *digest,
        });
        let digest = match (&entry, version) {
            (Some(entry), _) => &entry.digest,
            (None, Version::Digest(digest)) => digest,
            (None, Version::Tag(_)) => return Err(not_found()),
        };
        let media_type = entry.as_ref().map_or("", |entry| &entry.media_type);
        let bytes = self.blob(digest, (MANIFEST_BYTES_MAX, "a manifest"))?;
        let document = Document::new(media_type, bytes);
        if document.digest != *digest {
            return Err(Error::DigestMismatch {
                what: format!("the manifest of {}", self.path.display()),
                expected: digest.clone(),
                actual: document.digest,
            });
        }
        Ok(document)
    }

    /// The bytes of a blob, unverified.
    pub(crate) fn blob(
        &self,
        digest: &Digest,
        (bytes_max, limit): (usize, &'static str),
    ) -> Result<Vec<u8>, Error> {
        let path = self.blob_path(digest);
        let bytes = Self::file(&path, bytes_max).map_err(|error| match error {
            Error::TooLarge {
                what, bytes_max, ..
            } => Error::TooLarge {
                what,
                bytes_max,
                limit,
            },
            error => error,
        })?;
        bytes.ok_or_else(|| Error::NotFound {
            what: format!("the blob {digest} of {}", self.path.display()),
        })
    }

    /// Stores a blob.
    pub(crate) fn put_blob(&self, bytes: &[u8]) -> Result<(), Error> {
        self.write(&self.blob_path(&Digest::of(bytes)), bytes)
    }

    /// Stores a document, under a tag or only by its digest.
    pub(crate) fn put_document(&self, version: &Version, document: &Document) -> Result<(), Error> {
        self.put_blob(&document.bytes)?;
        let mut entry = document.descriptor();
        let manifest = serde_json::from_slice::<Manifest>(&document.bytes).ok();
        entry.artifact_type = manifest.and_then(|manifest| manifest.artifact_type);
        let mut index = self.index()?;
        match version {
            Version::Tag(tag) => {
                entry.annotations.insert(REF_NAME.to_owned(), tag.clone());
                index
                    .manifests
                    .retain(|other| other.annotations.get(REF_NAME) != Some(tag));
            }
            Version::Digest(digest) => {
                if index.manifests.iter().any(|other| other.digest == *digest) {
                    return Ok(());
                }
            }
        }
        index.manifests.push(entry);
        self.write_index(&index)
    }

    /// The manifests with this subject, and those in the index under the fallback tag.
    pub(crate) fn referrers(&self, of: &Digest) -> Result<Vec<Descriptor>, Error> {
        let mut found = Vec::new();
        let tag = crate::remote::fallback_tag(of);
        for entry in self.index()?.manifests {
            if entry.annotations.get(REF_NAME) == Some(&tag) {
                let index = self.document(&Version::Digest(entry.digest))?;
                let index = serde_json::from_slice::<Index>(&index.bytes);
                let index = index.map_err(|_| self.invalid(&format!("{tag} is not an index")))?;
                found.extend(index.manifests);
                continue;
            }
            let document = self.document(&Version::Digest(entry.digest.clone()))?;
            let manifest = serde_json::from_slice::<Manifest>(&document.bytes).ok();
            let subject = manifest.as_ref().and_then(|found| found.subject.as_ref());
            if subject.is_some_and(|subject| subject.digest == *of) {
                found.push(Descriptor {
                    artifact_type: manifest.and_then(|manifest| manifest.artifact_type),
                    ..entry
                });
            }
        }
        let mut known = std::collections::BTreeSet::new();
        found.retain(|entry| known.insert(entry.digest.clone()));
        Ok(found)
    }

    /// The index.
    pub(crate) fn index(&self) -> Result<Index, Error> {
        let bytes = Self::file(&self.path.join(INDEX_FILE), MANIFEST_BYTES_MAX)?;
        let bytes = bytes.ok_or_else(|| self.invalid("it has no file `index.json`"))?;
        let index: Index = serde_json::from_slice(&bytes)
            .map_err(|error| self.invalid(&format!("its `index.json` is not valid: {error}")))?;
        if index.manifests.len() > LAYOUT_ENTRIES_MAX {
            let why = format!("its `index.json` has more than {LAYOUT_ENTRIES_MAX} entries");
            return Err(self.invalid(&why));
        }
        Ok(index)
    }

    pub(crate) fn write_index(&self, index: &Index) -> Result<(), Error> {
        self.write(&self.path.join(INDEX_FILE), &json(index))
    }

    /// Removes all blobs but these.
    pub(crate) fn keep_blobs(&self, kept: &[Digest]) -> Result<(), Error> {
        let folder = self.blobs();
        let entries = fs::read_dir(&folder).map_err(failed(&folder))?;
        for entry in entries.take(LAYOUT_ENTRIES_MAX) {
            let path = entry.map_err(failed(&folder))?.path();
            if !kept.iter().any(|digest| self.blob_path(digest) == path) {
                fs::remove_file(&path).map_err(failed(&path))?;
            }
        }
        Ok(())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn blobs(&self) -> PathBuf {
        self.path.join(BLOBS).join(SHA256)
    }

    fn blob_path(&self, digest: &Digest) -> PathBuf {
        let digits = digest.as_str().trim_start_matches("sha256:");
        self.blobs().join(digits)
    }

    /// Reads a file up to its limit. `None` if it does not exist.
    fn file(path: &Path, bytes_max: usize) -> Result<Option<Vec<u8>>, Error> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file.map_err(failed(path))?,
        };
        let most = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        if read.map_err(failed(path))? > bytes_max {
            return Err(Error::TooLarge {
                what: path.display().to_string(),
                bytes_max,
                limit: "a file of a layout folder",
            });
        }
        Ok(Some(bytes))
    }

    /// Replaces a file.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        self.remove_left_over();
        let file = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .rand_bytes(TEMPORARY_RANDOM)
            .tempfile_in(&self.path);
        let mut file = file.map_err(failed(&self.path))?;
        // Until the file is closed. On a file system without locks, no process removes the file.
        let _ = file.as_file().lock();
        file.write_all(bytes).map_err(failed(path))?;
        file.as_file().sync_all().map_err(failed(path))?;
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        let set = file.as_file().set_permissions(readable);
        set.map_err(failed(path))?;
        file.persist(path)
            .map_err(|error| failed(path)(error.error))?;
        Ok(())
    }

    /// Removes the unfinished files of processes that were killed. A file that cannot be removed
    /// does not prevent a write.
    fn remove_left_over(&self) {
        let entries = fs::read_dir(&self.path).into_iter().flatten();
        for entry in entries.take(LAYOUT_ENTRIES_MAX).flatten() {
            if is_temporary(&entry) {
                let _ = remove_unlocked(&entry.path());
            }
        }
    }

    fn invalid(&self, why: &str) -> Error {
        Error::NotALayout {
            path: self.path.clone(),
            why: why.to_owned(),
        }
    }
}

/// Returns whether a folder does not exist, is empty, or contains only the beginning of a layout. A process that was killed
/// while it created a layout leaves such a beginning.
fn is_new(path: &Path) -> io::Result<bool> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        entries => entries?,
    };
    for entry in entries {
        if !is_beginning(&entry?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether an entry of a folder can be from a creation of a layout that was interrupted.
fn is_beginning(entry: &DirEntry) -> io::Result<bool> {
    let (name, path) = (entry.file_name(), entry.path());
    let kind = entry.file_type()?;
    if name == BLOBS && kind.is_dir() {
        return has_no_blob(&path);
    }
    if name == INDEX_FILE && kind.is_file() {
        let index = Layout::file(&path, MANIFEST_BYTES_MAX).ok().flatten();
        return Ok(index == Some(json(&Index::default())));
    }
    // The creation writes no file before the folder of blobs exists. Other programs use such names too.
    Ok(is_temporary(entry) && path.with_file_name(BLOBS).is_dir())
}

/// Returns whether a folder contains at most the empty folder of blobs.
fn has_no_blob(path: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let is_blobs = entry.file_name() == SHA256 && entry.file_type()?.is_dir();
        if !is_blobs || fs::read_dir(entry.path())?.next().is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether a file has the name of an unfinished file.
fn is_temporary(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let random = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY));
    let is_random = random.is_some_and(|random| {
        random.len() == TEMPORARY_RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    is_random && entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// Removes a file if no process writes it: its writer locks it.
fn remove_unlocked(path: &Path) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File {
        path: path.clone(),
        source,
    }
}

/// The JSON of a document of this crate. Only texts and numbers occur, which always serialize.
pub(crate) fn json(document: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(document).unwrap_or_default()
}

#[cfg(test)]
mod tests;
