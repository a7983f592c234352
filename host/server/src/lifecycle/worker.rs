//! The task that does the work of groups.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kindsight_lifecycle::{Groups, Outcome, Sequence};
use kindsight_model::DigName;
use kindsight_store::chain;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The shortest time until a group is tried again after a failure.
const RETRY_MIN: Duration = Duration::from_secs(1);
/// The longest time until a group is tried again. Doubled from [`RETRY_MIN`] with each failure.
const RETRY_MAX: Duration = Duration::from_secs(30);

/// Groups with new actions. Each group is in it once, so the number of groups is its limit.
#[derive(Clone, Default)]
pub(super) struct Pending(Arc<(Mutex<BTreeSet<DigName>>, Notify)>);

impl Pending {
    /// Has the worker look at a group.
    pub(super) fn add(&self, name: DigName) {
        let (names, added) = &*self.0;
        let mut names = names.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(name);
        added.notify_one();
    }

    fn take(&self) -> BTreeSet<DigName> {
        let mut names = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut names)
    }
}

/// A group that is tried again.
struct Waiting {
    due: Instant,
    wait: Duration,
}

/// The task.
pub(super) struct Worker {
    pub(super) groups: Groups,
    pub(super) sequence: Sequence,
    pub(super) pending: Pending,
}

impl Worker {
    /// Continues the unfinished work of the previous process, then works on each group with a new action, until
    /// `shutdown`. Groups are worked on one after another.
    pub(super) async fn run(self, shutdown: CancellationToken) -> Result<(), Infallible> {
        let mut waiting: BTreeMap<DigName, Waiting> = BTreeMap::new();
        let mut is_recovered = false;
        loop {
            if !is_recovered {
                is_recovered = self.recover().await;
            }
            let mut due = self.pending.take();
            let now = Instant::now();
            let again = waiting.iter().filter(|(_, it)| it.due <= now);
            due.extend(again.map(|(name, _)| name.clone()));
            for name in due {
                if shutdown.is_cancelled() {
                    return Ok(());
                }
                let wait = waiting.remove(&name).map(|it| it.wait);
                if !self.work(&name).await {
                    let wait = wait.map_or(RETRY_MIN, |wait| RETRY_MAX.min(wait * 2));
                    let due = Instant::now() + wait;
                    waiting.insert(name, Waiting { due, wait });
                }
            }
            let mut next = waiting.values().map(|it| it.due).min();
            if !is_recovered {
                let recovery = Instant::now() + RETRY_MIN;
                next = Some(next.map_or(recovery, |next| next.min(recovery)));
            }
            let wait = async {
                match next {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => return Ok(()),
                () = self.pending.0.1.notified() => {}
                () = wait => {}
            }
        }
    }

    /// Finds unfinished groups after the start. Returns whether the store answered.
    async fn recover(&self) -> bool {
        let groups = self.groups.clone();
        match spawn_blocking(move || groups.unfinished()).await {
            Ok(Ok(names)) => {
                for name in names {
                    tracing::info!(group = %name, "unfinished work continues after the start");
                    self.pending.add(name);
                }
                true
            }
            Ok(Err(error)) => {
                let error = chain(&error);
                tracing::warn!(error, "unfinished groups could not be listed; trying again");
                false
            }
            // A panic would happen again.
            Err(_) => true,
        }
    }

    /// Works on a group; false if it has to be tried again.
    async fn work(&self, name: &DigName) -> bool {
        let (sequence, group) = (self.sequence.clone(), name.clone());
        match spawn_blocking(move || sequence.run(&group)).await {
            Ok(Ok(Outcome::Complete)) => true,
            Ok(Ok(Outcome::Retry)) => false,
            Ok(Err(error)) => {
                let error = chain(&error);
                tracing::warn!(group = %name, error, "work on a group failed; trying again");
                false
            }
            Err(_) => {
                tracing::error!(group = %name, "work on a group panicked; the log says where");
                true
            }
        }
    }
}
