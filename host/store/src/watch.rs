//! Watches: the changes of a store under a prefix, in the order in which they were made.

use tokio::sync::watch::Receiver;

use crate::change_log::Recent;
use crate::{Error, Result, Revision};

/// The changes of one batch, as far as they are under the prefix of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The revision of the batch, as [`Store::apply`](crate::Store::apply) answered it.
    pub revision: Revision,
    /// The changed keys, each of them once. At least one.
    pub changes: Vec<Change>,
}

/// One key that was changed.
///
/// It carries no value: values are large, and a reader that reads the key again sees the newest one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The key.
    pub key: String,
    /// The kind of the change.
    pub kind: ChangeKind,
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The key was written; its value may be the same as before.
    Put,
    /// The key was there and is removed.
    Delete,
}

impl Changes {
    /// The part of the changes that is under `prefix`; none when nothing is.
    pub(crate) fn under(&self, prefix: &str) -> Option<Self> {
        let changes = self.changes.iter();
        let changes: Vec<Change> = changes
            .filter(|change| change.key.starts_with(prefix))
            .cloned()
            .collect();
        (!changes.is_empty()).then_some(Self {
            revision: self.revision,
            changes,
        })
    }
}

/// The changes under a prefix, from a revision on. Made by [`Store::watch`](crate::Store::watch).
///
/// Watches do not hold up writers or each other. One that falls behind by more than the store keeps
/// is told so. Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct Watch {
    prefix: String,
    /// The revision that everything was read up to.
    position: Revision,
    recent: Receiver<Recent>,
}

impl Watch {
    /// Watches what `recent` holds and will hold.
    ///
    /// # Errors
    /// [`Error::Compacted`] when `recent` does not go back to `after`.
    pub(crate) fn new(prefix: &str, after: Revision, recent: Receiver<Recent>) -> Result<Self> {
        recent.borrow().check(after)?;
        Ok(Self {
            prefix: prefix.to_owned(),
            position: after,
            recent,
        })
    }

    /// Waits for the next batch that changes a key under the prefix.
    ///
    /// Batches come in the order of their revisions, and none is left out. The future may be dropped
    /// at any moment; nothing is lost with it.
    ///
    /// # Errors
    /// [`Error::Compacted`] when the reader fell behind by more than the store keeps, or when nobody
    /// knows if a batch was applied, because the disk failed: read the range again and watch from its
    /// revision. [`Error::Closed`] when the store was dropped.
    pub async fn next(&mut self) -> Result<Changes> {
        loop {
            if let Some(changes) = self.next_recent()? {
                return Ok(changes);
            }
            self.recent.changed().await.map_err(|_| Error::Closed)?;
        }
    }

    /// The next changes that the store has made already.
    fn next_recent(&mut self) -> Result<Option<Changes>> {
        // Marked as seen while it is looked at: what comes later wakes the reader.
        let recent = self.recent.borrow_and_update();
        let found = recent.next(&self.prefix, self.position)?;
        self.position = match &found {
            Some(changes) => changes.revision,
            None => recent.latest(),
        };
        Ok(found)
    }
}
