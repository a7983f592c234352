//! The current state of single subjects, for tasks that follow changes. The cost does not depend on the number of subjects.

use std::sync::Arc;

use kindsight_model::{ClusterName, DigName, RecordSubject};

use super::Snapshot;
use crate::connection::ConnectionView;
use crate::history::ApplicationKey;
use crate::record::RecordView;

impl Snapshot {
    /// The key of the view that shows an application: its latest instance, or the found application itself. `None` if
    /// the application does not exist or was never instantiated. If a group and a configured application have the same
    /// name, the group takes precedence, as for queries.
    pub fn current_key(&self, name: &DigName) -> Option<ApplicationKey> {
        let record = self.records.get(&RecordSubject::Group(name.clone()));
        if let Some(record) = record.filter(|_| !name.is_found()) {
            return record
                .latest_instance()
                .cloned()
                .map(ApplicationKey::Context);
        }
        let is_there = self.found.contains_key(name);
        is_there.then(|| ApplicationKey::Found(name.clone()))
    }

    /// The names of all recorded groups, then of all found applications. A name may occur twice.
    pub fn every_application(&self) -> impl Iterator<Item = &DigName> {
        let groups = self.records.keys().filter_map(|subject| match subject {
            RecordSubject::Group(name) => Some(name),
            RecordSubject::Cluster(_) | RecordSubject::LogicalCloud(_) => None,
        });
        groups.chain(self.found.keys())
    }

    /// All records, in order of their subjects.
    pub fn records(&self) -> impl Iterator<Item = (&RecordSubject, &Arc<RecordView>)> {
        self.records.iter()
    }

    /// The record of a subject.
    pub fn record(&self, of: &RecordSubject) -> Option<&Arc<RecordView>> {
        self.records.get(of)
    }

    /// The keys of all applications, in no particular order.
    pub fn keys(&self) -> impl Iterator<Item = ApplicationKey> {
        let contexts = self.contexts.keys().cloned().map(ApplicationKey::Context);
        contexts.chain(self.found.keys().cloned().map(ApplicationKey::Found))
    }

    /// The connection to a configured cluster.
    pub fn connection(&self, name: &ClusterName) -> Option<&Arc<ConnectionView>> {
        self.connections.get(name)
    }
}
