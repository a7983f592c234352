//! The latest changes of a store, kept in memory for its watches.
//!
//! An implementation of [`Store`](crate::Store) appends each batch once it is durable, and each
//! watch reads the log at its own pace. No queue exists per watch, so a slow watch affects only its
//! own reader.

use std::collections::VecDeque;

use tokio::sync::watch::{Receiver, Sender};

use crate::{Change, Changes, Error, Result, Revision};

#[cfg(test)]
mod tests;

/// The number of changed keys that a store keeps for its watches. A watch that is further behind
/// must read its range again.
///
/// The largest common batches create an `AppContext`: a context of 1,000 resources has about 1,000
/// keys, and their states are as many again. While a reader is busy, eight such contexts or 16,384
/// reports of one key each can arrive. kindsight's keys have at most about 600 bytes, so the log
/// uses at most 10 MiB.
pub const CHANGES_KEPT_MAX: usize = 16 * 1024;

/// The bytes of values that a store keeps for its watches. If the changes have more, the values of
/// the oldest changes are dropped. The changes themselves are kept, and a reader that is behind
/// reads their keys.
///
/// 4 MiB contain the statuses of 100,000 resources, or about 40 reports of 100 KB.
pub const VALUES_KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The log of one store. After the log is dropped, watches can still read its remaining changes.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    recent: Sender<Recent>,
}

/// The batches that the log keeps, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    batches: VecDeque<Changes>,
    /// The number of changes in all batches.
    changes: usize,
    /// The bytes of the values in all batches.
    value_bytes: usize,
    /// The number of the oldest batches whose values were dropped.
    without_values: usize,
    /// The revision after which the batches contain every change.
    oldest: Revision,
    /// The revision of the last batch that was applied.
    latest: Revision,
    /// True if other programs apply the batches too, so that a reader may know a revision before
    /// the log does.
    follows: bool,
    /// True if every batch is dropped immediately.
    is_unwatched: bool,
    /// Number of times that the log has dropped all batches.
    forgotten: u64,
}

impl ChangeLog {
    /// Makes an empty log of a store that is at this revision.
    pub(crate) fn new(at: Revision) -> Self {
        Self {
            recent: Sender::new(Recent {
                oldest: at,
                latest: at,
                ..Recent::default()
            }),
        }
    }

    /// Makes a log that keeps no batch, for a store without watches. A watch gets
    /// [`Error::Compacted`] after the next change.
    pub(crate) fn unwatched(at: Revision) -> Self {
        let log = Self::new(at);
        log.recent.send_modify(|recent| recent.is_unwatched = true);
        log
    }

    /// Makes an empty log of a store at this revision that other programs also write to, so that a
    /// reader may know a revision before the log does.
    pub(crate) fn following(at: Revision) -> Self {
        let log = Self::new(at);
        log.recent.send_modify(|recent| recent.follows = true);
        log
    }

    /// The revision of the last batch that was applied.
    pub(crate) fn latest(&self) -> Revision {
        self.recent.borrow().latest
    }

    /// Appends the changes of a batch that was applied at this revision, and wakes the watches.
    /// Must be called in the order of the revisions.
    pub(crate) fn append(&self, revision: Revision, changes: Vec<Change>) {
        self.recent.send_if_modified(|recent| {
            let is_change = !changes.is_empty();
            recent.append(revision, changes);
            is_change
        });
    }

    /// Drops all changes, so that every watch gets [`Error::Compacted`]. Called if it is uncertain
    /// whether a batch was applied. Counts as a batch, so that every earlier revision is too old.
    pub(crate) fn forget(&self) {
        self.recent
            .send_modify(|recent| recent.forget(recent.latest.next()));
    }

    /// Drops all changes, so that every watch gets [`Error::Compacted`] and continues from this
    /// revision.
    pub(crate) fn forget_until(&self, until: Revision) {
        self.recent.send_modify(|recent| recent.forget(until));
    }

    /// Gives a watch access to the batches, and wakes the watch when a batch is added.
    pub(crate) fn subscribe(&self) -> Receiver<Recent> {
        self.recent.subscribe()
    }
}

impl Recent {
    /// The revision of the last batch that was applied.
    pub(crate) fn latest(&self) -> Revision {
        self.latest
    }

    /// The revision after which every change is kept.
    pub(crate) fn oldest(&self) -> Revision {
        self.oldest
    }

    /// Number of times that the log has dropped all batches.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Rejects a revision if the batches do not contain every change after it. A revision that was
    /// never reached belongs to another store, or to this store before a restart.
    ///
    /// # Errors
    /// [`Error::Compacted`].
    pub(crate) fn check(&self, after: Revision) -> Result<()> {
        let is_reached = self.follows || after <= self.latest;
        if self.oldest <= after && is_reached {
            return Ok(());
        }
        let oldest = self.oldest;
        Err(Error::Compacted { oldest })
    }

    /// Finds the first batch after the revision `after` that changes a key under `prefix`.
    ///
    /// # Errors
    /// As [`Recent::check`].
    pub(crate) fn next(&self, prefix: &str, after: Revision) -> Result<Option<Changes>> {
        self.check(after)?;
        let read = self
            .batches
            .partition_point(|batch| batch.revision <= after);
        let mut unread = self.batches.iter().skip(read);
        Ok(unread.find_map(|batch| batch.under(prefix)))
    }

    fn append(&mut self, revision: Revision, changes: Vec<Change>) {
        self.latest = self.latest.max(revision);
        if !changes.is_empty() {
            let batch = Changes { revision, changes };
            self.changes += batch.changes.len();
            self.value_bytes += batch.value_bytes();
            self.batches.push_back(batch);
        }
        let changes_max = if self.is_unwatched {
            0
        } else {
            CHANGES_KEPT_MAX
        };
        // A batch over the limit is dropped immediately, with all batches before it.
        while self.changes > changes_max
            && let Some(dropped) = self.batches.pop_front()
        {
            self.changes -= dropped.changes.len();
            self.value_bytes -= dropped.value_bytes();
            self.without_values = self.without_values.saturating_sub(1);
            self.oldest = dropped.revision;
        }
        while self.value_bytes > VALUES_KEPT_BYTES_MAX
            && let Some(oldest) = self.batches.get_mut(self.without_values)
        {
            self.value_bytes -= oldest.value_bytes();
            oldest.drop_values();
            self.without_values += 1;
        }
    }

    /// Drops all batches: revisions before this one are too old.
    fn forget(&mut self, until: Revision) {
        self.forgotten += 1;
        self.latest = until;
        self.oldest = until;
        self.batches.clear();
        self.changes = 0;
        self.value_bytes = 0;
        self.without_values = 0;
    }
}
