//! Opens the file of a store, and rejects any other file.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::ops::RangeInclusive;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use redb::backends::FileBackend;
use redb::{Database, DatabaseError, ReadableDatabase, StorageError, TableError};

use super::tables::VALUES;
use super::{build, failed};
use crate::{Error, Result};

/// Time to wait for the lock of the file. A process that was killed while it started a child keeps the lock until
/// the child runs its own program.
const LOCK_MAX: Duration = Duration::from_secs(2);
/// Time between two attempts to lock the file.
const LOCK_INTERVAL: Duration = Duration::from_millis(20);

/// The length of the magic number with which a redb file begins. redb writes it as the last step of the creation.
const MAGIC_BYTES: u64 = 9;
/// The length of the first page, which contains only the header.
const HEADER_BYTES: u64 = 4096;
/// Possible lengths of a file whose creation did not finish. redb creates files of about 1 MiB.
const UNFINISHED_BYTES: RangeInclusive<u64> = 1024 * 1024..=16 * 1024 * 1024;

/// Opens or creates the file, locks it, and repairs it after a crash. A file whose creation did not finish is created
/// again.
pub(super) fn open(path: &Path) -> Result<Database> {
    open_by(path, |path| {
        open_or_create(path).map_err(|source| not_opened(path, source))
    })
}

/// Opens the file, locks it, and repairs it after a crash. Refuses an empty file.
pub(super) fn open_existing(path: &Path) -> Result<Database> {
    open_by(path, open_with_content)
}

type OpenFile = fn(&Path) -> Result<File>;

fn open_by(path: &Path, open_file: OpenFile) -> Result<Database> {
    let start = Instant::now();
    loop {
        match open_once(path, open_file) {
            Err(Error::Locked { .. }) if start.elapsed() < LOCK_MAX => sleep(LOCK_INTERVAL),
            opened => return opened,
        }
    }
}

fn open_once(path: &Path, open_file: OpenFile) -> Result<Database> {
    let database = FileBackend::new(open_file(path)?)
        .and_then(build)
        .map_err(|error| refused(path, error))?;
    check_tables(path, &database)?;
    Ok(database)
}

fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    sync_folder(path)?;
    if discard_unfinished(&file)? {
        tracing::warn!(path = %path.display(), "the creation of this file did not finish; it is created again");
    }
    Ok(file)
}

/// Opens a file that exists and is not empty: redb would create a database in an empty file.
fn open_with_content(path: &Path) -> Result<File> {
    let opened = File::options().read(true).write(true).open(path);
    let file = opened.map_err(|source| not_opened(path, source))?;
    let metadata = file.metadata().map_err(|source| not_opened(path, source))?;
    if metadata.len() == 0 {
        return Err(foreign(path, &"the file is empty"));
    }
    Ok(file)
}

/// Empties a file whose creation did not finish, because the disk was full or the process was killed. redb refuses such
/// a file, but creates a database in an empty file. Returns whether the file was emptied.
///
/// redb holds the lock of the file during the creation, so a file that another process creates is not emptied.
fn discard_unfinished(file: &File) -> io::Result<bool> {
    if !is_unfinished(file)? || file.try_lock().is_err() {
        return Ok(false);
    }
    // Another process may have created the database before the lock was granted.
    let is_unfinished = is_unfinished(file)?;
    if is_unfinished {
        file.set_len(0)?;
    }
    file.unlock()?;
    Ok(is_unfinished)
}

/// Returns whether the creation of the file did not finish: the file has no magic number, and no data after its header.
fn is_unfinished(mut file: &File) -> io::Result<bool> {
    if !UNFINISHED_BYTES.contains(&file.metadata()?.len()) {
        return Ok(false);
    }
    let (mut magic, mut data) = (Vec::new(), Vec::new());
    file.rewind()?;
    file.take(MAGIC_BYTES).read_to_end(&mut magic)?;
    // Most files have a magic number, so their data is not read.
    if is_zero(&magic) {
        file.seek(SeekFrom::Start(HEADER_BYTES))?;
        file.read_to_end(&mut data)?;
    }
    Ok(is_zero(&magic) && is_zero(&data))
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Makes the directory entry of a new file durable, as its content will be.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    File::open(folder)?.sync_all()
}

fn not_opened(path: &Path, source: io::Error) -> Error {
    Error::Open {
        path: path.to_owned(),
        source,
    }
}

fn refused(path: &Path, error: DatabaseError) -> Error {
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => Error::Locked {
            path: path.to_owned(),
        },
        DatabaseError::Storage(StorageError::Io(error))
            if matches!(
                error.kind(),
                // A truncated file ends before its last page.
                ErrorKind::InvalidData | ErrorKind::UnexpectedEof
            ) =>
        {
            foreign(path, &error)
        }
        DatabaseError::Storage(StorageError::Corrupted(_)) | DatabaseError::UpgradeRequired(_) => {
            foreign(path, &error)
        }
        error => failed(error.into()),
    }
}

/// Rejects a redb file whose tables belong to another program.
fn check_tables(path: &Path, database: &Database) -> Result<()> {
    let transaction = database
        .begin_read()
        .map_err(|error| failed(error.into()))?;
    match transaction.open_table(VALUES) {
        Ok(_) => Ok(()),
        Err(TableError::Storage(error)) => Err(failed(error.into())),
        Err(TableError::TableDoesNotExist(_)) => {
            let tables = transaction
                .list_tables()
                .map_err(|error| failed(error.into()))?;
            match tables.count() {
                0 => Ok(()),
                _ => Err(foreign(path, &"it holds the tables of another program")),
            }
        }
        Err(error) => Err(foreign(path, &error)),
    }
}

fn foreign(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::ForeignStore {
        path: path.to_owned(),
        why: why.to_string(),
    }
}
