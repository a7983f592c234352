//! The embedded store: one redb file, or memory.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use redb::backends::InMemoryBackend;
use redb::{
    Builder, Database, DatabaseError, ReadOnlyTable, ReadableDatabase, StorageBackend,
    TableDefinition, TableError,
};

use self::write::Outcome;
use crate::change_log::ChangeLog;
use crate::{Batch, Error, Keys, Range, Result, Revision, Store, Watch, format};

mod file;
#[cfg(test)]
mod tests;
mod write;

/// The largest value, in bytes. A bundle is at most 64 MiB of JSON and grows when it is put into a
/// JSON string; redb itself takes 3 GiB.
pub const VALUE_BYTES_MAX: usize = 96 * 1024 * 1024;

/// The memory that redb may use for pages, in bytes. Queries never read the store, so a small part
/// of it suffices.
pub const CACHE_BYTES: usize = 64 * 1024 * 1024;

const TABLE: TableDefinition<'static, &str, &[u8]> = TableDefinition::new("kindsight");

/// A store in one file that one process uses at a time, or in memory.
///
/// A batch is acknowledged when it is on disk. After a fault of the disk the next call opens the
/// file again, so a disk that was full for a while costs only what failed meanwhile. Opening reads
/// the whole file, so repeating a failed batch takes longer each time.
///
/// A fault during a commit leaves in doubt if the batch is in the file, until the file is opened
/// again. So watches get [`Error::Compacted`] at the fault and once more after the opening.
pub struct RedbStore {
    /// None between a fault and the next successful opening.
    database: RwLock<Option<Database>>,
    open: Box<dyn Fn() -> Result<Database> + Send + Sync>,
    /// Held from before a transaction begins until its changes are in the log, so that the log is
    /// in the order of the commits.
    commit: Mutex<()>,
    log: ChangeLog,
    /// Set from a commit that failed until the file is opened again, which settles what it holds.
    is_in_doubt: AtomicBool,
}

impl RedbStore {
    /// Opens the store in a file, or makes one there. The folder must exist. Only its owner can
    /// read the file, because manifests hold Secrets.
    ///
    /// # Errors
    /// [`Error::Locked`] while another process has it open, [`Error::ForeignStore`] for a file that
    /// is no store or is damaged, [`Error::UnknownVersion`] and [`Error::Unreadable`] for a store
    /// of another release or with a damaged mark, [`Error::Open`] when the operating system
    /// refuses.
    pub fn open(path: &Path) -> Result<Self> {
        let path = path.to_owned();
        Self::open_with(move || file::open(&path))
    }

    /// Makes an empty store in memory, which is lost when it is dropped; for tests.
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
            log: ChangeLog::new(),
            is_in_doubt: AtomicBool::new(false),
        };
        format::establish(&store)?;
        Ok(store)
    }

    /// Does `work`. If redb refuses everything because of an earlier fault, opens the file again
    /// first.
    fn with<T>(&self, work: impl Fn(&Database) -> Result<T, redb::Error>) -> Result<T> {
        if let Some(done) = self.try_with(&work) {
            return done.map_err(failed);
        }
        self.reopen()?;
        let done = self.try_with(&work);
        done.unwrap_or(Err(redb::Error::PreviousIo)).map_err(failed)
    }

    /// Does `work`; none when redb refuses everything because of an earlier fault.
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
        if self.is_in_doubt.swap(false, Ordering::SeqCst) {
            // Between the fault and now readers may have been answered from memory, without the
            // batch.
            self.log.forget();
        }
        Ok(())
    }

    /// Writes a batch. One that is left in doubt is not tried again.
    fn write(&self, database: &Database, batch: &Batch) -> Result<Outcome, redb::Error> {
        let outcome = write::write(database, batch)?;
        if matches!(outcome, Outcome::InDoubt(_)) {
            self.is_in_doubt.store(true, Ordering::SeqCst);
            self.log.forget();
        }
        Ok(outcome)
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
        self.with(|database| {
            // Read first: a batch that is in the log is committed, so the entries have it.
            let revision = self.log.latest();
            let keep = |key: &str, value: &[u8]| (key.to_owned(), value.to_vec());
            let entries = scan(database, prefix, keep)?;
            Ok(Range { entries, revision })
        })
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.with(|database| {
            let revision = self.log.latest();
            let keys = scan(database, prefix, |key, _| key.to_owned())?;
            Ok(Keys { keys, revision })
        })
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        batch.check(VALUE_BYTES_MAX)?;
        let _commit = self.commit.lock().unwrap_or_else(PoisonError::into_inner);
        match self.with(|database| self.write(database, batch))? {
            Outcome::Applied(changes) => Ok(self.log.append(changes)),
            Outcome::Conflict(key) => Err(Error::Conflict { key }),
            Outcome::InDoubt(error) => Err(failed(error)),
        }
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        Watch::new(&self.log, prefix, after)
    }

    fn value_bytes_max(&self) -> usize {
        VALUE_BYTES_MAX
    }
}

/// Opens the table for reading; none before the first write.
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

/// Opens redb over `backend` and verifies all checksums, so that a damaged file is refused here and
/// not while it is used.
fn build(backend: impl StorageBackend) -> Result<Database, DatabaseError> {
    Builder::new()
        .set_cache_size(CACHE_BYTES)
        .set_check_integrity_on_open(true)
        .create_with_backend(backend)
}
