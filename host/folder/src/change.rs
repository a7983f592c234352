//! The changes that one scan of a folder finds.

use std::fmt;
use std::path::PathBuf;

/// One difference in a folder. If there are several for one file, the last one is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A file is new, has different content, or can be read again after a rejection.
    Changed {
        /// The name of the file in the folder.
        file: String,
        /// The complete content.
        bytes: Vec<u8>,
        /// The hash of the bytes.
        hash: ContentHash,
    },
    /// A file that was reported no longer exists.
    ///
    /// When a file is renamed, the new name is reported before the old one is removed.
    Removed {
        /// The name of the file in the folder.
        file: String,
    },
    /// A file cannot be read. The content that was reported before may remain in use. Reported once
    /// for each file and reason.
    Rejected {
        /// The name of the file in the folder.
        file: String,
        /// The reason why it is not read.
        reason: Rejection,
    },
    /// The entries that are not read. Reported each time the set changes, also when it becomes
    /// empty.
    LeftOut(LeftOut),
    /// The folder cannot be listed. Everything that was reported stays valid. Reported once for
    /// each reason.
    Unavailable {
        /// The error of the operating system.
        reason: String,
    },
    /// The folder can be listed again, after [`Change::Unavailable`].
    Available,
    /// Every file was reported, except files that were written all the time.
    ///
    /// Reported once after the first listing, and once after each [`Change::Available`].
    Complete,
}

impl Change {
    /// The file that changed, or `None` for a change of the complete folder.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Changed { file, .. } | Self::Removed { file } | Self::Rejected { file, .. } => {
                Some(file)
            }
            _ => None,
        }
    }
}

/// A keyed hash of a file's content, comparable with other hashes of the same [`crate::Folder`].
///
/// Each folder has its own random key, which is never exposed, so equal hashes cannot be forged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub(crate) u64);

/// The reason why a file is not read, as the end of a sentence that begins with the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// A link to a target that does not exist, or a circle of links.
    #[error("it is a link to {}, which cannot be followed: {error}", target.display())]
    BrokenLink {
        /// The target of the link.
        target: PathBuf,
        /// The error of the operating system.
        error: String,
    },
    /// A link to a target outside the folder.
    #[error("it is a link to {}, which is outside of the folder", .0.display())]
    OutsideLink(PathBuf),
    /// A folder, pipe, socket or device.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// The file is over the limit of [`crate::FolderOptions::file_bytes_max`]. No byte of it was
    /// read.
    #[error("it has {bytes} bytes, and the limit is {limit}")]
    TooLarge {
        /// The size of the file.
        bytes: u64,
        /// The limit.
        limit: usize,
    },
    /// The metadata of the file cannot be read.
    #[error("its metadata cannot be read: {0}")]
    NoMetadata(String),
    /// The file cannot be opened or read. Each look tries again.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// Entries whose names pass the filter but which are not read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Number of files over [`crate::FolderOptions::files_max`].
    pub over: usize,
    /// The first of them by name.
    pub first_over: Option<String>,
    /// Number of files whose names are not UTF-8.
    pub not_utf8: usize,
    /// The limit of files.
    pub files_max: usize,
}

impl LeftOut {
    /// Returns whether every file is read.
    pub fn is_empty(&self) -> bool {
        self.over == 0 && self.not_utf8 == 0
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(first) = &self.first_over {
            let (over, files_max) = (self.over, self.files_max);
            write!(
                f,
                "over the limit of {files_max} files: {over}, from `{first}` on"
            )?;
            separator = "; ";
        }
        if self.not_utf8 > 0 {
            write!(f, "{separator}names that are not UTF-8: {}", self.not_utf8)?;
        }
        Ok(())
    }
}
