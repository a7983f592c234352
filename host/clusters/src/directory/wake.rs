//! Says when to look into the folder again.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// The folder is looked at when it has been quiet for so long after a change, because most changes
/// come in several steps.
pub const QUIET_FOR: Duration = Duration::from_millis(50);
/// The folder is looked at so long after a change, even if it never falls quiet.
pub const QUIET_WITHIN: Duration = Duration::from_millis(500);
/// The folder is looked at so often without a change: notifications can be lost, and some file
/// systems have none.
pub const POLL_EVERY: Duration = Duration::from_secs(5);

/// The times of one follower.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) quiet_for: Duration,
    pub(super) quiet_within: Duration,
    pub(super) poll_every: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            quiet_for: QUIET_FOR,
            quiet_within: QUIET_WITHIN,
            poll_every: POLL_EVERY,
        }
    }
}

/// Waits for the folder to change.
pub(super) struct Wake {
    pace: Pace,
    changed: Arc<Notify>,
    watch: Option<Watch>,
}

impl Wake {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            pace,
            changed: Arc::default(),
            watch: None,
        }
    }

    /// The watch, to be renewed where blocking is allowed.
    pub(super) fn take_watch(&mut self) -> Watch {
        self.watch
            .take()
            .unwrap_or_else(|| Watch::new(Arc::clone(&self.changed)))
    }

    /// The watch, after it was renewed.
    pub(super) fn put_back(&mut self, watch: Watch) {
        self.watch = Some(watch);
    }

    /// Has the next wait end as if the folder had just changed.
    pub(super) fn soon(&self) {
        self.changed.notify_one();
    }

    /// Ends when it is time to look; at once if the folder changed since the last look began.
    pub(super) async fn wait(&self) {
        let Pace {
            quiet_for,
            quiet_within,
            poll_every,
        } = self.pace;
        if timeout(poll_every, self.changed.notified()).await.is_err() {
            return;
        }
        let deadline = Instant::now() + quiet_within;
        loop {
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep(quiet_for) => return,
                () = sleep_until(deadline) => return,
            }
        }
    }
}

/// Notifications of the file system.
pub(super) struct Watch {
    /// `None` if this system gives none: then there is the poll.
    watcher: Option<RecommendedWatcher>,
    warned: bool,
}

impl Watch {
    fn new(changed: Arc<Notify>) -> Self {
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // An error may mean that something was missed.
            if event.map_or(true, |event| is_change(event.kind)) {
                changed.notify_one();
            }
        });
        let mut watch = Self {
            watcher: None,
            warned: false,
        };
        match watcher {
            Ok(watcher) => watch.watcher = Some(watcher),
            Err(error) => watch.warn(&error),
        }
        watch
    }

    /// Watches what is at this path now. Blocks for a moment.
    ///
    /// A watch stays with the folder, not with its path: one that was replaced, or is reached by a
    /// symbolic link that was switched, has to be watched anew, and nobody says so.
    pub(super) fn renew(&mut self, folder: &Path) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        // It fails if there was no watch, which is just as well.
        let _ = watcher.unwatch(folder);
        match watcher.watch(folder, RecursiveMode::NonRecursive) {
            // That a folder is not there is for the listing to say.
            Err(error) if !matches!(error.kind, ErrorKind::PathNotFound) => self.warn(&error),
            _ => {}
        }
    }

    fn warn(&mut self, error: &notify::Error) {
        if !self.warned {
            self.warned = true;
            tracing::warn!(%error, "folder cannot be watched and is polled instead");
        }
    }
}

/// Whether the content may be different. To open and to read is not a change, and the follower
/// itself does both.
fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        _ => true,
    }
}
