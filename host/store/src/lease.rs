//! Ownership that a store grants to one program at a time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::watch::Receiver;

use crate::{
    Batch, ChangeKind, Connection, Entry, Error, Keys, OPERATION_BYTES, Range, Result, Revision,
    Store, StoreLimits, Watch,
};

#[cfg(test)]
mod tests;

/// The prefix of the keys of leases. A key is this prefix, the name of the lease and `/`.
/// [`copy`](crate::copy) leaves the keys out, because a lease belongs to a running program.
pub const LEASES_PREFIX: &str = "/kindsight/leases/";

/// The answer to a request for a lease.
pub enum Leased {
    /// The caller has the lease.
    Granted(Lease),
    /// Another program has the lease: ask again later.
    Held,
}

/// The ownership of something that a name identifies, for example of the work on a group.
///
/// The store ends the lease if this program does not answer for some seconds, so that another
/// program can continue. This program may notice that late. So write through [`Lease::fenced`].
/// Dropping a lease ends it in the background.
pub struct Lease {
    /// `None` if no other program can open the store.
    fence: Option<Fence>,
    expiry: Expiry,
    /// Removes the key.
    release: Option<Box<dyn FnOnce() + Send + Sync>>,
}

/// A lease to ask for, with the value of its key, which other programs read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedLease {
    /// The name, as in [`Store::lease`].
    pub name: String,
    /// The value of the key.
    pub value: Vec<u8>,
}

/// The time until which a store keeps the leases of this program. Each renewal moves it. Clones
/// share it.
///
/// The time is on the monotonic clock of this machine, which also runs while the process is paused.
/// The clock may stop while the machine is paused, so writes still need [`Lease::fenced`].
#[derive(Debug, Clone, Default)]
pub struct Expiry(Option<Arc<Mutex<Instant>>>);

/// The key of a lease, and the fencing number: the revision at which the store granted the lease.
#[derive(Clone)]
struct Fence {
    key: String,
    revision: Revision,
}

impl Lease {
    /// A lease in a store that no other program can open.
    pub(crate) fn exclusive() -> Self {
        Self {
            fence: None,
            expiry: Expiry::default(),
            release: None,
        }
    }

    /// A lease with a key that was put at a revision. `release` removes the key, and does not block.
    pub(crate) fn new(
        key: String,
        revision: Revision,
        expiry: Expiry,
        release: impl FnOnce() + Send + Sync + 'static,
    ) -> Self {
        Self {
            fence: Some(Fence { key, revision }),
            expiry,
            release: Some(Box::new(release)),
        }
    }

    /// The fencing number: the revision at which the store granted the lease. Each later owner has a
    /// greater number. 0 in a store that no other program can open.
    pub fn number(&self) -> u64 {
        let fence = self.fence.as_ref();
        fence.map_or(0, |fence| fence.revision.number())
    }

    /// Drops the lease without a write, because the store has ended it.
    pub fn forget(mut self) {
        self.release = None;
    }

    /// The time until which the store keeps this lease.
    pub fn expiry(&self) -> &Expiry {
        &self.expiry
    }

    /// The store that granted the lease, with the condition on each batch that the lease has not
    /// ended. After the end of the lease, a batch fails with [`Error::LeaseLost`].
    pub fn fenced(&self, store: &Arc<dyn Store>) -> Arc<dyn Store> {
        match &self.fence {
            None => Arc::clone(store),
            Some(fence) => Arc::new(FencedStore {
                store: Arc::clone(store),
                fence: fence.clone(),
            }),
        }
    }
}

impl Expiry {
    /// A time that renewals move.
    pub fn until(end: Instant) -> Self {
        Self(Some(Arc::new(Mutex::new(end))))
    }

    /// Moves the time: the leases were renewed, or have ended.
    pub(crate) fn set(&self, end: Instant) {
        if let Some(until) = &self.0 {
            *until.lock().unwrap_or_else(PoisonError::into_inner) = end;
        }
    }

    /// The time, or `None` if the leases do not end by themselves.
    pub fn at(&self) -> Option<Instant> {
        let until = self.0.as_ref()?;
        Some(*until.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether the store keeps the leases at a time.
    pub fn is_after(&self, now: Instant) -> bool {
        self.at().is_none_or(|end| now < end)
    }
}

/// Ends leases in one batch. Blocks.
///
/// # Errors
/// The errors of [`Store::apply`]. Leases that this call did not end, end in the background.
pub fn end_leases(store: &dyn Store, mut leases: Vec<Lease>) -> Result<()> {
    let fences = leases.iter().filter_map(|lease| lease.fence.as_ref());
    let batch = fences.fold(Batch::new(), |batch, fence| {
        let batch = batch.unchanged(&fence.key, fence.revision);
        batch.delete(&fence.key)
    });
    store.apply(&batch)?;
    for lease in &mut leases {
        lease.release = None;
    }
    Ok(())
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            release();
        }
    }
}

/// The leases of all programs that end, from the begin of the watch on.
pub struct EndedLeases {
    watch: Watch,
    /// The prefix of the keys.
    prefix: String,
}

impl EndedLeases {
    /// Watches the leases whose names begin with `names`. In a store that no other program can
    /// open, none ends. Blocks.
    ///
    /// # Errors
    /// The errors of [`Store::keys`] and [`Store::watch`].
    pub fn watch(store: &dyn Store, names: &str) -> Result<Self> {
        let prefix = format!("{LEASES_PREFIX}{names}");
        let revision = store.keys(&prefix)?.revision;
        Ok(Self {
            watch: store.watch(&prefix, revision)?,
            prefix,
        })
    }

    /// Waits until leases end: their program ended them, or the store did because the program does
    /// not answer. Returns the rests of their names. Dropping the future loses no name.
    ///
    /// # Errors
    /// As [`Watch::next`]: begin another watch, because ends may have been missed.
    pub async fn next(&mut self) -> Result<Vec<String>> {
        loop {
            let changes = self.watch.next().await?.changes;
            let ended = changes
                .iter()
                .filter(|change| change.kind == ChangeKind::Delete);
            let names = ended.filter_map(|change| {
                let rest = change.key.strip_prefix(&self.prefix)?;
                rest.strip_suffix('/').map(str::to_owned)
            });
            let names: Vec<String> = names.collect();
            if !names.is_empty() {
                return Ok(names);
            }
        }
    }
}

/// The key of the lease with a name.
pub(crate) fn key(name: &str) -> String {
    format!("{LEASES_PREFIX}{name}/")
}

/// Returns whether a key belongs to a lease.
pub(crate) fn is_lease(key: &str) -> bool {
    key.starts_with(LEASES_PREFIX)
}

/// A store whose batches need a lease.
struct FencedStore {
    store: Arc<dyn Store>,
    fence: Fence,
}

impl Store for FencedStore {
    fn entry(&self, key: &str) -> Result<Option<Entry>> {
        self.store.entry(key)
    }

    fn range(&self, prefix: &str) -> Result<Range> {
        self.store.range(prefix)
    }

    fn keys(&self, prefix: &str) -> Result<Keys> {
        self.store.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> Result<Revision> {
        let Fence { key, revision } = &self.fence;
        let fenced = batch.clone().unchanged(key, *revision);
        match self.store.apply(&fenced) {
            Err(Error::Conflict { key: conflict }) if conflict == *key => {
                Err(Error::LeaseLost { key: conflict })
            }
            done => done,
        }
    }

    fn lease(&self, name: &str) -> Result<Leased> {
        self.store.lease(name)
    }

    fn lease_all(&self, wanted: &[WantedLease]) -> Result<Option<Vec<Lease>>> {
        self.store.lease_all(wanted)
    }

    fn watch(&self, prefix: &str, after: Revision) -> Result<Watch> {
        self.store.watch(prefix, after)
    }

    /// The limits of the store, less the condition.
    fn limits(&self) -> StoreLimits {
        let limits = self.store.limits();
        StoreLimits {
            batch_writes: limits.batch_writes.saturating_sub(1),
            batch_bytes: limits
                .batch_bytes
                .saturating_sub(self.fence.key.len() + OPERATION_BYTES),
            ..limits
        }
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}
