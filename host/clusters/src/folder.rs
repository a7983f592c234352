//! Folders as clusters: each `*.json` file of a folder is a ResourceBundleState.
//!
//! [`kindsight_folder`] detects changes of files; this module decodes them to bundles, and merges the
//! files about one deployment into one report.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kindsight_folder::{Change, ContentHash, Folder, FolderOptions, Pace, Rejection, Watcher};
use kindsight_model::{BUNDLE_BYTES_MAX, ClusterName, decode_bundle};
use tokio::sync::mpsc::Sender;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::ClusterEvent;

mod manifests;
mod reports;

pub use manifests::ManifestFile;

use reports::Reports;

/// Maximum number of files that are read in one folder, first by name. A few system calls for each file take some
/// tens of milliseconds per scan.
const FILES_MAX: usize = 10_000;

/// Time for which a file must be unchanged before it is read. Short, since a monitor writes a report in
/// one go.
const QUIET_FOR: Duration = Duration::from_millis(50);

/// Scan intervals: a change is reported within half a second, even if the folder never falls quiet, and
/// within some seconds where the kernel does not notify of it.
const PACE: Pace = Pace {
    quiet_within: Duration::from_millis(250),
    poll_every: Duration::from_secs(5),
};

/// A cluster whose reports are the files of a folder.
///
/// Files whose names begin with a dot or do not end in `.json` are ignored.
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

    /// Name of the cluster.
    pub fn name(&self) -> &ClusterName {
        &self.name
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sends the events of the folder, until `shutdown` is cancelled or `events` is closed.
    ///
    /// Waits while `events` is full. Holds at most one bundle besides those in the channel, and up to
    /// [`BUNDLE_BYTES_MAX`] bytes of files. Cancellation is prompt; at worst these files are read to their
    /// end in the background.
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
            reports: Reports::new(self.name.clone()),
            watcher: Watcher::new(folder, pace),
            cluster: self,
            events,
            is_sync_due: false,
        };
        // Cancelled, or the channel is closed: the follower ends in both cases.
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

/// Returns whether a file is a report. Editors and copying tools keep unfinished files under other names.
fn is_bundle_name(name: &str) -> bool {
    !name.starts_with('.')
        && name
            .strip_suffix(".json")
            .is_some_and(|stem| !stem.is_empty())
}

/// The reason why a file is not read. Targets of links are omitted, because they are paths of this host.
fn without_path(reason: &Rejection) -> String {
    match reason {
        Rejection::BrokenLink { error, .. } => {
            format!("it is a link that cannot be followed: {error}")
        }
        Rejection::OutsideLink(_) => "it is a link that leads out of the folder".to_owned(),
        other => other.to_string(),
    }
}

/// The channel of events is closed.
struct Closed;

/// A file that exists.
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
    /// True from a complete listing until [`ClusterEvent::Synced`] is sent.
    is_sync_due: bool,
}

impl<E: From<ClusterEvent>> Follower<E> {
    async fn follow(mut self, shutdown: &CancellationToken) -> Result<(), Closed> {
        while let Some(changes) = self.watcher.next(shutdown).await {
            self.handle(changes).await?;
        }
        Ok(())
    }

    /// Handles the changes of one scan.
    async fn handle(&mut self, changes: Vec<Change>) -> Result<(), Closed> {
        let mut present = Vec::new();
        for change in changes {
            match change {
                Change::Removed { file } => self.reports.remove(&file),
                Change::Changed { file, bytes, hash } => {
                    present.push((file, Present::Content(bytes, hash)));
                }
                Change::Rejected { file, reason } => {
                    present.push((file, Present::Rejected(without_path(&reason))));
                }
                Change::LeftOut(entries) => {
                    let event = self.reports.left_out(&entries);
                    self.send_all(event).await?;
                }
                Change::Unavailable { reason } => self.send_stale(&reason).await?,
                Change::Available => {}
                Change::Complete => self.is_sync_due = true,
            }
        }
        // In reverse, because the last of several files about one deployment counts.
        present.sort_by(|(one, _), (other, _)| other.cmp(one));
        for (file, content) in present {
            let event = self.decode(&file, content).await;
            self.send_all(event).await?;
        }
        self.settle().await
    }

    async fn decode(&mut self, file: &str, content: Present) -> Option<ClusterEvent> {
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

    /// Reports the consequences of all changes of one scan together.
    async fn settle(&mut self) -> Result<(), Closed> {
        let settled = self.reports.settle();
        self.send_all(settled.events).await?;
        let is_all = settled.to_reread.is_empty();
        self.watcher.with_folder(|folder| {
            for file in &settled.to_reread {
                folder.report_again(file);
            }
        });
        if is_all && std::mem::take(&mut self.is_sync_due) {
            let cluster = self.cluster.name.clone();
            self.send(ClusterEvent::Synced { cluster }).await?;
        }
        Ok(())
    }

    async fn send_stale(&mut self, error: &str) -> Result<(), Closed> {
        self.is_sync_due = false;
        let cluster = self.cluster.name.clone();
        let reason =
            format!("the cluster cannot be reached: its reports cannot be listed: {error}");
        self.send(ClusterEvent::Stale { cluster, reason }).await
    }

    async fn send_all(&self, events: impl IntoIterator<Item = ClusterEvent>) -> Result<(), Closed> {
        for event in events {
            self.send(event).await?;
        }
        Ok(())
    }

    async fn send(&self, event: ClusterEvent) -> Result<(), Closed> {
        self.events.send(event.into()).await.map_err(|_| Closed)
    }
}

#[cfg(test)]
mod tests;
