//! Looks into the folder and its files. All of this blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use kindsight_model::{BUNDLE_BYTES_MAX, Bundle, BundleError, decode_bundle};

/// The most files of one folder that are read; of more, the first by name.
pub const FILES_MAX: usize = 10_000;

/// What is in the folder.
pub(super) struct Listing {
    /// By path, with a stamp where there is one; without, the file could not be looked at.
    pub(super) files: BTreeMap<PathBuf, Option<Stamp>>,
    /// How many files are over [`FILES_MAX`], and the first of them.
    pub(super) over: Option<(usize, PathBuf)>,
    /// Every stamp was taken after this.
    pub(super) began: Instant,
    /// Every stamp was taken before this.
    pub(super) ended: Instant,
}

/// What the file system says of a file: if it differs, the content may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    identity: [i64; 4],
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(metadata),
        }
    }
}

/// Where there is one, which file it is and when its inode changed: that time cannot be set, so it
/// also tells a file that was replaced by one of the same size and time.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> [i64; 4] {
    use std::os::unix::fs::MetadataExt as _;
    [
        metadata.dev().cast_signed(),
        metadata.ino().cast_signed(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ]
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> [i64; 4] {
    [0; 4]
}

/// Lists the bundle files of a folder.
///
/// # Errors
/// The folder cannot be read; that one of its files cannot is no error.
pub(super) fn list(folder: &Path) -> io::Result<Listing> {
    let began = Instant::now();
    let mut names = BTreeSet::new();
    let mut over: Option<(usize, PathBuf)> = None;
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        if !is_bundle_name(&name.to_string_lossy()) {
            continue;
        }
        names.insert(name);
        if names.len() > FILES_MAX
            && let Some(last) = names.pop_last()
        {
            let count = over.map_or(0, |(count, _)| count);
            // The last one that is taken away is the first by name.
            over = Some((count + 1, folder.join(last)));
        }
    }
    let files = names
        .iter()
        .filter_map(|name| stamped(folder.join(name)))
        .collect();
    let ended = Instant::now();
    Ok(Listing {
        files,
        over,
        began,
        ended,
    })
}

/// Editors and copying tools keep unfinished files under other names.
fn is_bundle_name(name: &str) -> bool {
    !name.starts_with('.')
        && name
            .strip_suffix(".json")
            .is_some_and(|stem| !stem.is_empty())
}

/// `None` for what is there and is no file: a folder, a pipe.
fn stamped(path: PathBuf) -> Option<(PathBuf, Option<Stamp>)> {
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => Some((path, Some(Stamp::of(&metadata)))),
        Ok(_) => None,
        Err(_) => Some((path, None)),
    }
}

/// What is in a file.
pub(super) enum Content {
    /// A bundle, and the hash of the bytes it was read from.
    Bundle(Bundle, u64),
    /// Not a bundle, or it could not be read.
    Unreadable(Problem),
    /// It is not there any more.
    Absent,
}

/// Why a file is unreadable. An equal one is not worth saying again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// For people.
    pub(super) error: String,
    /// Of the file's bytes, if they were read.
    pub(super) hash: Option<u64>,
}

impl Content {
    /// A file whose bytes could not be had.
    pub(super) fn unread(error: String) -> Self {
        Self::Unreadable(Problem { error, hash: None })
    }
}

/// Reads a file of the folder, unless it is over [`BUNDLE_BYTES_MAX`].
///
/// `hasher` is the same on every call and not known outside, so that equal hashes mean equal bytes.
pub(super) fn read(file: &Path, hasher: &RandomState) -> Content {
    match read_bytes(file) {
        Ok(bytes) => {
            let hash = hasher.hash_one(&bytes);
            match decode_bundle(&bytes) {
                Ok(bundle) => Content::Bundle(bundle, hash),
                Err(error) => Content::Unreadable(Problem {
                    error: error.to_string(),
                    hash: Some(hash),
                }),
            }
        }
        // A symbolic link that leads nowhere is there, a file that was removed meanwhile is not.
        Err(error)
            if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(file).is_err() =>
        {
            Content::Absent
        }
        Err(error) => Content::unread(format!("failed to read: {error}")),
    }
}

fn read_bytes(file: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(file)?;
    let bytes = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    if bytes > BUNDLE_BYTES_MAX {
        return Err(io::Error::other(BundleError::TooLarge(bytes)));
    }
    let mut content = Vec::with_capacity(bytes);
    // It may grow while it is read: one byte over the limit is enough to be refused.
    file.take(BUNDLE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_files_the_first_by_name_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..FILES_MAX + 2 {
            File::create(folder.path().join(format!("{number:05}.json"))).unwrap();
        }
        let listing = list(folder.path()).unwrap();
        assert_eq!(listing.files.len(), FILES_MAX);
        let first_left_out = folder.path().join(format!("{FILES_MAX:05}.json"));
        assert_eq!(listing.over, Some((2, first_left_out)));
    }

    #[test]
    fn only_finished_bundle_files_are_listed() {
        for good in ["a.json", "7-a.json", "a.tmp.json"] {
            assert!(is_bundle_name(good), "{good}");
        }
        for other in [".json", ".a.json", "a.json~", "a.json.swp", "a.tmp", "json"] {
            assert!(!is_bundle_name(other), "{other}");
        }
    }
}
