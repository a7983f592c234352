//! The file of one note.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::directory::is_read;

/// Follows the name of the file that the note describes.
const SUFFIX: &str = ".refused.txt";

/// Writes the note atomically, so that readers never see a part of it.
///
/// # Errors
/// If the folder is not writable, or another entry has that name.
pub(super) fn write(folder: &Path, file: &str, why: &str) -> io::Result<()> {
    let path = path(folder, file)?;
    let mut draft = tempfile::Builder::new()
        .prefix(".")
        .suffix(SUFFIX)
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    write!(
        draft,
        "{file} is refused: {why}\n\nThis note is removed when the file is accepted or removed.\n"
    )?;
    // A link with that name is replaced, never followed.
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Removes the note, if there is one.
///
/// # Errors
/// If there is a note and it cannot be removed.
pub(super) fn remove(folder: &Path, file: &str) -> io::Result<()> {
    match fs::remove_file(path(folder, file)?) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes each note about a file that does not exist.
///
/// # Errors
/// If the folder cannot be listed, or a note cannot be removed. Other notes may remain then.
pub(super) fn remove_orphans(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let Some(file) = name.to_str().and_then(about) else {
            continue;
        };
        let entry = fs::symlink_metadata(folder.join(file));
        if entry.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            remove(folder, file)?;
        }
    }
    Ok(())
}

/// The file that a note with this name describes, or `None` if it is not a note.
fn about(name: &str) -> Option<&str> {
    name.strip_suffix(SUFFIX).filter(|file| is_read(file))
}

fn path(folder: &Path, file: &str) -> io::Result<PathBuf> {
    if is_read(file) {
        return Ok(folder.join(format!("{file}{SUFFIX}")));
    }
    Err(ErrorKind::InvalidInput.into())
}
