//! A folder as a cluster: each of its `*.json` files is a ResourceBundleState.
//!
//! Whatever happens in the folder (a file is written in place, moved there, removed, or all of them
//! are switched at once by a symbolic link), the answer is the same: list it again and say what is
//! different. Notifications of the file system only say when; a slow poll heals those that are lost.

use std::hash::RandomState;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use kindsight_model::{ClusterName, NameError};
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::SendError;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

use crate::ClusterEvent;

mod listing;
mod memory;
mod wake;

pub use listing::FILES_MAX;
pub use wake::{POLL_EVERY, QUIET_FOR, QUIET_WITHIN};

use listing::{Content, Listing};
use memory::Memory;
use wake::{Pace, Wake};

/// A cluster whose reports are the files of a folder.
///
/// Files whose names begin with a dot or do not end in `.json`, and whatever is not a file, are
/// not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryCluster {
    cluster: ClusterName,
    path: PathBuf,
}

/// Why a text does not name a directory cluster; the text says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseClusterError {
    /// No `=`, or nothing after it.
    #[error("`{0}` names no folder: write `provider+name=DIR`")]
    NoFolder(String),
    /// What stands before the `=` is not a cluster.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl DirectoryCluster {
    /// The folder does not need to exist yet.
    pub fn new(cluster: ClusterName, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { cluster, path }
    }

    /// Reads `provider+name=DIR`, as the command line has it.
    ///
    /// # Errors
    /// The folder is missing or the cluster's name is wrong.
    pub fn parse(text: &str) -> Result<Self, ParseClusterError> {
        match text.split_once('=') {
            Some((cluster, path)) if !path.is_empty() => Ok(Self::new(cluster.parse()?, path)),
            _ => Err(ParseClusterError::NoFolder(text.to_owned())),
        }
    }

    /// Which cluster the folder stands for.
    pub fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says what the folder says, until `shutdown` is cancelled or nobody listens to `events`.
    ///
    /// Waits while `events` is full. At most one bundle is held beside those in the channel.
    /// Cancelling is prompt; at worst a file that is being read is read to its end in the
    /// background.
    pub async fn run(self, events: Sender<ClusterEvent>, shutdown: CancellationToken) {
        self.run_at(Pace::default(), events, shutdown).await;
    }

    async fn run_at(self, pace: Pace, events: Sender<ClusterEvent>, shutdown: CancellationToken) {
        let follower = Follower {
            memory: Memory::new(self.cluster.clone()),
            wake: Wake::new(pace),
            hasher: RandomState::new(),
            cluster: self,
            events,
            state: State::Starting,
        };
        // Either way there is nothing left to do: cancelled, or nobody listens.
        let _ = shutdown.run_until_cancelled(follower.follow()).await;
    }
}

impl FromStr for DirectoryCluster {
    type Err = ParseClusterError;

    fn from_str(text: &str) -> Result<Self, ParseClusterError> {
        Self::parse(text)
    }
}

/// Nobody listens any more.
type Unheard = SendError<ClusterEvent>;

/// What was said last of the folder as a whole.
#[derive(PartialEq, Eq)]
enum State {
    Starting,
    Synced,
    Stale(String),
}

/// Follows one folder.
struct Follower {
    cluster: DirectoryCluster,
    memory: Memory,
    wake: Wake,
    hasher: RandomState,
    events: Sender<ClusterEvent>,
    state: State,
}

impl Follower {
    async fn follow(mut self) -> Unheard {
        loop {
            if let Err(unheard) = self.say_what_is_new().await {
                return unheard;
            }
            self.wake.wait().await;
        }
    }

    async fn say_what_is_new(&mut self) -> Result<(), Unheard> {
        let (path, mut watch) = (self.cluster.path.clone(), self.wake.take_watch());
        let listed = spawn_blocking(move || {
            // First, so that nothing can happen unnoticed between the listing and the watch.
            watch.renew(&path);
            (watch, listing::list(&path))
        });
        let listing = match listed.await {
            Ok((watch, listing)) => {
                self.wake.put_back(watch);
                listing.map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        match listing {
            Ok(listing) => self.compare(listing).await,
            Err(error) => self.turn_stale(&error).await,
        }
    }

    async fn turn_stale(&mut self, error: &str) -> Result<(), Unheard> {
        let folder = self.cluster.path.display();
        let state = State::Stale(format!("failed to list the folder {folder}: {error}"));
        if let (true, State::Stale(reason)) = (self.state != state, &state) {
            let (cluster, reason) = (self.cluster.cluster.clone(), reason.clone());
            self.say(ClusterEvent::Stale { cluster, reason }).await?;
        }
        self.state = state;
        Ok(())
    }

    async fn compare(&mut self, listing: Listing) -> Result<(), Unheard> {
        let mut pass = self.memory.begin(&listing);
        // Backwards, because of two files about the same deployment the last one counts.
        for (file, stamp) in listing.files.iter().rev() {
            let content = if self.memory.must_read(&pass, file, *stamp) {
                Some(self.read(file).await)
            } else {
                None
            };
            let news = self.memory.learn(&mut pass, file, *stamp, content);
            self.say_all(news).await?;
        }
        if pass.is_torn() {
            self.wake.soon();
            return Ok(());
        }
        let news = self.memory.finish(&pass, &listing);
        self.say_all(news).await?;
        if self.state != State::Synced {
            let cluster = self.cluster.cluster.clone();
            self.say(ClusterEvent::Synced { cluster }).await?;
            self.state = State::Synced;
        }
        Ok(())
    }

    async fn read(&self, file: &Path) -> Content {
        let (file, hasher) = (file.to_owned(), self.hasher.clone());
        spawn_blocking(move || listing::read(&file, &hasher))
            .await
            .unwrap_or_else(|error| Content::unread(error.to_string()))
    }

    async fn say_all(&self, news: impl IntoIterator<Item = ClusterEvent>) -> Result<(), Unheard> {
        for event in news {
            self.say(event).await?;
        }
        Ok(())
    }

    async fn say(&self, event: ClusterEvent) -> Result<(), Unheard> {
        self.events.send(event).await
    }
}

#[cfg(test)]
mod tests;
