//! Differences that a look finds.

use std::fmt;
use std::path::PathBuf;

/// One difference in a folder. Of several about one file the last one counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A file is new, holds other bytes now, or can be read again after it was rejected.
    Changed {
        /// Its name in the folder.
        file: String,
        /// All of it.
        bytes: Vec<u8>,
        /// Of the bytes.
        hash: ContentHash,
    },
    /// A file that was reported is gone.
    ///
    /// A file that is given another name is reported under the new one before the old one is removed.
    Removed {
        /// Its name in the folder.
        file: String,
    },
    /// A file cannot be read, and what was read from it before may stay. Reported once for each file
    /// and reason.
    Rejected {
        /// Its name in the folder.
        file: String,
        /// The reason why it is not read.
        reason: Rejection,
    },
    /// Some entries are not looked at, or none any more. Reported each time it is others.
    LeftOut(LeftOut),
    /// The folder cannot be listed; everything that was reported stays. Reported once for each reason.
    Unavailable {
        /// The error of the system.
        reason: String,
    },
    /// The folder can be listed again, after [`Change::Unavailable`].
    Available,
    /// Every file was reported that was not being written all the time.
    ///
    /// Comes once after the first listing, and once after each [`Change::Available`].
    Complete,
}

/// A keyed hash of a file's bytes, for comparison with others of the same [`crate::Folder`].
///
/// The key is drawn for each folder and is not known outside, so nobody can craft equal hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(pub(crate) u64);

/// The reason why a file is not read; it continues a sentence that begins with the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// A link that leads nowhere, or in a circle.
    #[error("it is a link to {}, which cannot be followed: {error}", target.display())]
    BrokenLink {
        /// The text of the link.
        target: PathBuf,
        /// The error of the system.
        error: String,
    },
    /// A link that leaves the folder.
    #[error("it is a link to {}, which is outside of the folder", .0.display())]
    OutsideLink(PathBuf),
    /// A folder, pipe, socket or device.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// Over the limit of [`crate::FolderOptions::file_bytes_max`]; not a byte of it was read.
    #[error("it has {bytes} bytes, and the limit is {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: usize,
    },
    /// Its metadata cannot be had.
    #[error("it cannot be looked at: {0}")]
    NoMetadata(String),
    /// It cannot be opened or read. Tried again at every look.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// Entries whose names pass the filter and that are not looked at.
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
    /// Returns whether everything is looked at.
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
