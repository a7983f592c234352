//! The published state of all applications at one moment: the input of every query.
//!
//! A snapshot is plain data. `kindsight-read-model` holds the current snapshot, lends it to readers, and
//! gives access to its setters to one writer.

mod current;
mod lookup;
mod missing;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId, DigName, RecordSubject};

use crate::connection::ConnectionView;
use crate::history::ApplicationKey;
use crate::record::RecordView;
use crate::store::StoreAway;
use crate::view::ContextView;

pub use lookup::VisibleSnapshot;
pub use missing::Missing;

/// The views of all applications, the records of all subjects, and the connections to clusters and stores.
///
/// Each setter that may change an answer increments the generation.
#[derive(Debug, Default)]
pub struct Snapshot {
    generation: u64,
    /// Ordered, for the message about a name that does not exist.
    records: BTreeMap<RecordSubject, Arc<RecordView>>,
    contexts: HashMap<ContextId, Arc<ContextView>>,
    found: BTreeMap<DigName, Arc<ContextView>>,
    /// Connections to the configured clusters.
    connections: BTreeMap<ClusterName, Arc<ConnectionView>>,
    /// The outage of the store of `AppContext`s; `None` while it can be reached.
    store: Option<Arc<StoreAway>>,
    /// The outage of the store of lifecycle states; `None` while it can be reached.
    state_store: Option<Arc<StoreAway>>,
}

/// The part of a snapshot that a change replaced.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ChangedSubject {
    /// The view of an application.
    Application(ApplicationKey),
    /// The record of a deployment intent group, a cluster or a logical cloud.
    Record(RecordSubject),
    /// The connection to a cluster.
    Connection(ClusterName),
    /// The connection to the store of `AppContext`s.
    Store,
    /// The connection to the store of lifecycle states.
    StateStore,
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

    /// Applications that were found in the clusters, in order of their names.
    pub fn found(&self) -> impl Iterator<Item = (&DigName, &Arc<ContextView>)> {
        self.found.iter()
    }

    /// The view of an application.
    pub fn application(&self, key: &ApplicationKey) -> Option<&Arc<ContextView>> {
        match key {
            ApplicationKey::Context(id) => self.contexts.get(id),
            ApplicationKey::Found(name) => self.found.get(name),
        }
    }

    /// Connections to the configured clusters, in order of their names.
    pub fn connections(&self) -> impl Iterator<Item = (&ClusterName, &Arc<ConnectionView>)> {
        self.connections.iter()
    }

    /// The outage of the store of `AppContext`s; `None` while it can be reached.
    pub fn store_away(&self) -> Option<&StoreAway> {
        self.store.as_deref()
    }

    /// The outage of the store of lifecycle states of another orchestrator; `None` while it can be reached.
    pub fn state_store_away(&self) -> Option<&StoreAway> {
        self.state_store.as_deref()
    }
}

/// Setters. Each returns the value that it replaced, so that the caller can drop it after releasing a lock:
/// a view may be large.
impl Snapshot {
    /// Sets the view of an application, or removes it if `view` is `None`.
    pub fn set_application(
        &mut self,
        key: &ApplicationKey,
        view: Option<Arc<ContextView>>,
    ) -> Option<Arc<ContextView>> {
        self.generation += 1;
        match (key, view) {
            (ApplicationKey::Context(id), Some(view)) => self.contexts.insert(id.clone(), view),
            (ApplicationKey::Context(id), None) => self.contexts.remove(id),
            (ApplicationKey::Found(name), Some(view)) => self.found.insert(name.clone(), view),
            (ApplicationKey::Found(name), None) => self.found.remove(name),
        }
    }

    /// Replaces the view of an application by a view with the same verdicts and more precise times. The
    /// generation does not change. An application without a view remains unknown.
    pub fn refresh_application(
        &mut self,
        key: &ApplicationKey,
        view: Arc<ContextView>,
    ) -> Option<Arc<ContextView>> {
        let shown = match key {
            ApplicationKey::Context(id) => self.contexts.get_mut(id),
            ApplicationKey::Found(name) => self.found.get_mut(name),
        };
        shown.map(|shown| std::mem::replace(shown, view))
    }

    /// Sets the record of a subject, or removes it if `record` is `None`.
    pub fn set_record(
        &mut self,
        subject: &RecordSubject,
        record: Option<Arc<RecordView>>,
    ) -> Option<Arc<RecordView>> {
        self.generation += 1;
        match record {
            Some(record) => self.records.insert(subject.clone(), record),
            None => self.records.remove(subject),
        }
    }

    /// Sets the connection to a cluster, or removes it if `connection` is `None`. The generation does not
    /// change if only counts and the time of the last event differ.
    pub fn set_connection(
        &mut self,
        cluster: &ClusterName,
        connection: Option<Arc<ConnectionView>>,
    ) -> Option<Arc<ConnectionView>> {
        let is_same = match (self.connections.get(cluster), &connection) {
            (None, None) => true,
            (Some(known), Some(new)) => known.says_the_same(new),
            _ => false,
        };
        self.generation += u64::from(!is_same);
        match connection {
            Some(connection) => self.connections.insert(cluster.clone(), connection),
            None => self.connections.remove(cluster),
        }
    }

    /// Sets the outage of the store of `AppContext`s; `None` if the store answers. The generation does not
    /// change if the outage is the same.
    pub fn set_store(&mut self, away: Option<StoreAway>) {
        self.generation += u64::from(self.store_away() != away.as_ref());
        self.store = away.map(Arc::new);
    }

    /// Sets the outage of the store of lifecycle states, like [`Snapshot::set_store`].
    pub fn set_state_store(&mut self, away: Option<StoreAway>) {
        self.generation += u64::from(self.state_store_away() != away.as_ref());
        self.state_store = away.map(Arc::new);
    }
}

#[cfg(test)]
mod tests;
