//! Read model: the published state that queries are answered from, and the stream of its changes.

mod found;
mod histories;
mod logical_clouds;
mod subject;
mod subscription;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use kindsight_model::{ClusterName, ContextId, DigName, LogicalCloudName};

use crate::connection::ConnectionView;
use crate::history::Histories;
use crate::problem::QueryError;
use crate::query::StatusQuery;
use crate::record::RecordView;
use crate::store::StoreAway;
use crate::view::ContextView;

pub(crate) use subject::Name;
pub use subject::Subject;
use subject::UnknownInstance;
use subscription::Publisher;
pub use subscription::{
    Changed, Lagged, SUBSCRIPTION_CHANGES_MAX, Subject as ChangedSubject, Subscription,
};

/// The current views of all contexts, and the records of all deployment intent groups, clusters and logical
/// clouds.
///
/// A query holds the lock only while it clones two [`Arc`]s, and is answered from them: a change that is
/// published meanwhile does not affect the answer. Each change has its own generation, and can be
/// [subscribed](ReadModel::subscribe) to.
#[derive(Debug, Default)]
pub struct ReadModel {
    snapshot: RwLock<Snapshot>,
    publisher: Publisher,
    /// Under a lock of its own: queries for a status do not wait for it.
    histories: RwLock<Histories>,
}

/// The state of a [`ReadModel`] at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    generation: u64,
    digs: HashMap<DigName, Arc<RecordView>>,
    clusters: HashMap<ClusterName, Arc<RecordView>>,
    /// The names of all groups in order, for the message about one that does not exist.
    dig_names: BTreeSet<DigName>,
    /// As `dig_names`, for clusters.
    cluster_names: BTreeSet<ClusterName>,
    logical_clouds: BTreeMap<LogicalCloudName, Arc<RecordView>>,
    contexts: HashMap<ContextId, Arc<ContextView>>,
    /// Applications that were found in the clusters.
    found: BTreeMap<DigName, Arc<ContextView>>,
    /// Connections to the clusters that are configured.
    connections: BTreeMap<ClusterName, Arc<ConnectionView>>,
    /// The store of contexts, while it is away.
    pub(crate) store: Option<Arc<StoreAway>>,
    /// The store of lifecycle states, while it is away.
    pub(crate) state_store: Option<Arc<StoreAway>>,
}

impl Snapshot {
    /// The number of changes that led to this state.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// All contexts, in no particular order.
    pub fn contexts(&self) -> impl Iterator<Item = &Arc<ContextView>> {
        self.contexts.values()
    }

    /// The view of one context.
    pub fn context(&self, id: &ContextId) -> Option<&Arc<ContextView>> {
        self.contexts.get(id)
    }
}

impl ReadModel {
    /// Publishes the view of a context, or removes it if `view` is none. Atomic for queries.
    pub fn publish_context(&self, id: &ContextId, view: Option<ContextView>) {
        let view = view.map(Arc::new);
        let before = self.change(ChangedSubject::Context(id.clone()), |snapshot| match view {
            Some(view) => snapshot.contexts.insert(id.clone(), view),
            None => snapshot.contexts.remove(id),
        });
        // Dropped after the lock is released: the old view may be large.
        drop(before);
    }

    /// Replaces the view of a context by one that says the same and dates it better. Queries see it, and
    /// nobody is told: the generation stays. A context that was not published stays unknown.
    pub fn refresh_context(&self, id: &ContextId, view: ContextView) {
        let view = Arc::new(view);
        let before = {
            let mut snapshot = self.write();
            let shown = snapshot.contexts.get_mut(id);
            shown.map(|shown| std::mem::replace(shown, view))
        };
        // Dropped after the lock is released: the old view may be large.
        drop(before);
    }

    /// Publishes the record of a deployment intent group, or removes it if `record` is none.
    pub fn publish_dig(&self, name: &DigName, record: Option<RecordView>) {
        let record = record.map(Arc::new);
        self.change(ChangedSubject::Dig(name.clone()), |snapshot| {
            if let Some(record) = record {
                snapshot.dig_names.insert(name.clone());
                snapshot.digs.insert(name.clone(), record)
            } else {
                snapshot.dig_names.remove(name);
                snapshot.digs.remove(name)
            }
        });
    }

    /// Publishes the record of a cluster, or removes it if `record` is none.
    pub fn publish_cluster(&self, name: &ClusterName, record: Option<RecordView>) {
        let record = record.map(Arc::new);
        let subject = ChangedSubject::Cluster(name.clone());
        self.change(subject, |snapshot| {
            if let Some(record) = record {
                snapshot.cluster_names.insert(name.clone());
                snapshot.clusters.insert(name.clone(), record)
            } else {
                snapshot.cluster_names.remove(name);
                snapshot.clusters.remove(name)
            }
        });
    }

    /// Applies `change` under the write lock. Queries wait for it, so it only inserts and removes entries
    /// that were built before.
    pub(crate) fn change<R>(
        &self,
        subject: ChangedSubject,
        change: impl FnOnce(&mut Snapshot) -> R,
    ) -> R {
        let mut snapshot = self.write();
        let result = change(&mut snapshot);
        snapshot.generation += 1;
        // Under the lock, so that subscribers get changes in the order of their generations.
        self.publisher.publish(Changed {
            generation: snapshot.generation,
            subject,
        });
        result
    }

    /// Reads the current snapshot and subscribes to every change after it, in one atomic step: no change
    /// is missed or delivered twice.
    pub fn subscribe<R>(&self, read: impl FnOnce(&Snapshot) -> R) -> (R, Subscription) {
        let snapshot = self.read();
        let subscription = self.publisher.subscribe();
        (read(&snapshot), subscription)
    }

    /// Reads the current snapshot. Publishing waits for `read`, so it should only clone what it needs.
    pub fn inspect<R>(&self, read: impl FnOnce(&Snapshot) -> R) -> R {
        read(&self.read())
    }

    /// Looks up the subject of a query about a deployment intent group, or about an application that was
    /// found in the clusters. Of a group and an application of the configuration that have one name, it is the
    /// group.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a group, or an instance of it, that does not exist;
    /// [`QueryError::Invalid`] for an instance of an application that was found.
    pub fn dig(&self, name: &DigName, query: &StatusQuery) -> Result<Subject, QueryError> {
        if name.is_found() {
            return self.found_subject(name, query);
        }
        let found = {
            let snapshot = self.read();
            let record = snapshot.digs.get(name);
            // One of the configuration has a name like those of groups.
            if record.is_none() && snapshot.found.contains_key(name) {
                drop(snapshot);
                return self.found_subject(name, query);
            }
            record
                .map(|record| snapshot.subject(Name::Dig(name.clone()), record, query))
                .ok_or_else(|| snapshot.unknown(snapshot.digs_near(name)))
        };
        // Texts are written without the lock.
        match found {
            Ok(found) => found.map_err(UnknownInstance::error),
            Err(unknown) => Err(unknown.error("deployment-intent-group", name)),
        }
    }

    /// Looks up the subject of a query about a cluster.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a cluster, or an instance of it, that does not exist.
    pub fn cluster(&self, name: &ClusterName, query: &StatusQuery) -> Result<Subject, QueryError> {
        let found = {
            let snapshot = self.read();
            let record = snapshot.clusters.get(name);
            record
                .map(|record| snapshot.subject(Name::Cluster(name.clone()), record, query))
                .ok_or_else(|| snapshot.unknown(snapshot.clusters_near(name)))
        };
        match found {
            Ok(found) => found.map_err(UnknownInstance::error),
            Err(unknown) => Err(unknown.error("cluster", name)),
        }
    }

    fn write(&self) -> RwLockWriteGuard<'_, Snapshot> {
        // As in `read`.
        self.snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> RwLockReadGuard<'_, Snapshot> {
        // A change that panicked has inserted whole entries or none.
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner)
    }
}
