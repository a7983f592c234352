//! Watches: the changes of a store under a prefix, in the order of their revisions.

use tokio::sync::watch::Receiver;

use crate::change_log::{ChangeLog, Recent};
use crate::{Changes, Error, Result, Revision};

/// The changes under a prefix after a revision. Made by [`Store::watch`](crate::Store::watch).
///
/// A watch does not delay writers or other watches. A watch that falls behind by more than the
/// store keeps gets [`Error::Compacted`]. Dropping a watch frees all its resources.
#[derive(Debug)]
pub struct Watch {
    prefix: String,
    /// Everything up to this revision was read.
    position: Revision,
    /// Number of times that the log had dropped all batches when the watch began.
    forgotten: u64,
    recent: Receiver<Recent>,
}

impl Watch {
    /// Watches the changes in `log` under `prefix` that come after the revision `after`.
    ///
    /// # Errors
    /// [`Error::Compacted`] if the log does not go back to `after`.
    pub(crate) fn new(log: &ChangeLog, prefix: &str, after: Revision) -> Result<Self> {
        let recent = log.subscribe();
        let forgotten = {
            let recent = recent.borrow();
            recent.check(after)?;
            recent.forgotten()
        };
        Ok(Self {
            forgotten,
            prefix: prefix.to_owned(),
            position: after,
            recent,
        })
    }

    /// Waits for the next batch that changes a key under the prefix.
    ///
    /// Batches arrive in the order of their revisions, without gaps. Dropping the future at any
    /// moment loses no change.
    ///
    /// # Errors
    /// [`Error::Compacted`] if the reader fell behind by more than the store keeps, or if a disk
    /// fault made it uncertain whether a batch was applied: read the range again and begin a new
    /// watch at its revision. [`Error::Closed`] if the store was dropped.
    pub async fn next(&mut self) -> Result<Changes> {
        loop {
            if let Some(changes) = self.next_recent()? {
                return Ok(changes);
            }
            self.recent.changed().await.map_err(|_| Error::Closed)?;
        }
    }

    /// Returns the next batch that changes a key under the prefix, or `None` if no batch arrived
    /// since the last one. Does not wait.
    ///
    /// # Errors
    /// [`Error::Compacted`], as [`Watch::next`].
    pub fn try_next(&mut self) -> Result<Option<Changes>> {
        self.next_recent()
    }

    /// The next changes in the log, or `None` if all were read.
    fn next_recent(&mut self) -> Result<Option<Changes>> {
        // Marks the log as seen and reads it under one lock, so that a later change wakes the
        // reader.
        let recent = self.recent.borrow_and_update();
        if recent.forgotten() != self.forgotten {
            let oldest = recent.oldest();
            return Err(Error::Compacted { oldest });
        }
        let found = recent.next(&self.prefix, self.position)?;
        self.position = match &found {
            Some(changes) => changes.revision,
            None => recent.latest().max(self.position),
        };
        Ok(found)
    }
}
