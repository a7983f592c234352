//! The latest changes of a store, kept in memory for its watches.
//!
//! An implementation of [`Store`](crate::Store) appends each batch once it is durable, and each
//! watch reads at its own pace. Nothing is queued for a watch, so a slow one costs only itself.

use std::collections::VecDeque;

use tokio::sync::watch::{Receiver, Sender};

use crate::{Change, Changes, Error, Result, Revision};

#[cfg(test)]
mod tests;

/// The number of changed keys that a store keeps for its watches. A watch that is further behind
/// has to read its range again.
///
/// The largest common batch creates an `AppContext`: 1,000 resources are some 1,000 keys, and their
/// states the same once more. Eight such contexts, or 16,384 reports of one key each, may come
/// while a reader is busy. Our keys have at most about 600 bytes, so the log takes at most 10 MiB.
pub const CHANGES_KEPT_MAX: usize = 16 * 1024;

/// The log of one store. Watches read what is in it to the end after it was dropped.
#[derive(Debug)]
pub(crate) struct ChangeLog {
    recent: Sender<Recent>,
}

/// The batches of the log, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    batches: VecDeque<Changes>,
    /// The number of changes in all batches.
    changes: usize,
    /// The revision after which every change is still in the batches.
    oldest: Revision,
    /// The revision of the last batch that was applied.
    latest: Revision,
    /// The batches are applied by others, and a reader may know of one before the log has it.
    follows: bool,
    /// The times that all was forgotten.
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

    /// Makes an empty log of a store at this revision to which others write as well, so that a reader
    /// may know of a revision before the log does.
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
    /// Called in the order of the revisions.
    pub(crate) fn append(&self, revision: Revision, changes: Vec<Change>) {
        self.recent.send_if_modified(|recent| {
            let is_change = !changes.is_empty();
            recent.append(revision, changes);
            is_change
        });
    }

    /// Forgets all changes, so that every watch gets [`Error::Compacted`]. Called when it is in
    /// doubt if a batch was applied. Counts as a batch, so that every revision of before is too old.
    pub(crate) fn forget(&self) {
        self.recent
            .send_modify(|recent| recent.forget(recent.latest.next()));
    }

    /// Forgets all changes, so that every watch gets [`Error::Compacted`] and goes on from this
    /// revision.
    pub(crate) fn forget_until(&self, until: Revision) {
        self.recent.send_modify(|recent| recent.forget(until));
    }

    /// Gives a watch access to the batches, and wakes it when there are more.
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

    /// The times that all was forgotten.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Refuses a revision after which not every change is in the batches. One that was never
    /// reached belongs to another store, or to this one before a restart.
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
        let read = self.batches.partition_point(|it| it.revision <= after);
        let mut unread = self.batches.iter().skip(read);
        Ok(unread.find_map(|batch| batch.under(prefix)))
    }

    fn append(&mut self, revision: Revision, changes: Vec<Change>) {
        self.latest = self.latest.max(revision);
        if !changes.is_empty() {
            self.changes += changes.len();
            self.batches.push_back(Changes { revision, changes });
        }
        // A batch over the limit goes at once, and takes all before it with it.
        while self.changes > CHANGES_KEPT_MAX
            && let Some(dropped) = self.batches.pop_front()
        {
            self.changes -= dropped.changes.len();
            self.oldest = dropped.revision;
        }
    }

    /// Drops all batches: revisions before this one are too old.
    fn forget(&mut self, until: Revision) {
        self.forgotten += 1;
        self.latest = until;
        self.oldest = until;
        self.batches.clear();
        self.changes = 0;
    }
}
