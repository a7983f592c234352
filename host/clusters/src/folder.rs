//! A folder as a cluster: each of its `*.json` files is a ResourceBundleState.
//!
//! [`kindsight_folder`] finds out what changed in the folder; here the bytes become bundles, and the
//! files about one deployment become one report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kindsight_folder::{Change, ContentHash, Folder, FolderOptions, Pace, Watcher};
use kindsight_model::{BUNDLE_BYTES_MAX, ClusterName, decode_bundle};
use tokio::sync::mpsc::Sender;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::ClusterEvent;

mod reports;

use reports::Reports;

/// The most files of one folder that are read; of more, the first by name. A few system calls for
/// each of them are some tens of milliseconds at each look.
const FILES_MAX: usize = 10_000;

/// A file counts when it was the same for so long. A monitor writes a report at once, and whoever
/// waits for it should not notice.
const QUIET_FOR: Duration = Duration::from_millis(50);

/// The times of the looks: a change is reported within half a second, even if the folder never falls
/// quiet, and within some seconds where the kernel does not tell of it.
const PACE: Pace = Pace {
    quiet_within: Duration::from_millis(250),
    poll_every: Duration::from_secs(5),
};

/// A cluster whose reports are the files of a folder.
///
/// Files whose names begin with a dot or do not end in `.json` are not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderCluster {
    name: ClusterName,
    path: PathBuf,
}

impl FolderCluster {
    /// A cluster whose reports are in this folder, which does not need to exist yet.
    pub fn new(name: ClusterName, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name, path }
    }

    /// The cluster that the folder stands for.
    pub fn name(&self) -> &ClusterName {
        &self.name
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sends the events of the folder, until `shutdown` is cancelled or nobody listens to `events`.
    ///
    /// Waits while `events` is full. In memory are at most one bundle beside those in the channel, and
    /// the bytes of as many files as fit into [`BUNDLE_BYTES_MAX`]. Cancelling is prompt; at worst
    /// those are read to their end in the background.
    pub async fn run<E: From<ClusterEvent>>(self, events: Sender<E>, shutdown: CancellationToken) {
        self.run_at(PACE, events, shutdown).await;
    }

    async fn run_at<E: From<ClusterEvent>>(
        self,
        pace: Pace,
        events: Sender<E>,
        shutdown: CancellationToken,
    ) {
        let folder = Folder::new(self.path.clone(), options());
        let follower = Follower {
            reports: Reports::new(self.name.clone(), self.path.clone()),
            watcher: Watcher::new(folder, pace),
            cluster: self,
            events,
            is_sync_due: false,
        };
        // Either way there is nothing left to do: cancelled, or nobody listens.
        let _ = shutdown
            .run_until_cancelled(follower.follow(&shutdown))
            .await;
    }
}

fn options() -> FolderOptions {
    FolderOptions {
        accepts: is_bundle_name,
        files_max: FILES_MAX,
        file_bytes_max: BUNDLE_BYTES_MAX,
        look_bytes_max: BUNDLE_BYTES_MAX,
        quiet_for: QUIET_FOR,
    }
}

/// Editors and copying tools keep unfinished files under other names.
fn is_bundle_name(name: &str) -> bool {
    !name.starts_with('.')
        && name
            .strip_suffix(".json")
            .is_some_and(|stem| !stem.is_empty())
}

/// Nobody listens any more.
struct Unheard;

/// A file that is there.
enum Present {
    Content(Vec<u8>, ContentHash),
    Rejected(String),
}

/// Follows one folder.
struct Follower<E> {
    cluster: FolderCluster,
    watcher: Watcher,
    reports: Reports,
    events: Sender<E>,
    /// The listing is complete, and that was not reported yet.
    is_sync_due: bool,
}

impl<E: From<ClusterEvent>> Follower<E> {
    async fn follow(mut self, shutdown: &CancellationToken) -> Result<(), Unheard> {
        while let Some(changes) = self.watcher.next(shutdown).await {
            self.handle(changes).await?;
        }
        Ok(())
    }

    /// Handles the changes of one look.
    async fn handle(&mut self, changes: Vec<Change>) -> Result<(), Unheard> {
        let mut present = Vec::new();
        for change in changes {
            match change {
                Change::Removed { file } => self.reports.remove(&file),
                Change::Changed { file, bytes, hash } => {
                    present.push((file, Present::Content(bytes, hash)));
                }
                Change::Rejected { file, reason } => {
                    present.push((file, Present::Rejected(reason.to_string())));
                }
                Change::LeftOut(entries) => {
                    self.send(self.reports.left_out(&entries)).await?;
                }
                Change::Unavailable { reason } => self.turn_stale(&reason).await?,
                Change::Available => {}
                Change::Complete => self.is_sync_due = true,
            }
        }
        // Backwards, because of two files about the same deployment the last one counts.
        present.sort_by(|(one, _), (other, _)| other.cmp(one));
        for (file, content) in present {
            let event = self.learn(&file, content).await;
            self.send_all(event).await?;
        }
        self.settle().await
    }

    async fn learn(&mut self, file: &str, content: Present) -> Option<ClusterEvent> {
        match content {
            Present::Rejected(reason) => self.reports.reject(file, reason, None),
            Present::Content(bytes, hash) => {
                let decoded = spawn_blocking(move || decode_bundle(&bytes)).await;
                match decoded {
                    Ok(Ok(bundle)) => self.reports.accept(file, bundle, hash),
                    Ok(Err(error)) => self.reports.reject(file, error.to_string(), Some(hash)),
                    Err(error) => self.reports.reject(file, error.to_string(), Some(hash)),
                }
            }
        }
    }

    /// Reports what follows from all changes of one look together.
    async fn settle(&mut self) -> Result<(), Unheard> {
        let settled = self.reports.settle();
        self.send_all(settled.events).await?;
        let is_all = settled.wanted.is_empty();
        self.watcher.with_folder(|folder| {
            for file in &settled.wanted {
                folder.report_again(file);
            }
        });
        if is_all && std::mem::take(&mut self.is_sync_due) {
            let cluster = self.cluster.name.clone();
            self.send(ClusterEvent::Synced { cluster }).await?;
        }
        Ok(())
    }

    async fn turn_stale(&mut self, error: &str) -> Result<(), Unheard> {
        self.is_sync_due = false;
        let cluster = self.cluster.name.clone();
        let folder = self.cluster.path.display();
        let reason = format!("failed to list the folder {folder}: {error}");
        self.send(ClusterEvent::Stale { cluster, reason }).await
    }

    async fn send_all(
        &self,
        events: impl IntoIterator<Item = ClusterEvent>,
    ) -> Result<(), Unheard> {
        for event in events {
            self.send(event).await?;
        }
        Ok(())
    }

    async fn send(&self, event: ClusterEvent) -> Result<(), Unheard> {
        self.events.send(event.into()).await.map_err(|_| Unheard)
    }
}

#[cfg(test)]
mod tests;
