//! The read model: the published state that queries are answered from, and the stream of its changes.

mod subscription;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use kindsight_model::{ClusterName, ContextId, DigName};

use crate::problem::{QueryError, known, not_found, unknown};
use crate::query::{Instance, StatusQuery};
use crate::record::RecordView;
use crate::view::ContextView;

use subscription::Publisher;
pub use subscription::{
    Changed, Lagged, SUBSCRIPTION_CHANGES_MAX, Subject as ChangedSubject, Subscription,
};

/// Everything that can be asked about, as it stands now.
///
/// A query takes the lock for as long as it takes to clone two [`Arc`]s, and is answered from one
/// published state: whatever is published while it is answered does not mix in. Every change has a
/// generation of its own, and can be [subscribed](ReadModel::subscribe) to.
#[derive(Debug, Default)]
pub struct ReadModel {
    snapshot: RwLock<Snapshot>,
    publisher: Publisher,
}

/// The state of a [`ReadModel`] at one moment.
#[derive(Debug, Default)]
pub struct Snapshot {
    generation: u64,
    digs: HashMap<DigName, Arc<RecordView>>,
    clusters: HashMap<ClusterName, Arc<RecordView>>,
    contexts: HashMap<ContextId, Arc<ContextView>>,
}

impl Snapshot {
    /// The number of changes that led to this state.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The contexts, in no order.
    pub fn contexts(&self) -> impl Iterator<Item = &Arc<ContextView>> {
        self.contexts.values()
    }

    /// One context.
    pub fn context(&self, id: &ContextId) -> Option<&Arc<ContextView>> {
        self.contexts.get(id)
    }
}

impl ReadModel {
    /// Publishes the view of a context, or none where it is gone, in one step: no query sees half of it.
    pub fn publish_context(&self, id: &ContextId, view: Option<ContextView>) {
        let view = view.map(Arc::new);
        let before = self.change(ChangedSubject::Context(id.clone()), |snapshot| match view {
            Some(view) => snapshot.contexts.insert(id.clone(), view),
            None => snapshot.contexts.remove(id),
        });
        // After queries may go on: the old view may be large.
        drop(before);
    }

    /// Publishes the record of a deployment intent group, or none where it is gone.
    pub fn publish_dig(&self, name: &DigName, record: Option<RecordView>) {
        let record = record.map(Arc::new);
        self.change(ChangedSubject::Dig(name.clone()), |snapshot| match record {
            Some(record) => snapshot.digs.insert(name.clone(), record),
            None => snapshot.digs.remove(name),
        });
    }

    /// Publishes the record of a cluster, or none where it is gone.
    pub fn publish_cluster(&self, name: &ClusterName, record: Option<RecordView>) {
        let record = record.map(Arc::new);
        let subject = ChangedSubject::Cluster(name.clone());
        self.change(subject, |snapshot| match record {
            Some(record) => snapshot.clusters.insert(name.clone(), record),
            None => snapshot.clusters.remove(name),
        });
    }

    /// Queries wait for `change`, so it only puts in and takes out what was made before.
    fn change<R>(&self, subject: ChangedSubject, change: impl FnOnce(&mut Snapshot) -> R) -> R {
        let mut snapshot = self
            .snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut snapshot);
        snapshot.generation += 1;
        // Under the lock, so that changes are told in the order of their generations.
        self.publisher.publish(Changed {
            generation: snapshot.generation,
            subject,
        });
        result
    }

    /// Subscribes to every change after the state that `read` sees: reading and subscribing is one step,
    /// so nothing is missed and nothing comes twice.
    pub fn subscribe<R>(&self, read: impl FnOnce(&Snapshot) -> R) -> (R, Subscription) {
        let snapshot = self.read();
        let subscription = self.publisher.subscribe();
        (read(&snapshot), subscription)
    }

    /// Reads the present state. Publishing waits for `read`, so it only clones what it needs.
    pub fn inspect<R>(&self, read: impl FnOnce(&Snapshot) -> R) -> R {
        read(&self.read())
    }

    /// Finds the subject of a query about a deployment intent group.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a group, or an instance of it, that does not exist.
    pub fn dig(&self, name: &DigName, query: &StatusQuery) -> Result<Subject, QueryError> {
        let snapshot = self.read();
        let Some(record) = snapshot.digs.get(name) else {
            let near = snapshot
                .digs
                .keys()
                .filter(|dig| dig.project == name.project);
            let part = "deployment-intent-group";
            return Err(not_found(unknown(part, name, known(near))));
        };
        snapshot.subject(Name::Dig(name.clone()), record, query)
    }

    /// Finds the subject of a query about a cluster.
    ///
    /// # Errors
    /// [`QueryError::NotFound`] for a cluster, or an instance of it, that does not exist.
    pub fn cluster(&self, name: &ClusterName, query: &StatusQuery) -> Result<Subject, QueryError> {
        let snapshot = self.read();
        let Some(record) = snapshot.clusters.get(name) else {
            let near = snapshot
                .clusters
                .keys()
                .filter(|cluster| cluster.provider == name.provider);
            return Err(not_found(unknown("cluster", name, known(near))));
        };
        snapshot.subject(Name::Cluster(name.clone()), record, query)
    }

    fn read(&self) -> RwLockReadGuard<'_, Snapshot> {
        // A change that panicked has put in whole entries or none.
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Snapshot {
    fn subject(
        &self,
        name: Name,
        record: &Arc<RecordView>,
        query: &StatusQuery,
    ) -> Result<Subject, QueryError> {
        let instance = match &query.instance {
            Instance::Latest | Instance::List => record.latest_instance(),
            Instance::Of(id) if record.names(id) => Some(id),
            Instance::Of(id) => {
                return Err(not_found(unknown(
                    "instance",
                    id,
                    known(record.instances()),
                )));
            }
        };
        Ok(Subject {
            name,
            record: Arc::clone(record),
            instance: instance.cloned(),
            context: instance.and_then(|id| self.contexts.get(id)).cloned(),
        })
    }
}

/// The state that one query is answered from: it stays as it is while the answer is written.
#[derive(Debug)]
pub struct Subject {
    pub(crate) name: Name,
    pub(crate) record: Arc<RecordView>,
    /// The context that is asked about; none if there never was one.
    pub(crate) instance: Option<ContextId>,
    /// None if there never was one, or it is not kept any more.
    pub(crate) context: Option<Arc<ContextView>>,
}

/// The name that is asked about.
#[derive(Debug)]
pub(crate) enum Name {
    Dig(DigName),
    Cluster(ClusterName),
}
