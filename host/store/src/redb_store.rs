//! The embedded store: one redb file, or memory.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use redb::backends::InMemoryBackend;
use redb::{Builder, Database, DatabaseError, StorageBackend};
use tokio::sync::watch;

use self::tables::Tables;
use self::write::Outcome;
use crate::change_log::ChangeLog;
use crate::{
    Batch, Connection, Entry, Error, Keys, Range, Result, Revision, Store, StoreLimits, Watch,
    format,
};

mod file;
mod tables;
#[cfg(test)]
mod tests;
mod write;

/// The largest value, in bytes. A bundle is at most 64 MiB of JSON and grows when it is put into a
/// JSON string; redb itself takes 3 GiB.
pub const VALUE_BYTES_MAX: usize = 96 * 1024 * 1024;

/// The most writes or conditions of one batch.
pub const BATCH_WRITES_MAX: usize = 1_000_000;

/// The most bytes of one batch, as [`StoreLimits::batch_bytes`] counts them.
pub const BATCH_BYTES_MAX: usize = 512 * 1024 * 1024;

/// The limits of the embedded store.
const LIMITS: StoreLimits = StoreLimits {
    value_bytes: VALUE_BYTES_MAX,
    batch_writes: BATCH_WRITES_MAX,
    batch_bytes: BATCH_BYTES_MAX,
};

/// The memory that redb may use for pages, in bytes. Queries never read the store, so a small part
/// of it suffices.
pub const CACHE_BYTES: usize = 64 * 1024 * 1024;

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
    /// Always connected.
    connection: watch::Sender<Connection>,
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
        let database = open()?;
        let latest = tables::latest(&database).map_err(failed)?;
        let store = Self {
            database: RwLock::new(Some(database)),
            open: Box::new(open),
            commit: Mutex::default(),
            log: ChangeLog::new(latest),
            is_in_doubt: AtomicBool::new(false),
            connection: watch::Sender::new(Connection::Connected),
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
        // A batch that was left in doubt may have been given the next revision: the log has passed it.
        let outcome = write::write(database, batch, self.log.latest())?;
        if matches!(outcome, Outcome::InDoubt(_)) {
            self.is_in_doubt.store(true, Ordering::SeqCst);
            self.log.forget();
        }
        Ok(outcome)
    }
}

impl Store for RedbStore {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.with(|database| Tables::read(database)?.entry(key))
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.with(|database| {
            // Read first: a batch that is in the log is committed, so the entries have it.
            let revision = self.log.latest();
            let entries = Tables::read(database)?.entries(prefix)?;
            Ok(Range { entries, revision })
        })
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.with(|database| {
            let revision = self.log.latest();
            let keys = Tables::read(database)?.keys(prefix)?;
            Ok(Keys { keys, revision })
        })
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        batch.check(LIMITS)?;
        let _commit = self.commit.lock().unwrap_or_else(PoisonError::into_inner);
        match self.with(|database| self.write(database, batch))? {
            Outcome::Applied(revision, changes) => {
                self.log.append(revision, changes);
                Ok(revision)
            }
            Outcome::Conflict(key) => Err(Error::Conflict { key }),
            Outcome::InDoubt(error) => Err(failed(error)),
        }
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        Watch::new(&self.log, prefix, after)
    }

    fn limits(&self) -> StoreLimits {
        LIMITS
    }

    fn connection(&self) -> watch::Receiver<Connection> {
        self.connection.subscribe()
    }
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
