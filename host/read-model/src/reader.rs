//! Handles that read the read model.

use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{ClusterName, DigName, LogicalCloudName, RecordSubject, SubjectSet};
use kindsight_status::{
    ApplicationHistory, ApplicationKey, ApplicationQuery, Applications, Clusters, ContextView,
    HistoryAnswer, HistoryChange, HistoryPosition, HistoryQuery, Missing, QueryError, Snapshot,
    StatusQuery, Subject, VisibleSnapshot,
};

use crate::published::Published;
use crate::subscription::Subscription;

/// A handle that reads the current state of all applications and subscribes to its changes. Clones share the
/// state.
#[derive(Debug, Clone)]
pub struct ReadModel {
    published: Arc<Published>,
}

/// A handle that answers queries of a reader who may see a part of the subjects. A subject outside this part does not
/// exist for any query.
#[derive(Debug, Clone)]
pub struct VisibleModel {
    model: ReadModel,
    visible: SubjectSet,
}

impl ReadModel {
    pub(crate) fn new(published: &Arc<Published>) -> Self {
        Self {
            published: Arc::clone(published),
        }
    }

    /// Reads the current snapshot and subscribes to every change after it, in one atomic step: no change
    /// is missed or delivered twice.
    pub fn subscribe<R>(&self, read: impl FnOnce(&Snapshot) -> R) -> (R, Subscription) {
        let snapshot = self.published.snapshot();
        let subscription = Subscription::new(self.published.changes.subscribe());
        (read(&snapshot), subscription)
    }

    /// Reads the current snapshot. Publishing waits for `read`, so it should only clone what it needs.
    pub fn inspect<R>(&self, read: impl FnOnce(&Snapshot) -> R) -> R {
        read(&self.published.snapshot())
    }

    /// The part of the state that a reader may see. Queries are answered from this part.
    pub fn visible_to(&self, visible: &SubjectSet) -> VisibleModel {
        VisibleModel {
            model: self.clone(),
            visible: visible.clone(),
        }
    }

    /// The view of an application.
    pub fn application(&self, key: &ApplicationKey) -> Option<Arc<ContextView>> {
        self.inspect(|snapshot| snapshot.application(key).cloned())
    }

    /// Memory of the histories of all applications, in bytes.
    pub fn history_bytes(&self) -> usize {
        self.published.histories().bytes()
    }

    /// The view of an application with the history that led to it.
    pub fn application_history(
        &self,
        key: &ApplicationKey,
    ) -> (Option<Arc<ContextView>>, Option<ApplicationHistory>) {
        let histories = self.published.histories();
        (self.application(key), histories.history(key))
    }

    /// The view of an application with the change of its history since a position, and the position after it. For hosts
    /// that follow this host.
    pub fn application_since(
        &self,
        key: &ApplicationKey,
        known: Option<HistoryPosition>,
    ) -> (
        Option<Arc<ContextView>>,
        HistoryChange,
        Option<HistoryPosition>,
    ) {
        let histories = self.published.histories();
        let (change, position) = histories.change_since(key, known);
        (self.application(key), change, position)
    }

    /// Subscribes to the views that [`ReadModelWriter::refresh`](crate::ReadModelWriter::refresh) replaces. They change
    /// no verdict, so [`Self::subscribe`] does not report them.
    pub fn subscribe_to_refreshes(&self) -> Subscription {
        Subscription::new(self.published.refreshes.subscribe())
    }
}

impl VisibleModel {
    /// The complete read model, for its generation and its changes.
    pub fn model(&self) -> &ReadModel {
        &self.model
    }

    /// The subjects that the reader may see.
    pub fn visible(&self) -> &SubjectSet {
        &self.visible
    }

    /// Looks up the subject of a query about a deployment intent group or a found application.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] if the group or the requested instance does not exist;
    /// [`QueryError::Invalid`] if the query requests an instance of a found application.
    pub fn dig(&self, name: &DigName, query: &StatusQuery) -> Result<Subject, QueryError> {
        self.look_up(|snapshot| snapshot.dig(name, query))
    }

    /// Looks up the subject of a query about a cluster.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] if the cluster or the requested instance does not exist.
    pub fn cluster(&self, name: &ClusterName, query: &StatusQuery) -> Result<Subject, QueryError> {
        self.look_up(|snapshot| snapshot.cluster(name, query))
    }

    /// Looks up the subject of a query about a logical cloud.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] if the logical cloud or the requested instance does not exist.
    pub fn logical_cloud(
        &self,
        name: &LogicalCloudName,
        query: &StatusQuery,
    ) -> Result<Subject, QueryError> {
        self.look_up(|snapshot| snapshot.logical_cloud(name, query))
    }

    /// Looks up the subject of a query about a deployment intent group, a found application, a cluster or a logical
    /// cloud.
    ///
    /// # Errors
    /// As for [`VisibleModel::dig`].
    pub fn subject(
        &self,
        name: &RecordSubject,
        query: &StatusQuery,
    ) -> Result<Subject, QueryError> {
        match name {
            RecordSubject::Group(name) => self.dig(name, query),
            RecordSubject::Cluster(name) => self.cluster(name, query),
            RecordSubject::LogicalCloud(name) => self.logical_cloud(name, query),
        }
    }

    /// The names of all applications that the reader may see, by their keys. Also contains the names of visible
    /// clusters and logical clouds, by the keys of their instances.
    pub fn application_names(&self) -> HashMap<ApplicationKey, String> {
        self.inspect(|snapshot| snapshot.application_names())
    }

    /// Looks up the applications of a query.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a name that no application has, and for an unknown cluster.
    pub fn applications(&self, query: &ApplicationQuery) -> Result<Applications, QueryError> {
        let histories = self.model.published.histories();
        let found = self.inspect(|snapshot| snapshot.applications(query, &histories));
        // The error message is formatted without the locks.
        drop(histories);
        found.checked()
    }

    /// All configured clusters.
    pub fn clusters(&self) -> Clusters {
        self.inspect(|snapshot| snapshot.clusters())
    }

    /// Looks up the history of a deployment intent group or a found application.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] if the group, the requested instance, or a name in a filter does not exist (a
    /// filter may also use names from the history); [`QueryError::Invalid`] if the query requests an instance
    /// of a found application.
    pub fn history(
        &self,
        name: &DigName,
        query: &HistoryQuery,
    ) -> Result<HistoryAnswer, QueryError> {
        let subject = self.dig(name, &query.selection)?;
        let select = |key: &ApplicationKey| self.model.published.histories().select(key, query);
        HistoryAnswer::new(subject, query, select)
    }

    fn look_up(
        &self,
        look_up: impl FnOnce(VisibleSnapshot<'_>) -> Result<Subject, Missing>,
    ) -> Result<Subject, QueryError> {
        let found = self.inspect(look_up);
        // The error message is formatted without the lock.
        found.map_err(QueryError::from)
    }

    fn inspect<R>(&self, read: impl FnOnce(VisibleSnapshot<'_>) -> R) -> R {
        self.model
            .inspect(|snapshot| read(snapshot.visible_to(&self.visible)))
    }
}
