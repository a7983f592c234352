//! Files and folders that only this user can access.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// The permission bits of the group and of all other users.
const OTHERS: u32 = 0o077;

/// Creates a folder that only this user can access, or checks an existing one.
///
/// # Errors
/// If it cannot be created, belongs to another user, is accessible to others, or is a link.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)?;
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_dir() && is_private(&metadata) {
        return Ok(());
    }
    Err(refused(path, "folder", "0700"))
}

/// Opens a file for reading, if only this user can read or write it. Does not follow a link, and
/// does not block on a pipe.
///
/// # Errors
/// If it does not exist, cannot be opened, or is not such a file.
pub(crate) fn open(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty());
    let file = fs::File::from(file.map_err(|error| match error {
        rustix::io::Errno::LOOP => refused(path, "file", "0600"),
        error => error.into(),
    })?);
    let metadata = file.metadata()?;
    if metadata.is_file() && is_private(&metadata) {
        return Ok(file);
    }
    Err(refused(path, "file", "0600"))
}

fn is_private(metadata: &fs::Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & OTHERS == 0
}

fn refused(path: &Path, what: &str, mode: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{} must be a {what} of this user with mode {mode}",
            path.display()
        ),
    )
}

/// Returns a random number for the name of a temporary file.
pub(crate) fn random() -> io::Result<u64> {
    getrandom::u64().map_err(io::Error::other)
}
