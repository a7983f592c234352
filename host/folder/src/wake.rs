//! The moments at which a folder is looked at.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// After a look, the next one that a notification asks for comes no sooner: at most twenty looks a
/// second, however often the folder changes.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// The times between two looks at a folder, beside [`crate::FolderOptions::quiet_for`].
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// While something has not been the same at two looks, the next look comes after so long, even if
    /// the folder never falls quiet. A change is reported within twice of it.
    pub quiet_within: Duration,
    /// The folder is looked at so often without a notification: they can be lost, some file systems
    /// have none, and none comes for files that links lead to. A file that was read within three
    /// seconds of its last change is read once more at the first look after them.
    pub poll_every: Duration,
}

/// The time for the next look at a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recheck {
    /// There is more to hand on.
    AtOnce,
    /// Something has to be seen once more before it counts.
    AfterQuiet,
    /// A file could not be read, and is tried again then.
    At(std::time::Instant),
    /// Nothing is known to be different.
    Later,
}

/// Waits for the next look at a folder.
#[derive(Debug)]
pub(crate) struct Wake {
    quiet_for: Duration,
    pace: Pace,
    changed: Arc<Notify>,
    looked_at: Instant,
}

impl Wake {
    pub(crate) fn new(quiet_for: Duration, pace: Pace) -> Self {
        Self {
            quiet_for,
            pace,
            changed: Arc::default(),
            looked_at: Instant::now(),
        }
    }

    /// The end that notifications go to.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Notes that a look has ended.
    pub(crate) fn looked(&mut self) {
        self.looked_at = Instant::now();
    }

    /// Waits until it is time to look.
    pub(crate) async fn wait(&self, recheck: Recheck) {
        match recheck {
            Recheck::AtOnce => {}
            Recheck::AfterQuiet => self.wait_for_quiet().await,
            Recheck::At(at) => {
                let latest = Instant::now() + self.pace.poll_every;
                self.wait_until(latest.min(at.into())).await;
            }
            Recheck::Later => self.wait_until(Instant::now() + self.pace.poll_every).await,
        }
    }

    /// Waits for a notification, but no longer than until `latest`.
    async fn wait_until(&self, latest: Instant) {
        let notified = timeout_at(latest, self.changed.notified());
        if notified.await.is_ok() {
            sleep_until(self.looked_at + LOOK_PAUSE).await;
        }
    }

    async fn wait_for_quiet(&self) {
        let deadline = Instant::now() + self.pace.quiet_within;
        loop {
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep(self.quiet_for) => return,
                () = sleep_until(deadline) => return,
            }
        }
    }
}

/// Notifications of the file system about one folder.
#[derive(Debug)]
pub(crate) struct Notifications {
    /// None if this system gives none: then there is the poll.
    watcher: Option<RecommendedWatcher>,
    is_warned: bool,
}

impl Notifications {
    /// Notifies `changed` of whatever may be different in the folder.
    pub(crate) fn new(changed: Arc<Notify>) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // An error may mean that something was missed.
            if event.map_or(true, |event| is_change(event.kind)) {
                changed.notify_one();
            }
        });
        let mut notifications = Self {
            watcher: None,
            is_warned: false,
        };
        match watcher {
            Ok(watcher) => notifications.watcher = Some(watcher),
            Err(error) => notifications.warn(&error),
        }
        notifications
    }

    /// Watches the folder that is at this path now. Blocks for a moment; called before each look.
    ///
    /// The kernel watches a folder, not its path: one that was replaced, or is reached by a symbolic
    /// link that was switched, has to be watched anew, and there is no notification of that.
    pub(crate) fn renew(&mut self, folder: &Path) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        // It fails if there was no watch, which is just as well.
        let _ = watcher.unwatch(folder);
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            // That a folder is not there is for the look to report.
            Err(error) if !matches!(error.kind, ErrorKind::PathNotFound) => self.warn(&error),
            _ => {}
        }
    }

    fn warn(&mut self, error: &notify::Error) {
        if !self.is_warned {
            self.is_warned = true;
            tracing::warn!(%error, "folder cannot be watched and is polled instead");
        }
    }
}

/// Returns whether the content may be different. To open and to read is not a change, and the look itself
/// does both.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}
