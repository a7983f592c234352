//! The times at which a folder is checked.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// The shortest time between a look and the next one that a notification causes. However often the
/// folder changes, there are at most twenty looks per second.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// The intervals between two looks at a folder, in addition to [`crate::FolderOptions::quiet_for`].
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// While a state is not confirmed, the next look takes place after this time, even if the
    /// folder never becomes quiet. A change is reported within twice this time.
    pub quiet_within: Duration,
    /// The interval of looks without a notification. Notifications can be lost, some file systems
    /// have none, and the targets of links cause none. If a file was read within three seconds of
    /// its last change, the first look after these three seconds reads it again.
    pub poll_every: Duration,
}

/// The time of the next look at a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recheck {
    /// Immediately, because more changes are waiting.
    AtOnce,
    /// After the quiet time, because a state must be confirmed.
    AfterQuiet,
    /// At this time, because a file that could not be read is tried again.
    At(std::time::Instant),
    /// At the regular interval, because no difference is known.
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

    /// The handle that notifications trigger.
    pub(crate) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.changed)
    }

    /// Records that a look has ended.
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
    /// `None` if this system provides no notifications. The folder is then only polled.
    watcher: Option<RecommendedWatcher>,
    is_warned: bool,
}

impl Notifications {
    /// Notifies `changed` of every event after which the folder may differ.
    pub(crate) fn new(changed: Arc<Notify>) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // An error can mean that an event was lost.
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

    /// Watches the folder that is at this path now. Blocks for a moment. Called before each look.
    ///
    /// The kernel watches a folder, not its path. If the folder was replaced, or is reached by a
    /// symbolic link that was switched, the watch must be renewed, and no notification reports
    /// this.
    pub(crate) fn renew(&mut self, folder: &Path) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        // This fails if there was no watch, which does no harm.
        let _ = watcher.unwatch(folder);
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            // The look itself reports a folder that does not exist.
            Err(error) if !matches!(error.kind, ErrorKind::PathNotFound) => self.warn(&error),
            _ => {}
        }
    }

    fn warn(&mut self, error: &notify::Error) {
        if !self.is_warned {
            self.is_warned = true;
            tracing::warn!(%error, "cannot watch the folder for notifications, it is only polled");
        }
    }
}

/// Returns whether the content may be different. Opening and reading are not changes, and each look
/// does both.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}
