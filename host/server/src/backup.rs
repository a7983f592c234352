//! Backups: the state of a server in one file, and servers that begin with such a file.
//!
//! ```text
//! store of the server   ── /kindsight/, /context/ ──▶ ┐
//! remembered.redb       ── /kindsight/remembered/ ──▶ ├ one store in a file, with a mark
//! ```
//!
//! A backup is a store in a file: its pages have checksums, and `kindsight store check` and `dump` read it. The code of
//! compiled interpreters is not part of a backup, because it runs only on the host that compiled it.

mod mark;
mod restored;
mod unfinished;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_store::{
    CopyError, Error as StoreError, RedbStore, Store, StoreAddress, copy, open_existing,
};

use crate::data_dir::{CONTEXTS, REMEMBERED, STORE, StoreSettings};
use mark::Mark;
pub use restored::restore;
use unfinished::Unfinished;

/// Prefix of the keys of records and of the catalog.
const RECORDS: &str = "/kindsight/";

/// Prefix of the keys of the last-known state, in its own file and in a backup.
const LAST_KNOWN: &str = "/kindsight/remembered/";

/// The maximum number of attempts to back up an etcd that compacts the revision that is read.
const TRIES_MAX: usize = 3;

/// The state of one server that does not run.
#[derive(Debug, Clone, Copy)]
pub struct StoppedServer<'a> {
    /// The data folder. `None` if only the state in an etcd is meant.
    pub data_dir: Option<&'a Path>,
    /// The store of the server. The contexts of an observed store belong to another program, and not to this state.
    pub store: &'a StoreSettings,
}

/// The content of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupContent {
    /// The number of keys of contexts, records and interpreters.
    pub store_keys: usize,
    /// The number of keys of the last-known state.
    pub last_known_keys: usize,
}

/// The reason why a backup was not made or not restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The settings name no state that a file can hold: name another store or a data folder.
    #[error("{0}")]
    NoState(&'static str),
    /// The folder has no store: check the path.
    #[error(
        "{} has no file {STORE}: it is not the data folder of a server, or its store is elsewhere and `--store` has to name it",
        path.display()
    )]
    NoStore {
        /// The data folder.
        path: PathBuf,
    },
    /// A server has the file open: stop the server first.
    #[error(
        "{} is in use by another process: stop the server that uses it, and start the server again after the command",
        path.display()
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A store fails: see the error of the store.
    #[error("failed to open {what}")]
    Open {
        /// The file or the address.
        what: String,
        /// The error of the store.
        source: StoreError,
    },
    /// The keys of one range were not copied.
    #[error("failed to copy {prefix}")]
    Copy {
        /// The prefix of the keys.
        prefix: &'static str,
        /// The error of the copy.
        source: CopyError,
    },
    /// The file of the backup exists: choose another name.
    #[error("{} exists: choose another name, or remove the file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refuses an operation on a file or a folder.
    #[error("failed to {action} {}", path.display())]
    File {
        /// The operation, as an infinitive.
        action: &'static str,
        /// The file or the folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is damaged, or is no backup: use another file.
    #[error("{} is not a complete backup: {why}", path.display())]
    NotABackup {
        /// The file.
        path: PathBuf,
        /// The reason, as a sentence.
        why: String,
    },
    /// A newer release wrote the backup: restore it with that release.
    #[error(
        "{} was made by kindsight {release} with version {found} of {what}, and this release supports versions up to {known}: restore it with kindsight {release} or a later release",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The release that made the backup.
        release: String,
        /// The format with the unknown version.
        what: &'static str,
        /// The version in the backup.
        found: u64,
        /// The newest version that this release supports.
        known: u64,
    },
    /// The data folder has content, which a restore never changes.
    #[error(
        "{} is not empty, it contains `{name}`: choose another folder, or move the content away",
        path.display()
    )]
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// One of its entries.
        name: String,
    },
}

/// Writes the state of a server that does not run into a new file, which only its owner can read. The file appears when
/// it is complete. Changes nothing in the state of the server. `now_ms` is noted in the file.
///
/// An etcd is read at one revision. If the etcd compacts this revision before all keys are read, the backup begins again
/// with the latest revision, at most [`TRIES_MAX`] times in all.
///
/// # Errors
/// [`BackupError`]. There is no file then.
pub fn back_up(
    server: &StoppedServer<'_>,
    file: &Path,
    now_ms: i64,
) -> Result<BackupContent, BackupError> {
    if file.exists() {
        return Err(BackupError::Exists {
            path: file.to_owned(),
        });
    }
    with_retries(|| try_back_up(server, file, now_ms))
}

/// Repeats a backup whose revision was compacted.
fn with_retries<T>(mut attempt: impl FnMut() -> Result<T, BackupError>) -> Result<T, BackupError> {
    let mut tries = 1;
    loop {
        match attempt() {
            Err(BackupError::Copy {
                source: CopyError::Source(StoreError::RevisionCompacted { .. }),
                ..
            }) if tries < TRIES_MAX => tries += 1,
            done => return done,
        }
    }
}

/// Writes the state into a new file once.
fn try_back_up(
    server: &StoppedServer<'_>,
    file: &Path,
    now_ms: i64,
) -> Result<BackupContent, BackupError> {
    let store = server.store()?;
    let last_known = server.last_known()?;
    let unfinished = Unfinished::new_in(folder_of(file))?;
    let backup = open_new(&unfinished)?;
    let mut content = BackupContent::default();
    for prefix in server.prefixes() {
        content.store_keys += copy_range(&*store, &backup, prefix)?;
    }
    if let Some(last_known) = last_known {
        content.last_known_keys = copy_range(&*last_known, &backup, LAST_KNOWN)?;
    }
    mark::write(&backup, &Mark::new(now_ms)).map_err(|source| BackupError::Open {
        what: unfinished.path().display().to_string(),
        source,
    })?;
    drop(backup);
    unfinished.finish(file)?;
    Ok(content)
}

impl StoppedServer<'_> {
    /// The address of the server's store.
    fn address(&self) -> Result<StoreAddress, BackupError> {
        match (&self.store.address, self.data_dir) {
            (Some(StoreAddress::Memory), _) => Err(BackupError::NoState(
                "a store in memory has no state: name the store that a backup is for",
            )),
            (Some(address), _) if !self.store.observes => Ok(address.clone()),
            (_, Some(folder)) => Ok(StoreAddress::File(folder.join(STORE))),
            (_, None) => Err(BackupError::NoState(
                "the store is in a data folder: name the folder with `--data-dir`",
            )),
        }
    }

    /// The store of the server, for reading.
    fn store(&self) -> Result<Arc<dyn Store>, BackupError> {
        let address = self.address()?;
        if let (StoreAddress::File(path), Some(folder)) = (&address, self.data_dir)
            && !path.is_file()
        {
            return Err(BackupError::NoStore {
                path: folder.to_owned(),
            });
        }
        let store = open_existing(&address, &self.store.etcd);
        store.map_err(|source| refused(address.to_string(), source))
    }

    /// The file with the last-known state, for reading, if there is one.
    fn last_known(&self) -> Result<Option<Arc<dyn Store>>, BackupError> {
        let path = self.data_dir.map(|folder| folder.join(REMEMBERED));
        let Some(path) = path.filter(|path| path.is_file()) else {
            return Ok(None);
        };
        let address = StoreAddress::File(path);
        let store = open_existing(&address, &self.store.etcd);
        let store = store.map_err(|source| refused(address.to_string(), source));
        store.map(Some)
    }

    /// The prefixes of the keys in the store that belong to the server.
    fn prefixes(&self) -> &'static [&'static str] {
        if self.store.observes {
            &[RECORDS]
        } else {
            &[RECORDS, CONTEXTS]
        }
    }
}

/// Copies a range into a store that has no key in the range. Returns the number of keys.
fn copy_range(
    from: &dyn Store,
    to: &dyn Store,
    prefix: &'static str,
) -> Result<usize, BackupError> {
    let copied = copy(from, to, prefix, false, |_, _| {});
    copied
        .map(|copied| copied.written)
        .map_err(|source| BackupError::Copy { prefix, source })
}

fn refused(what: String, source: StoreError) -> BackupError {
    match source {
        StoreError::Locked { path } => BackupError::InUse { path },
        source => BackupError::Open { what, source },
    }
}

/// The folder of a file.
fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A new store in an unfinished file.
fn open_new(file: &Unfinished) -> Result<RedbStore, BackupError> {
    RedbStore::open(file.path()).map_err(|source| BackupError::Open {
        what: file.path().display().to_string(),
        source,
    })
}

#[cfg(test)]
mod tests;
