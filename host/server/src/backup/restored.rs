//! The restore of a backup into an empty data folder, or into an etcd without data of kindsight.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use kindsight_store::{
    Batch, CopyError, Error as StoreError, RedbStore, Store, StoreAddress, chain, open,
};

use super::unfinished::{self, Unfinished};
use super::{
    BackupContent, BackupError, LAST_KNOWN, RECORDS, StoppedServer, copy_range, folder_of, mark,
    open_new, refused,
};
use crate::data_dir::{CONTEXTS, REMEMBERED};

/// An entry of a new file system, which does not count as content.
const LOST_AND_FOUND: &str = "lost+found";

/// Writes the content of a backup into the empty state of a server. Checks the complete backup first. The last-known
/// state is left out if the server has no data folder.
///
/// # Errors
/// [`BackupError`]. If an etcd fails during the copy, the etcd may contain a part of the keys; nothing else is changed
/// then.
pub fn restore(file: &Path, server: &StoppedServer<'_>) -> Result<BackupContent, BackupError> {
    let address = server.address()?;
    if let Some(folder) = server.data_dir {
        empty_folder(folder)?;
    }
    // The file of the backup is never opened for writing.
    let held = copy_of(file, &scratch_folder(&address, server.data_dir))?;
    let backup = opened(&held, file)?;
    mark::check(&backup, file)?;
    let mut content = BackupContent::default();
    let last_known = match server.data_dir {
        Some(folder) => Some(last_known(&backup, folder, &mut content)?),
        None => None,
    };
    let only_store = mark::remove(Batch::new().delete_prefix(LAST_KNOWN));
    let failed = |source| BackupError::Open {
        what: held.path().display().to_string(),
        source,
    };
    backup.apply(&only_store).map_err(failed)?;
    match &address {
        StoreAddress::File(path) => {
            let keys = backup.keys("/").map_err(failed)?.keys.len();
            // The mark of the layout is not data.
            content.store_keys = keys.saturating_sub(1);
            drop(backup);
            held.finish(path)?;
        }
        _ => content.store_keys = fill(&backup, &address, server)?,
    }
    if let (Some(last_known), Some(folder)) = (last_known, server.data_dir) {
        last_known.finish(&folder.join(REMEMBERED))?;
    }
    Ok(content)
}

/// Creates a folder, or checks that it is empty. Unfinished files of other commands do not count, because the restore
/// removes the files of ended processes.
fn empty_folder(folder: &Path) -> Result<(), BackupError> {
    let failed = |source| BackupError::File {
        action: "use the data folder",
        path: folder.to_owned(),
        source,
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(folder).map_err(failed)?;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name != LOST_AND_FOUND && !unfinished::is_name(&name) {
            return Err(BackupError::NotEmpty {
                path: folder.to_owned(),
                name: name.to_string_lossy().into_owned(),
            });
        }
    }
    Ok(())
}

/// The folder for unfinished files: a finished file is renamed, so it has to be on the file system of its target.
fn scratch_folder(address: &StoreAddress, data_dir: Option<&Path>) -> PathBuf {
    match (address, data_dir) {
        (StoreAddress::File(path), _) => folder_of(path).to_owned(),
        (_, Some(folder)) => folder.to_owned(),
        _ => std::env::temp_dir(),
    }
}

/// A private copy of a file.
fn copy_of(file: &Path, folder: &Path) -> Result<Unfinished, BackupError> {
    let failed = |source| BackupError::File {
        action: "read",
        path: file.to_owned(),
        source,
    };
    let mut from = File::open(file).map_err(failed)?;
    if !from.metadata().map_err(failed)?.is_file() {
        return Err(failed(io::ErrorKind::InvalidInput.into()));
    }
    let mut copy = Unfinished::new_in(folder)?;
    io::copy(&mut from, copy.as_file_mut()).map_err(failed)?;
    Ok(copy)
}

/// Opens the copy of a backup, which verifies all checksums. `file` is named in errors.
fn opened(copy: &Unfinished, file: &Path) -> Result<RedbStore, BackupError> {
    RedbStore::open(copy.path()).map_err(|error| match error {
        StoreError::ForeignStore { why, .. } => BackupError::NotABackup {
            path: file.to_owned(),
            why,
        },
        StoreError::Unreadable { .. } => BackupError::NotABackup {
            path: file.to_owned(),
            why: chain(&error),
        },
        source => BackupError::Open {
            what: file.display().to_string(),
            source,
        },
    })
}

/// Writes the last-known state of a backup into an unfinished file of its own.
fn last_known(
    backup: &dyn Store,
    folder: &Path,
    content: &mut BackupContent,
) -> Result<Unfinished, BackupError> {
    let file = Unfinished::new_in(folder)?;
    let store = open_new(&file)?;
    content.last_known_keys = copy_range(backup, &store, LAST_KNOWN)?;
    Ok(file)
}

/// Copies the keys of a backup into a store that has none of the keys of kindsight. Returns their number.
fn fill(
    backup: &dyn Store,
    address: &StoreAddress,
    server: &StoppedServer<'_>,
) -> Result<usize, BackupError> {
    let store =
        open(address, &server.store.etcd).map_err(|source| refused(address.to_string(), source))?;
    // Checked for all ranges before the first write.
    let keys = store.keys(CONTEXTS).map_err(|source| BackupError::Open {
        what: address.to_string(),
        source,
    })?;
    if let Some(key) = keys.keys.first() {
        return Err(BackupError::Copy {
            prefix: CONTEXTS,
            source: CopyError::NotEmpty {
                count: keys.keys.len(),
                key: key.clone(),
            },
        });
    }
    Ok(copy_range(backup, &*store, RECORDS)? + copy_range(backup, &*store, CONTEXTS)?)
}
