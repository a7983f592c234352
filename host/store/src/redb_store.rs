//! The embedded store: one redb file, or memory.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use redb::backends::InMemoryBackend;
use redb::{
    AccessGuard, Builder, Database, DatabaseError, Durability, ReadOnlyTable, ReadableDatabase,
    ReadableTable, StorageBackend, Table, TableDefinition, TableError,
};

use crate::{Batch, Error, Keys, Range, Result, Revision, Store, Write, format};

mod file;
#[cfg(test)]
mod tests;

/// The largest value, in bytes. A bundle is at most 64 MiB of JSON and grows when it is put into a
/// JSON string; redb itself takes 3 GiB.
pub const VALUE_BYTES_MAX: usize = 96 * 1024 * 1024;

/// The memory redb may use for pages, in bytes. Queries never read the store, so a small part of it
/// suffices.
pub const CACHE_BYTES: usize = 64 * 1024 * 1024;

const TABLE: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("kindsight");

type Contents<'t> = Table<'t, &'static str, &'static [u8]>;

/// A store in one file that one process uses at a time, or in memory.
///
/// A batch is acknowledged when it is on disk. After a fault of the disk the next call opens the
/// file again, so a disk that was full for a while costs only what failed meanwhile. Opening reads
/// the whole file: whoever repeats what failed waits longer each time.
pub struct RedbStore {
    /// None between a fault and the next successful opening.
    database: RwLock<Option<Database>>,
    open: Box<dyn Fn() -> Result<Database> + Send + Sync>,
    /// Held from before a transaction begins until its revision is counted, so that revisions are
    /// in the order of the commits.
    commit: Mutex<()>,
    revision: Mutex<Revision>,
}

impl RedbStore {
    /// Opens the store in this file, or makes one there. The folder must exist. The file can be
    /// read by its owner only, because manifests hold Secrets.
    ///
    /// # Errors
    /// [`Error::Locked`] while another process has it open, [`Error::ForeignStore`] for any other file,
    /// [`Error::UnknownVersion`] for a store of another release, [`Error::Open`] when the operating
    /// system refuses.
    pub fn open(path: &Path) -> Result<Self> {
        let path = path.to_owned();
        Self::open_with(move || file::open(&path))
    }

    /// An empty store that is gone when it is dropped; for tests and demonstrations.
    pub fn in_memory() -> Result<Self> {
        let memory = Mutex::new(Some(InMemoryBackend::new()));
        Self::open_with(move || {
            let backend = memory.lock().unwrap_or_else(PoisonError::into_inner).take();
            let lost = || Error::Backend("memory that failed cannot be opened again".into());
            build(backend.ok_or_else(lost)?).map_err(|error| Error::Backend(Box::new(error)))
        })
    }

    fn open_with(open: impl Fn() -> Result<Database> + Send + Sync + 'static) -> Result<Self> {
        let store = Self {
            database: RwLock::new(Some(open()?)),
            open: Box::new(open),
            commit: Mutex::default(),
            revision: Mutex::default(),
        };
        format::establish(&store)?;
        Ok(store)
    }

    /// Does `work`, after opening the file again if redb refuses everything since a fault.
    fn with<T>(&self, work: impl Fn(&Database) -> Result<T, redb::Error>) -> Result<T> {
        if let Some(done) = self.try_with(&work) {
            return done.map_err(failed);
        }
        self.reopen()?;
        let done = self.try_with(&work);
        done.unwrap_or(Err(redb::Error::PreviousIo)).map_err(failed)
    }

    /// None when redb refuses everything since a fault.
    fn try_with<T>(
        &self,
        work: impl Fn(&Database) -> Result<T, redb::Error>,
    ) -> Option<Result<T, redb::Error>> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        match work(database.as_ref()?) {
            Err(redb::Error::PreviousIo) => None,
            done => Some(done),
        }
    }

    fn reopen(&self) -> Result<()> {
        let mut database = self
            .database
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        // Closed first: the lock on the file must be free to be taken again.
        *database = None;
        *database = Some((self.open)()?);
        Ok(())
    }

    fn revision(&self) -> MutexGuard<'_, Revision> {
        self.revision.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for RedbStore {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        self.with(|database| match table(database)? {
            Some(table) => Ok(table.get(key)?.map(|value| value.value().to_vec())),
            None => Ok(None),
        })
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        // Read first: a batch that is counted is committed, so the entries have it.
        let revision = *self.revision();
        let keep = |key: &str, value: &[u8]| (key.to_owned(), value.to_vec());
        let entries = self.with(|database| scan(database, prefix, keep))?;
        Ok(Range { entries, revision })
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        let revision = *self.revision();
        let keep = |key: &str, _: &[u8]| key.to_owned();
        let keys = self.with(|database| scan(database, prefix, keep))?;
        Ok(Keys { keys, revision })
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        batch.check(VALUE_BYTES_MAX)?;
        let _commit = self.commit.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = self.with(|database| write(database, batch))? {
            return Err(Error::Conflict { key });
        }
        let mut revision = self.revision();
        *revision = revision.next();
        Ok(*revision)
    }

    fn value_bytes_max(&self) -> usize {
        VALUE_BYTES_MAX
    }
}

/// The table; none before the first write.
fn table(
    database: &Database,
) -> Result<Option<ReadOnlyTable<&'static str, &'static [u8]>>, redb::Error> {
    match database.begin_read()?.open_table(TABLE) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn scan<T>(
    database: &Database,
    prefix: &str,
    keep: fn(&str, &[u8]) -> T,
) -> Result<Vec<T>, redb::Error> {
    let mut kept = Vec::new();
    let Some(table) = table(database)? else {
        return Ok(kept);
    };
    for entry in table.range(prefix..)? {
        let (key, value) = entry?;
        if !key.value().starts_with(prefix) {
            break;
        }
        kept.push(keep(key.value(), value.value()));
    }
    Ok(kept)
}

/// The key whose condition does not hold, or none when the batch is on disk.
fn write(database: &Database, batch: &Batch) -> Result<Option<String>, redb::Error> {
    let mut transaction = database.begin_write()?;
    transaction.set_durability(Durability::Immediate)?;
    let conflict = change(&mut transaction.open_table(TABLE)?, batch)?;
    if conflict.is_some() {
        transaction.abort()?;
    } else {
        transaction.commit()?;
    }
    Ok(conflict)
}

fn change(table: &mut Contents<'_>, batch: &Batch) -> Result<Option<String>, redb::Error> {
    for condition in batch.conditions() {
        let stored = table.get(condition.key())?;
        if !condition.holds(stored.as_ref().map(AccessGuard::value)) {
            return Ok(Some(condition.key().to_owned()));
        }
    }
    for write in batch.writes() {
        match write {
            Write::Put { key, value } => {
                table.insert(key.as_str(), value.as_slice())?;
            }
            Write::Delete { key } => {
                table.remove(key.as_str())?;
            }
            Write::DeletePrefix { prefix } => delete_prefix(table, prefix)?,
        }
    }
    Ok(None)
}

fn delete_prefix(table: &mut Contents<'_>, prefix: &str) -> Result<(), redb::Error> {
    let mut doomed = Vec::new();
    for entry in table.range(prefix..)? {
        let (key, _) = entry?;
        if !key.value().starts_with(prefix) {
            break;
        }
        doomed.push(key.value().to_owned());
    }
    for key in doomed {
        table.remove(key.as_str())?;
    }
    Ok(())
}

fn failed(error: redb::Error) -> Error {
    match error {
        redb::Error::Io(error) if is_full(&error) => Error::Full(error),
        error => Error::Backend(Box::new(error)),
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

/// Opens redb over `backend`. Its checksums are verified at once: a file that was damaged is then an
/// error here and not a surprise later.
fn build(backend: impl StorageBackend) -> Result<Database, DatabaseError> {
    Builder::new()
        .set_cache_size(CACHE_BYTES)
        .set_check_integrity_on_open(true)
        .create_with_backend(backend)
}
