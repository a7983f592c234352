//! Files and folders that are nobody else's.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Everything that group and others may do.
const OTHERS: u32 = 0o077;

/// Makes sure of a folder that only this user can open; makes it when it is not there.
///
/// # Errors
/// When it cannot be made, or belongs to or is open to somebody else, or is a link.
pub(super) fn folder(path: &Path) -> io::Result<()> {
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

/// Opens a file to read, where it is a file that only this user can read or write. A link is not
/// followed, and a pipe is not waited for.
///
/// # Errors
/// When it is not there, cannot be opened, or is not such a file.
pub(super) fn open(path: &Path) -> io::Result<fs::File> {
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

/// Tells one file that is being written from another.
pub(super) fn random() -> io::Result<u64> {
    getrandom::u64().map_err(io::Error::other)
}
