//! Subscriptions to the changes of the read model.

use kindsight_model::{ClusterName, ContextId, DigName, LogicalCloudName};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// Maximum number of changes buffered for the slowest subscriber: a swap of interpreters changes some
/// thousand contexts in a second. A subscriber that falls further behind reads the model again.
pub const SUBSCRIPTION_CHANGES_MAX: usize = 4096;

/// One change of the read model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Generation of the snapshot after the change.
    pub generation: u64,
    /// The view or record that was published or removed; read the model to know which.
    pub subject: Subject,
}

/// The subject of a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The view of a context.
    Context(ContextId),
    /// The record of a deployment intent group.
    Dig(DigName),
    /// The record of a cluster.
    Cluster(ClusterName),
    /// The record of a logical cloud.
    LogicalCloud(LogicalCloudName),
    /// The view of an application that was found in the clusters.
    Found(DigName),
    /// The connection to a cluster.
    Connection(ClusterName),
    /// The connection to the store of contexts.
    Store,
    /// The connection to the store of lifecycle states.
    StateStore,
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

/// The changes of a read model since the subscription.
#[derive(Debug)]
pub struct Subscription(broadcast::Receiver<Changed>);

impl Subscription {
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
}

impl Subscription {
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
}

/// The sending half. A change without subscribers costs nothing.
#[derive(Debug)]
pub(super) struct Publisher(broadcast::Sender<Changed>);

impl Default for Publisher {
    fn default() -> Self {
        Self(broadcast::Sender::new(SUBSCRIPTION_CHANGES_MAX))
    }
}

impl Publisher {
    pub(super) fn publish(&self, changed: Changed) {
        // Fails if there are no subscribers.
        let _ = self.0.send(changed);
    }

    pub(super) fn subscribe(&self) -> Subscription {
        Subscription(self.0.subscribe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{FIRST, SECOND, context, id};
    use crate::{ReadModel, Snapshot};

    fn changed(generation: u64, of: &str) -> Changed {
        let subject = Subject::Context(id(of));
        Changed {
            generation,
            subject,
        }
    }

    #[tokio::test]
    async fn a_subscriber_is_told_what_changes_after_the_state_it_read() {
        let model = ReadModel::default();
        let view = |of: &str| Some(context(of, "Instantiated", Vec::new()));
        model.publish_context(&id(FIRST), view(FIRST));
        let (generation, mut subscription) = model.subscribe(Snapshot::generation);
        assert_eq!(generation, 1);
        model.publish_context(&id(SECOND), view(SECOND));
        model.publish_context(&id(FIRST), None);
        assert_eq!(subscription.next().await, Ok(changed(2, SECOND)));
        assert_eq!(subscription.next().await, Ok(changed(3, FIRST)));
        assert!(model.inspect(|it| it.context(&id(FIRST)).is_none()));
        drop(model);
        assert_eq!(subscription.next().await, Err(Lagged::Closed));
    }

    #[tokio::test]
    async fn a_view_that_is_only_better_dated_is_shown_and_nobody_is_told() {
        let model = ReadModel::default();
        let view = |status: &str| context(FIRST, status, Vec::new());
        model.refresh_context(&id(FIRST), view("Instantiated"));
        assert!(model.inspect(|it| it.context(&id(FIRST)).is_none()));
        model.publish_context(&id(FIRST), Some(view("Instantiated")));
        let (generation, mut subscription) = model.subscribe(Snapshot::generation);
        model.refresh_context(&id(FIRST), view("Terminating"));
        let status = model.inspect(|it| it.context(&id(FIRST)).unwrap().status.clone());
        assert_eq!(status, Some("Terminating".into()));
        assert_eq!(model.inspect(Snapshot::generation), generation);
        model.publish_context(&id(SECOND), Some(view("Instantiated")));
        assert_eq!(subscription.next().await, Ok(changed(2, SECOND)));
    }

    #[tokio::test]
    async fn a_subscriber_that_falls_behind_is_told_so_and_goes_on() {
        let model = ReadModel::default();
        let ((), mut subscription) = model.subscribe(|_| ());
        for _ in 0..SUBSCRIPTION_CHANGES_MAX + 3 {
            model.publish_context(&id(FIRST), None);
        }
        assert_eq!(subscription.next().await, Err(Lagged::Missed(3)));
        assert_eq!(subscription.next().await, Ok(changed(4, FIRST)));
    }
}
