//! The state of a file at one look, without opening it.

use std::fs::{self, FileType, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::Rejection;

/// The state of a name in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileState {
    /// No entry has this name.
    Absent,
    /// A file that may be read, and its path from the folder with all links resolved.
    Readable(Stamp, PathBuf),
    /// An entry that is not read. For a broken link, this includes the stamp of the folder: if that
    /// stamp changes too, the link may just be switched.
    Rejected(Rejected, Option<Stamp>),
}

/// An entry that is not read, with the reason. An equal value is not reported again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejected {
    /// Device and inode of the entry, if they are known.
    pub(crate) identity: Option<(u64, u64)>,
    /// The reason why it is not read.
    pub(crate) reason: Rejection,
}

/// Metadata that differs if the content may differ. The change time of an inode cannot be set, so
/// the stamp also differs for a file whose old modification time was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    mode: u32,
    bytes: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    /// Seconds and nanoseconds.
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of a file with this metadata.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            mode: metadata.mode(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The size of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Device and inode, which do not change when the file is written.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }
}

impl FileState {
    /// Checks a name in `root`, the resolved path of the folder. Opens nothing.
    pub(crate) fn of(root: &Path, file: &str, bytes_max: usize) -> Self {
        let entry = root.join(file);
        match fs::symlink_metadata(&entry) {
            Ok(metadata) if metadata.is_symlink() => {
                Self::behind_link(root, &entry, Stamp::of(&metadata), bytes_max)
            }
            Ok(metadata) => Self::of_target(&metadata, PathBuf::from(file), bytes_max),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::Absent,
            Err(error) => {
                let reason = Rejection::NoMetadata(error.to_string());
                let identity = None;
                Self::Rejected(Rejected { identity, reason }, None)
            }
        }
    }

    fn behind_link(root: &Path, entry: &Path, link: Stamp, bytes_max: usize) -> Self {
        // Read before the link is followed: if the folder changes in between, the next look detects
        // it.
        let around = fs::metadata(root).ok().as_ref().map(Stamp::of);
        let rejected = |reason, around| {
            let identity = Some(link.identity());
            Self::Rejected(Rejected { identity, reason }, around)
        };
        let found =
            fs::canonicalize(entry).and_then(|target| Ok((fs::symlink_metadata(&target)?, target)));
        let (metadata, target) = match found {
            Ok(found) => found,
            Err(error) => {
                let (target, error) = (fs::read_link(entry).unwrap_or_default(), error.to_string());
                return rejected(Rejection::BrokenLink { target, error }, around);
            }
        };
        match target.strip_prefix(root) {
            Ok(place) => Self::of_target(&metadata, place.to_owned(), bytes_max),
            Err(_) => rejected(Rejection::OutsideLink(target), None),
        }
    }

    fn of_target(metadata: &Metadata, place: PathBuf, bytes_max: usize) -> Self {
        let stamp = Stamp::of(metadata);
        let bytes = stamp.bytes;
        let reason = if !metadata.is_file() {
            Rejection::NotAFile(kind(metadata.file_type()))
        } else if bytes > bytes_max as u64 {
            let limit = bytes_max;
            Rejection::TooLarge { bytes, limit }
        } else {
            return Self::Readable(stamp, place);
        };
        let identity = Some(stamp.identity());
        Self::Rejected(Rejected { identity, reason }, None)
    }
}

/// The description of an entry that is not a file.
fn kind(file_type: FileType) -> &'static str {
    if file_type.is_dir() {
        "a folder"
    } else if file_type.is_fifo() {
        "a pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else if file_type.is_char_device() || file_type.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}
