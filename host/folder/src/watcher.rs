//! Looks at a folder whenever it may have changed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::wake::{Notifications, Pace, Wake};
use crate::{Change, Folder};

/// A folder that is checked when the kernel notifies of a change, and at regular intervals.
#[derive(Debug)]
pub struct Watcher {
    /// Shared only with the look in progress.
    looker: Arc<Mutex<Looker>>,
    wake: Wake,
}

/// The parts that a look needs on its thread.
#[derive(Debug)]
struct Looker {
    folder: Folder,
    notifications: Notifications,
}

impl Watcher {
    /// Makes a watcher that has not looked yet.
    pub fn new(folder: Folder, pace: Pace) -> Self {
        let wake = Wake::new(folder.quiet_for(), pace);
        let notifications = Notifications::new(wake.changed());
        let looker = Looker {
            folder,
            notifications,
        };
        Self {
            looker: Arc::new(Mutex::new(looker)),
            wake,
        }
    }

    /// Waits for the next look, and returns its changes in order, possibly none. Returns `None`
    /// once `shutdown` is cancelled.
    ///
    /// At most the bytes of one look are in memory here. The next look begins when this function is
    /// called again. Cancellation is immediate; a look in progress may continue in the background.
    /// Dropping a call before it completes loses changes, so drop it only to stop.
    pub async fn next(&mut self, shutdown: &CancellationToken) -> Option<Vec<Change>> {
        shutdown.run_until_cancelled(self.look_when_due()).await
    }

    /// Gives access to the folder between two looks.
    pub fn with_folder<T>(&mut self, access: impl FnOnce(&mut Folder) -> T) -> T {
        access(&mut lock(&self.looker).folder)
    }

    async fn look_when_due(&mut self) -> Vec<Change> {
        let recheck = lock(&self.looker).folder.recheck();
        self.wake.wait(recheck).await;
        let looker = Arc::clone(&self.looker);
        let look = spawn_blocking(move || lock(&looker).look());
        let changes = match look.await {
            Ok(changes) => changes,
            // After any failure, the look is repeated as for a folder that does not exist.
            Err(error) => {
                let now = Instant::now();
                let failed = lock(&self.looker).folder.fail(error.to_string(), now);
                failed.into_iter().collect()
            }
        };
        self.wake.looked();
        changes
    }
}

impl Looker {
    fn look(&mut self) -> Vec<Change> {
        // Renewed first, so that no change between the look and the watch is missed.
        self.notifications.renew(self.folder.path());
        self.folder.look(Instant::now())
    }
}

fn lock(looker: &Mutex<Looker>) -> MutexGuard<'_, Looker> {
    looker.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
