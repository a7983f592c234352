//! Watches: the changes of a store under a prefix, in the order in which they were made.

use tokio::sync::watch::Receiver;

use crate::change_log::{ChangeLog, Recent};
use crate::{Changes, Error, Result, Revision};

/// The changes under a prefix, from a revision on. Made by [`Store::watch`](crate::Store::watch).
///
/// A watch holds up neither writers nor other watches. One that falls behind by more than the store
/// keeps gets [`Error::Compacted`]. Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct Watch {
    prefix: String,
    /// The revision that everything was read up to.
    position: Revision,
    /// The times that the log had forgotten all when the watch began.
    forgotten: u64,
    recent: Receiver<Recent>,
}

impl Watch {
    /// Watches the changes in `log` under `prefix` that come after the revision `after`.
    ///
    /// # Errors
    /// [`Error::Compacted`] when the log does not go back to `after`.
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
    /// Batches come in the order of their revisions, and none is left out. The future may be
    /// dropped at any moment; nothing is lost with it.
    ///
    /// # Errors
    /// [`Error::Compacted`] when the reader fell behind by more than the store keeps, or when a
    /// fault of the disk left in doubt if a batch was applied: read the range again and begin a new
    /// watch at its revision. [`Error::Closed`] when the store was dropped.
    pub async fn next(&mut self) -> Result<Changes> {
        loop {
            if let Some(changes) = self.next_recent()? {
                return Ok(changes);
            }
            self.recent.changed().await.map_err(|_| Error::Closed)?;
        }
    }

    /// The next changes among those that are in the log; none when all were read.
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
