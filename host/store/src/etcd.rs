//! A store in an etcd, which other programs may share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use etcd_client::{GetOptions, KeyValue, SortOrder, SortTarget};
use tokio::sync::watch;

use self::failure::Failure;
use self::following::Follower;
use self::key_space::Span;
use self::link::{Link, number};
use self::paging::Reading;
use self::runtime::OwnRuntime;
use self::session::Session;
use self::witness::Witness;
use crate::change_log::ChangeLog;
use crate::{
    Batch, ChangeKind, Connection, Entry, Error, Keys, Lease, Leased, Range, ReadOnly, Result,
    Revision, Store, StoreLimits, WantedLease, Watch, format,
};

mod failure;
mod following;
mod key_space;
mod link;
mod options;
mod paging;
mod runtime;
mod session;
#[cfg(test)]
mod tests;
mod transaction;
mod witness;

pub use options::EtcdOptions;

/// The largest value in an etcd, in bytes. A batch can hold one put of this size.
pub const ETCD_VALUE_BYTES_MAX: usize = 1408 * 1024;

/// The most writes or conditions of one batch: etcd's `--max-txn-ops`, unless an operator changes it.
pub const ETCD_BATCH_WRITES_MAX: usize = 128;

/// The maximum number of bytes of one batch. The remaining bytes up to etcd's
/// `--max-request-bytes`, 1.5 MiB, are for the request itself.
pub const ETCD_BATCH_BYTES_MAX: usize = 1472 * 1024;

/// The limits of an etcd that runs with its defaults.
const LIMITS: StoreLimits = StoreLimits {
    value_bytes: ETCD_VALUE_BYTES_MAX,
    batch_writes: ETCD_BATCH_WRITES_MAX,
    batch_bytes: ETCD_BATCH_BYTES_MAX,
};

/// A store in an etcd. Its keys are the keys of the etcd, after a prefix that is empty except in
/// tests.
///
/// Each call has a deadline. Reads are linearizable, and are repeated if a member does not answer.
/// If a write gets no answer, the store reads back whether it was applied. Keys that are not UTF-8
/// are skipped.
///
/// One watch in the background receives the changes. After a disconnect or a change of leader, the
/// watch resumes at its last position. If etcd has compacted changes that the watch has not
/// received, readers get [`Error::Compacted`] and read their ranges again.
pub struct EtcdStore {
    /// Dropped first, so that no task outlives the rest.
    runtime: OwnRuntime,
    link: Arc<Link>,
    log: Arc<ChangeLog>,
    connection: Arc<watch::Sender<Connection>>,
    /// The prefix of the keys that are watched.
    watched: String,
    /// The revision at which keys are read. `None` means the latest revision.
    read_at: Option<Revision>,
    is_marked: AtomicBool,
    /// The session of this process, from its first lease.
    session: Mutex<Option<Session>>,
}

impl EtcdStore {
    /// Connects to an etcd by its endpoints, each `HOST:PORT`. Writes nothing: the mark of the
    /// layout is written with the first batch.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if no member answers before the deadline, [`Error::Denied`] if the
    /// etcd rejects the user, [`Error::Open`] for files that cannot be read,
    /// [`Error::UnknownVersion`] and [`Error::Unreadable`] if another release wrote to the etcd.
    pub fn connect(endpoints: &[String], options: &EtcdOptions) -> Result<Self> {
        let runtime = OwnRuntime::new()?;
        let (endpoints, given) = (endpoints.to_vec(), options.clone());
        let (link, span, now) = runtime.wait(async move {
            let link = Link::connect(&endpoints, &given).await?;
            let span = link.keys.under(&given.watched);
            let now = now(&link, &span).await.map_err(Failure::into_error)?;
            Ok((Arc::new(link), span, now))
        })?;
        let store = Self {
            runtime,
            log: Arc::new(ChangeLog::following(now.revision)),
            connection: Arc::new(watch::Sender::new(Connection::Connected)),
            watched: options.watched.clone(),
            read_at: None,
            is_marked: AtomicBool::new(false),
            session: Mutex::default(),
            link,
        };
        if format::is_under(&store.watched) {
            format::check_mark(&store)?;
        }
        let follower = Follower {
            link: Arc::clone(&store.link),
            log: Arc::clone(&store.log),
            connection: Arc::clone(&store.connection),
            span,
            position: now.revision,
            witness: now.witness,
            split: Vec::new(),
        };
        store.runtime.spawn(follower.run());
        Ok(store)
    }

    /// Connects to an etcd for reading its keys as they are now. Writes of other programs from now
    /// on are not visible, so a reader of many ranges never mixes two moments.
    ///
    /// If etcd compacts the revision of the call, each later read gets [`Error::RevisionCompacted`].
    ///
    /// # Errors
    /// The errors of [`EtcdStore::connect`].
    pub fn connect_to_snapshot(
        endpoints: &[String],
        options: &EtcdOptions,
    ) -> Result<ReadOnly<Arc<dyn Store>>> {
        let mut store = Self::connect(endpoints, options)?;
        store.read_at = Some(store.link.seen());
        Ok(ReadOnly::new(Arc::new(store)))
    }

    fn read(&self, prefix: &str, reading: Reading) -> Result<(Vec<Entry>, Revision)> {
        let (link, span) = (Arc::clone(&self.link), self.link.keys.under(prefix));
        let at = self.read_at;
        let read = async move { paging::read(&link, &span, reading, at).await };
        let (found, revision) = self.runtime.wait(read)?;
        let entries = found.into_iter().filter_map(|pair| self.stored(pair));
        Ok((entries.collect(), revision))
    }

    /// The session of this process. Begins one if there is none or if etcd ended it.
    fn session(&self) -> Result<Session> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = session.as_ref().filter(|session| session.is_alive()) {
            return Ok(session.clone());
        }
        let (link, spawner) = (Arc::clone(&self.link), self.runtime.spawner()?);
        let begun = self
            .runtime
            .wait(async move { Session::begin(&link, &spawner).await })?;
        Ok(session.insert(begun).clone())
    }

    fn leased(&self, session: Session, wanted: Vec<WantedLease>) -> Result<Option<Vec<Lease>>> {
        let (link, spawner) = (Arc::clone(&self.link), self.runtime.spawner()?);
        self.runtime.wait(session.lease_all(link, spawner, wanted))
    }

    fn stored(&self, stored: KeyValue) -> Option<Entry> {
        let key = self.link.keys.stripped(stored.key())?;
        let revision = |wire| Revision::new(number(wire));
        Some(Entry {
            key,
            created: revision(stored.create_revision()),
            changed: revision(stored.mod_revision()),
            value: stored.into_key_value().1,
        })
    }
}

/// The latest point in the history of an etcd.
struct Now {
    revision: Revision,
    /// The last change of a key that still exists.
    witness: Option<Witness>,
}

/// Reads the latest point in the history of an etcd. A user with read access to the span is
/// permitted to do this.
async fn now(link: &Link, span: &Span) -> Result<Now, Failure> {
    let options = GetOptions::new().with_range(span.end.clone());
    let options = options.with_sort(SortTarget::Mod, SortOrder::Descend);
    let options = options.with_limit(1).with_keys_only();
    let read = link.read(|mut client| {
        let (from, options) = (span.from.clone(), options.clone());
        async move { client.get(from, Some(options)).await }
    });
    let answer = read.await?;
    let last = answer.kvs().first();
    Ok(Now {
        revision: link.revision(answer.header()),
        witness: last.map(|pair| {
            let revision = Revision::new(number(pair.mod_revision()));
            Witness::new(pair.key(), revision, ChangeKind::Put)
        }),
    })
}

impl Store for EtcdStore {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        let (link, key, at) = (Arc::clone(&self.link), key.to_owned(), self.read_at);
        let read = async move { paging::read_key(&link, &key, at).await };
        let stored = self.runtime.wait(read)?;
        Ok(stored.and_then(|pair| self.stored(pair)))
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        let (entries, revision) = self.read(prefix, Reading::Entries)?;
        Ok(Range { entries, revision })
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        let (entries, revision) = self.read(prefix, Reading::Keys)?;
        let keys = entries.into_iter().map(|it| it.key).collect();
        Ok(Keys { keys, revision })
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        batch.check(LIMITS)?;
        if !self.is_marked.swap(true, Ordering::SeqCst) {
            let marked = format::establish(self);
            marked.inspect_err(|_| self.is_marked.store(false, Ordering::SeqCst))?;
        }
        let (link, batch) = (Arc::clone(&self.link), batch.clone());
        let applied = transaction::apply(link, batch, transaction::NO_LEASE);
        self.runtime.wait(applied)
    }

    fn lease(&self, name: &str) -> Result<Leased> {
        let session = self.session()?;
        let wanted = session.wanted(name);
        let leased = self.leased(session, vec![wanted])?;
        let lease = leased.and_then(|mut leases| leases.pop());
        Ok(lease.map_or(Leased::Held, Leased::Granted))
    }

    fn lease_all(&self, wanted: &[WantedLease]) -> Result<Option<Vec<Lease>>> {
        session::batch(wanted).check(LIMITS)?;
        self.leased(self.session()?, wanted.to_vec())
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        if !prefix.starts_with(&self.watched) {
            return Err(Error::NotWatched {
                prefix: prefix.to_owned(),
                watched: self.watched.clone(),
            });
        }
        Watch::new(&self.log, prefix, after)
    }

    fn limits(&self) -> StoreLimits {
        LIMITS
    }

    fn connection(&self) -> watch::Receiver<Connection> {
        self.connection.subscribe()
    }
}
