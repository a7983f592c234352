//! Subscriptions to the changes of the read model.

use std::collections::HashSet;
use std::time::Duration;

use kindsight_status::ChangedSubject;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::time::sleep;

/// Maximum number of buffered changes for the slowest subscriber. A swap of interpreters changes some
/// thousand contexts in a second. A subscriber that falls further behind must read the model again.
pub const SUBSCRIPTION_CHANGES_MAX: usize = 4096;

/// One change of the read model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Generation of the snapshot after the change.
    pub generation: u64,
    /// The view, record or connection that was published or removed. Read the model to get its state.
    pub subject: ChangedSubject,
}

/// The reason why a subscription returned no change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lagged {
    /// The subscriber fell more than [`SUBSCRIPTION_CHANGES_MAX`] changes behind: read the model, and
    /// continue with this subscription.
    #[error("{0} changes were missed: read the model again")]
    Missed(u64),
    /// The read model was dropped: stop.
    #[error("the read model is closed")]
    Closed,
}

/// The subjects that changed during a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangedSubjects {
    /// These subjects changed.
    Some(HashSet<ChangedSubject>),
    /// Changes were missed, so every subject may have changed.
    All,
}

/// The changes of a read model since the subscription.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<Changed>);

impl Subscription {
    pub(crate) fn new(changes: broadcast::Receiver<Changed>) -> Self {
        Self(changes)
    }

    /// Waits for the next change. Cancel-safe: no change is lost.
    ///
    /// # Errors
    /// See [`Lagged`].
    pub async fn next(&mut self) -> Result<Changed, Lagged> {
        self.0.recv().await.map_err(|error| match error {
            RecvError::Lagged(missed) => Lagged::Missed(missed),
            RecvError::Closed => Lagged::Closed,
        })
    }

    /// The next change, if there is one already.
    ///
    /// # Errors
    /// See [`Lagged`].
    pub fn next_now(&mut self) -> Result<Option<Changed>, Lagged> {
        match self.0.try_recv() {
            Ok(changed) => Ok(Some(changed)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Lagged(missed)) => Err(Lagged::Missed(missed)),
            Err(TryRecvError::Closed) => Err(Lagged::Closed),
        }
    }

    /// Waits for a change, then gathers further changes during `gather`. `None` if the read model is closed.
    ///
    /// For tasks that send changes to other systems. Each of them calls this in a loop. Not cancel-safe: a caller that
    /// drops the future must read the model again.
    pub async fn gathered(&mut self, gather: Duration) -> Option<ChangedSubjects> {
        let mut changed = ChangedSubjects::Some(HashSet::new());
        match self.next().await {
            Ok(first) => changed.add(first),
            Err(Lagged::Missed(_)) => changed = ChangedSubjects::All,
            Err(Lagged::Closed) => return None,
        }
        sleep(gather).await;
        loop {
            match self.next_now() {
                Ok(Some(next)) => changed.add(next),
                Err(Lagged::Missed(_)) => changed = ChangedSubjects::All,
                // The next call finds a closed read model.
                Ok(None) | Err(Lagged::Closed) => return Some(changed),
            }
        }
    }
}

impl ChangedSubjects {
    /// Returns whether a subject may have changed.
    pub fn contains(&self, subject: &ChangedSubject) -> bool {
        match self {
            Self::Some(subjects) => subjects.contains(subject),
            Self::All => true,
        }
    }

    fn add(&mut self, changed: Changed) {
        if let Self::Some(subjects) = self {
            subjects.insert(changed.subject);
        }
    }
}
