//! The state that the readers and the writer share.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kindsight_status::{Histories, Snapshot};
use tokio::sync::broadcast;

use crate::subscription::{Changed, SUBSCRIPTION_CHANGES_MAX};

/// The current snapshot and the histories, each under its own lock: a query for a status does not wait for a
/// history.
///
/// A thread that needs both locks takes the lock of the histories first.
#[derive(Debug)]
pub(crate) struct Published {
    snapshot: RwLock<Snapshot>,
    histories: RwLock<Histories>,
    /// A change without subscribers costs nothing.
    pub(crate) changes: broadcast::Sender<Changed>,
    /// Views that were replaced without a change of a verdict.
    pub(crate) refreshes: broadcast::Sender<Changed>,
}

impl Default for Published {
    fn default() -> Self {
        Self {
            snapshot: RwLock::default(),
            histories: RwLock::default(),
            changes: broadcast::Sender::new(SUBSCRIPTION_CHANGES_MAX),
            refreshes: broadcast::Sender::new(SUBSCRIPTION_CHANGES_MAX),
        }
    }
}

/// Locks ignore poisoning: a panic of another thread cannot leave a snapshot or a history half changed.
impl Published {
    pub(crate) fn snapshot(&self) -> RwLockReadGuard<'_, Snapshot> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn snapshot_mut(&self) -> RwLockWriteGuard<'_, Snapshot> {
        let snapshot = self.snapshot.write();
        snapshot.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn histories(&self) -> RwLockReadGuard<'_, Histories> {
        let histories = self.histories.read();
        histories.unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn histories_mut(&self) -> RwLockWriteGuard<'_, Histories> {
        let histories = self.histories.write();
        histories.unwrap_or_else(PoisonError::into_inner)
    }
}
