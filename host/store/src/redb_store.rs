//! The embedded store, in one redb file or in memory.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use redb::backends::InMemoryBackend;
use redb::{Builder, Database, DatabaseError, StorageBackend};
use tokio::sync::watch;

use self::tables::Tables;
use self::write::Outcome;
use crate::change_log::ChangeLog;
use crate::{
    Batch, Connection, Entry, Error, Keys, Lease, Leased, Range, ReadOnly, Result, Revision, Store,
    StoreLimits, Watch, format,
};

mod file;
mod tables;
#[cfg(test)]
mod tests;
mod write;

/// The largest value, in bytes. A bundle has at most 64 MiB of JSON and grows when it is put into a
/// JSON string. The limit of redb itself is 3 GiB.
pub const VALUE_BYTES_MAX: usize = 96 * 1024 * 1024;

/// The maximum number of writes, and of conditions, of one batch.
pub const BATCH_WRITES_MAX: usize = 1_000_000;

/// The maximum number of bytes of one batch, as [`StoreLimits::batch_bytes`] counts them.
pub const BATCH_BYTES_MAX: usize = 512 * 1024 * 1024;

/// The limits of the embedded store.
const LIMITS: StoreLimits = StoreLimits {
    value_bytes: VALUE_BYTES_MAX,
    batch_writes: BATCH_WRITES_MAX,
    batch_bytes: BATCH_BYTES_MAX,
};

/// The memory that redb may use for the pages of one file, in bytes. A server has at most two files
/// open: its store and its last-known state.
///
/// Queries never read the store, so a small cache is sufficient. `docs/scale.md` has measurements
/// with other sizes.
pub const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// A store in one file that only one process uses at a time, or in memory.
///
/// A batch is acknowledged when it is on disk. After a disk fault, the next call opens the file
/// again, so a full disk causes only the calls during that time to fail. Opening reads the complete
/// file, so repeating a failed batch takes longer the larger the file is.
///
/// After a fault during a commit, it is uncertain whether the file contains the batch until the
/// file is opened again. Watches therefore get [`Error::Compacted`] at the fault and again after
/// the file was opened.
pub struct RedbStore {
    /// `None` between a fault and the next successful opening.
    database: RwLock<Option<Database>>,
    open: Box<dyn Fn() -> Result<Database> + Send + Sync>,
    /// Locked from before a transaction begins until its changes are in the log, so that the log
    /// has the order of the commits.
    commit: Mutex<()>,
    log: ChangeLog,
    /// Set from a failed commit until the file is opened again, which shows whether the commit
    /// succeeded.
    is_in_doubt: AtomicBool,
    /// Always connected.
    connection: watch::Sender<Connection>,
}

impl RedbStore {
    /// Opens the store in a file, or creates the file. The folder must exist. Only the owner can
    /// read the file, because manifests contain Secrets. A file whose creation did not finish, for
    /// example because the disk was full, is created again.
    ///
    /// # Errors
    /// [`Error::Locked`] while another process has the file open, [`Error::ForeignStore`] for a
    /// file that is not a store or is damaged, [`Error::UnknownVersion`] and [`Error::Unreadable`]
    /// for a store of another release or with a damaged mark, [`Error::Open`] for errors of the
    /// operating system.
    pub fn open(path: &Path) -> Result<Self> {
        let path = path.to_owned();
        let store = Self::open_with(move || file::open(&path))?;
        format::establish(&store)?;
        Ok(store)
    }

    /// Opens or creates the store in a file for a user without watches. The store keeps no changes,
    /// so a watch ends with [`Error::Compacted`] after the next change.
    ///
    /// # Errors
    /// The errors of [`RedbStore::open`].
    pub fn open_unwatched(path: &Path) -> Result<Self> {
        let mut store = Self::open(path)?;
        store.log = ChangeLog::unwatched(store.log.latest());
        Ok(store)
    }

    /// Opens the store in a file for reading. Creates no file, and does not upgrade the layout, so
    /// that the release that wrote the store can still open it.
    ///
    /// # Errors
    /// The errors of [`RedbStore::open`], [`Error::Open`] if there is no file, and
    /// [`Error::ForeignStore`] if the file is empty.
    pub fn open_existing(path: &Path) -> Result<ReadOnly<Arc<dyn Store>>> {
        let path = path.to_owned();
        let store = Self::open_with(move || file::open_existing(&path))?;
        format::check_mark(&store)?;
        Ok(ReadOnly::new(Arc::new(store)))
    }

    /// Makes an empty store in memory for tests. Its data is lost when it is dropped.
    pub fn in_memory() -> Result<Self> {
        let memory = Mutex::new(Some(InMemoryBackend::new()));
        let store = Self::open_with(move || {
            let backend = memory.lock().unwrap_or_else(PoisonError::into_inner).take();
            let lost = || Error::Backend("memory that failed cannot be opened again".into());
            build(backend.ok_or_else(lost)?).map_err(|error| Error::Backend(Box::new(error)))
        })?;
        format::establish(&store)?;
        Ok(store)
    }

    fn open_with(open: impl Fn() -> Result<Database> + Send + Sync + 'static) -> Result<Self> {
        let database = open()?;
        let latest = tables::latest(&database).map_err(failed)?;
        Ok(Self {
            database: RwLock::new(Some(database)),
            open: Box::new(open),
            commit: Mutex::default(),
            log: ChangeLog::new(latest),
            is_in_doubt: AtomicBool::new(false),
            connection: watch::Sender::new(Connection::Connected),
        })
    }

    /// Runs `work`. If redb rejects all calls because of an earlier fault, opens the file again
    /// first.
    fn with<T>(&self, work: impl Fn(&Database) -> Result<T, redb::Error>) -> Result<T> {
        if let Some(done) = self.try_with(&work) {
            return done.map_err(failed);
        }
        self.reopen()?;
        let done = self.try_with(&work);
        done.unwrap_or(Err(redb::Error::PreviousIo)).map_err(failed)
    }

    /// Runs `work`. Returns `None` if redb rejects all calls because of an earlier fault.
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
        // The old database is closed first, to release the lock on the file.
        *database = None;
        *database = Some((self.open)()?);
        if self.is_in_doubt.swap(false, Ordering::SeqCst) {
            // Between the fault and now, reads may have been answered from memory, without the
            // batch.
            self.log.forget();
        }
        Ok(())
    }

    /// Writes a batch. A batch with an uncertain outcome is not repeated.
    fn write(&self, database: &Database, batch: &Batch) -> Result<Outcome, redb::Error> {
        // An uncertain batch may have used the next revision, so the revision of the log is the
        // lower bound.
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
            // The revision is read first: a batch in the log is committed, so the entries contain
            // it.
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

    fn lease(&self, _: &str) -> Result<Leased> {
        Ok(Leased::Granted(Lease::exclusive()))
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

/// Opens redb over `backend` and verifies all checksums, so that a damaged file is rejected here
/// and not during use.
fn build(backend: impl StorageBackend) -> Result<Database, DatabaseError> {
    Builder::new()
        .set_cache_size(CACHE_BYTES)
        .set_check_integrity_on_open(true)
        .create_with_backend(backend)
}
