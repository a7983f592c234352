//! One note: the file that holds it.

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::directory::is_component;

/// Follows the name of the file that a note is about.
const SUFFIX: &str = ".refused.txt";

/// Writes the note in one step: who reads it reads all of it.
///
/// # Errors
/// The folder cannot be written, or something else has that name.
pub(super) fn write(folder: &Path, file: &str, why: &str) -> io::Result<()> {
    let path = path(folder, file)?;
    let mut draft = tempfile::Builder::new()
        .prefix(".")
        .suffix(SUFFIX)
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(folder)?;
    write!(
        draft,
        "{file} is refused: {why}\n\nThis note goes away when the file is accepted or removed.\n"
    )?;
    // A link of that name is replaced, never followed.
    draft.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Removes the note, if there is one.
///
/// # Errors
/// There is one and it cannot be removed.
pub(super) fn remove(folder: &Path, file: &str) -> io::Result<()> {
    match fs::remove_file(path(folder, file)?) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes each note about a file that is not there.
///
/// # Errors
/// The folder cannot be listed, or a note cannot be removed; the others may stay then.
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

/// The file that a note of this name is about; none if it is no note.
fn about(name: &str) -> Option<&str> {
    name.strip_suffix(SUFFIX).filter(|file| is_component(file))
}

fn path(folder: &Path, file: &str) -> io::Result<PathBuf> {
    if is_component(file) {
        return Ok(folder.join(format!("{file}{SUFFIX}")));
    }
    Err(ErrorKind::InvalidInput.into())
}
