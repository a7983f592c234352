//! The writer of the read model.

use std::sync::Arc;

use kindsight_model::{ClusterName, RecordSubject};
use kindsight_status::{
    ApplicationHistory, ApplicationKey, ChangedSubject, ConnectionView, ContextView, HistoryChange,
    RecordView, ResourceId, Snapshot, StoreAway, Transition,
};

use crate::published::Published;
use crate::reader::ReadModel;
use crate::subscription::Changed;

/// The only writer of a read model. It cannot be cloned.
///
/// Each publication is atomic for readers. If a publication may change an answer, it increments the
/// generation, and subscribers receive the change.
#[derive(Debug)]
pub struct ReadModelWriter {
    published: Arc<Published>,
    read_model: ReadModel,
}

impl Default for ReadModelWriter {
    fn default() -> Self {
        let published = Arc::default();
        Self {
            read_model: ReadModel::new(&published),
            published,
        }
    }
}

impl ReadModelWriter {
    /// The read model that it writes.
    pub fn read_model(&self) -> &ReadModel {
        &self.read_model
    }

    /// Publishes the view of an application with the transitions that led to it, in one step for
    /// [`ReadModel::application_history`].
    pub fn publish(
        &mut self,
        key: &ApplicationKey,
        view: ContextView,
        transitions: Vec<Transition>,
    ) {
        if transitions.is_empty() {
            return self.set_application(key, Some(view));
        }
        let mut histories = self.published.histories_mut();
        histories.record(key, transitions);
        self.set_application(key, Some(view));
    }

    /// Publishes the view of an application of another host, with the change of its history, in one step for
    /// [`ReadModel::application_history`].
    pub fn publish_replicated(
        &mut self,
        key: &ApplicationKey,
        view: ContextView,
        history: HistoryChange,
    ) {
        let mut histories = self.published.histories_mut();
        histories.take_over(key, history);
        self.set_application(key, Some(view));
    }

    /// Publishes the view of an application that several hosts show, with the transitions that this host records, and then
    /// the ones that another host sent, in one step for [`ReadModel::application_history`]. `is_recorder` returns whether
    /// that host records the transitions of a resource, or of the application itself.
    pub fn publish_shared(
        &mut self,
        key: &ApplicationKey,
        view: ContextView,
        transitions: Vec<Transition>,
        sent: HistoryChange,
        is_recorder: impl Fn(Option<&ResourceId>) -> bool,
    ) {
        let mut histories = self.published.histories_mut();
        if !transitions.is_empty() {
            histories.record(key, transitions);
        }
        if sent != HistoryChange::default() {
            histories.join(key, sent, is_recorder);
        }
        self.set_application(key, Some(view));
    }

    /// Replaces the view of an application by a view with the same verdicts and more precise times. Queries
    /// use the new view; subscribers receive no change. An application that was not published remains
    /// unknown.
    pub fn refresh(&mut self, key: &ApplicationKey, view: ContextView) {
        let (view, subject) = (Arc::new(view), ChangedSubject::Application(key.clone()));
        let replaced = self.change(subject.clone(), |snapshot| {
            snapshot.refresh_application(key, view)
        });
        let generation = self.read_model.inspect(Snapshot::generation);
        // Fails if no other host follows this one.
        let _ = self.published.refreshes.send(Changed {
            generation,
            subject,
        });
        // Dropped after the lock is released: a view may be large.
        drop(replaced);
    }

    /// Removes an application and its history.
    pub fn remove(&mut self, key: &ApplicationKey) {
        let mut histories = self.published.histories_mut();
        histories.forget(key);
        self.set_application(key, None);
    }

    /// Publishes the record of a deployment intent group, a cluster or a logical cloud, or removes it if
    /// `record` is `None`.
    pub fn publish_record(&mut self, of: &RecordSubject, record: Option<RecordView>) {
        let record = record.map(Arc::new);
        let subject = ChangedSubject::Record(of.clone());
        self.change(subject, |snapshot| snapshot.set_record(of, record));
    }

    /// Publishes the connection to a cluster, or removes it if `connection` is `None`. Subscribers receive no
    /// change if only counts and the time of the last event differ.
    pub fn publish_connection(&mut self, of: &ClusterName, connection: Option<ConnectionView>) {
        let connection = connection.map(Arc::new);
        let subject = ChangedSubject::Connection(of.clone());
        self.change(subject, |snapshot| snapshot.set_connection(of, connection));
    }

    /// Publishes the outage of the store of `AppContext`s; `None` means that the store answers.
    pub fn publish_store(&mut self, away: Option<StoreAway>) {
        self.change(ChangedSubject::Store, |snapshot| snapshot.set_store(away));
    }

    /// Publishes the outage of the store of lifecycle states; `None` means that the store answers.
    pub fn publish_state_store(&mut self, away: Option<StoreAway>) {
        let subject = ChangedSubject::StateStore;
        self.change(subject, |snapshot| snapshot.set_state_store(away));
    }

    /// Restores the history of an application that a previous process wrote, unless the application already
    /// has one.
    pub fn restore_history(&mut self, key: &ApplicationKey, history: ApplicationHistory) {
        self.published.histories_mut().restore(key, history);
    }

    /// Removes the histories of all other applications.
    pub fn retain_histories(&mut self, is_kept: impl Fn(&ApplicationKey) -> bool) {
        self.published.histories_mut().retain(is_kept);
    }

    /// Removes the transitions of an application's resources in a cluster.
    pub fn forget_history(&mut self, key: &ApplicationKey, cluster: &ClusterName) {
        let mut histories = self.published.histories_mut();
        histories.forget_cluster(key, cluster);
    }

    fn set_application(&self, key: &ApplicationKey, view: Option<ContextView>) {
        let (view, subject) = (view.map(Arc::new), ChangedSubject::Application(key.clone()));
        let replaced = self.change(subject, |snapshot| snapshot.set_application(key, view));
        // Dropped after the lock is released: a view may be large.
        drop(replaced);
    }

    /// Applies `change` under the write lock. Queries wait for it, so it only inserts and removes values that
    /// were built before.
    fn change<R>(&self, subject: ChangedSubject, change: impl FnOnce(&mut Snapshot) -> R) -> R {
        let mut snapshot = self.published.snapshot_mut();
        let before = snapshot.generation();
        let result = change(&mut snapshot);
        let generation = snapshot.generation();
        if generation != before {
            // Under the lock, so that subscribers get changes in the order of their generations. Fails if there
            // are no subscribers.
            let _ = self.published.changes.send(Changed {
                generation,
                subject,
            });
        }
        result
    }
}
