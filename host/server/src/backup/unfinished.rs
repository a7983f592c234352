//! Files of a backup or a restore that are not complete.
//!
//! A killed process cannot remove its file, which can have Secrets. Each file is therefore in a folder of its own, beside
//! a second file that stays locked while the process runs. The next command that makes a file at the same place removes
//! the folders of ended processes. The lock of a store is not sufficient, because it ends when the store is closed.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::process::geteuid;
use tempfile::{Builder, NamedTempFile, TempDir};

use super::{BackupError, folder_of};

#[cfg(test)]
mod tests;

const PREFIX: &str = ".kindsight-";
const SUFFIX: &str = ".unfinished";
/// The name of the locked file.
const LOCK: &str = "lock";

/// A file that only its owner can read. The file is removed unless [`Unfinished::finish`] gives it its name.
pub(super) struct Unfinished {
    file: NamedTempFile,
    /// The folder with the file and the lock. Dropping it removes the folder.
    _folder: TempDir,
    _lock: File,
}

impl Unfinished {
    /// Makes an empty file on the file system of `folder`. Removes the files that ended processes left in `folder`.
    pub(super) fn new_in(folder: &Path) -> Result<Self, BackupError> {
        remove_left_over(folder);
        let made = Self::try_new_in(folder);
        // Another command may have removed the new folder before the lock was taken.
        made.or_else(|_| Self::try_new_in(folder))
            .map_err(|source| BackupError::File {
                action: "create a file in",
                path: folder.to_owned(),
                source,
            })
    }

    fn try_new_in(folder: &Path) -> io::Result<Self> {
        let folder = Builder::new()
            .prefix(PREFIX)
            .suffix(SUFFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(folder)?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        // On a file system without locks, no process can lock the file, so no process removes the folder.
        let _ = lock.lock();
        Ok(Self {
            file: NamedTempFile::new_in(&folder)?,
            _folder: folder,
            _lock: lock,
        })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The open file, for writing.
    pub(super) fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Makes a complete file durable under its name. Replaces no other file.
    pub(super) fn finish(self, path: &Path) -> Result<(), BackupError> {
        let failed = |source| BackupError::File {
            action: "write",
            path: path.to_owned(),
            source,
        };
        self.file.as_file().sync_all().map_err(failed)?;
        self.file
            .persist_noclobber(path)
            .map_err(|error| match error.error.kind() {
                io::ErrorKind::AlreadyExists => BackupError::Exists {
                    path: path.to_owned(),
                },
                _ => failed(error.error),
            })?;
        File::open(folder_of(path))
            .and_then(|folder| folder.sync_all())
            .map_err(failed)
    }
}

/// Returns whether a file or a folder with this name belongs to a backup or a restore.
pub(super) fn is_name(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

/// Removes the files that ended processes left in a folder. A file that cannot be removed does not prevent the command.
fn remove_left_over(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_name(&entry.file_name())) {
        let _ = remove_if_ended(&entry);
    }
}

/// Removes one unfinished file if its process has ended, so that the lock is free.
fn remove_if_ended(entry: &DirEntry) -> io::Result<()> {
    let (path, metadata) = (entry.path(), entry.metadata()?);
    // In a folder that users share, another user could give an entry such a name.
    if metadata.uid() != geteuid().as_raw() {
        return Ok(());
    }
    // Earlier releases made a file without a folder, and its store locks it.
    let lock = if metadata.is_dir() {
        path.join(LOCK)
    } else {
        path.clone()
    };
    let lock = File::options().write(true).open(lock)?;
    if lock.try_lock().is_err() {
        return Ok(());
    }
    if metadata.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}
