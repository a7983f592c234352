//! The state that a follower has, and the subjects that may differ from it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kindsight_model::{ClusterName, RecordSubject};
use kindsight_status::{
    ApplicationKey, ChangedSubject, ConnectionView, ContextView, HistoryPosition, RecordView,
    Snapshot,
};

use crate::batch::StoresChange;

/// The state that a follower has.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) applications: HashMap<ApplicationKey, SentApplication>,
    pub(super) connections: HashMap<ClusterName, Arc<ConnectionView>>,
    pub(super) records: HashMap<RecordSubject, Arc<RecordView>>,
    pub(super) stores: StoresChange,
}

/// An application as it was sent last.
#[derive(Debug)]
pub(super) struct SentApplication {
    pub(super) view: Arc<ContextView>,
    /// `None` if the follower has no history of it.
    pub(super) history: Option<HistoryPosition>,
}

impl Sent {
    /// Everything that the model or the follower has.
    pub(super) fn subjects(&self, snapshot: &Snapshot) -> HashSet<ChangedSubject> {
        let applications = snapshot.keys().chain(self.applications.keys().cloned());
        let records = snapshot.records().map(|(subject, _)| subject);
        let records = records.chain(self.records.keys()).cloned();
        let connections = snapshot.connections().map(|(name, _)| name);
        let connections = connections.chain(self.connections.keys()).cloned();
        applications
            .map(ChangedSubject::Application)
            .chain(records.map(ChangedSubject::Record))
            .chain(connections.map(ChangedSubject::Connection))
            .chain([ChangedSubject::Store])
            .collect()
    }
}

/// The subjects that may differ from the state of the follower. A subject that changes several times is noted once.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    subjects: HashSet<ChangedSubject>,
    is_everything: bool,
}

impl Dirty {
    pub(super) fn add(&mut self, subject: ChangedSubject) {
        if !self.is_everything {
            self.subjects.insert(subject);
        }
    }

    pub(super) fn everything(&mut self) {
        self.subjects.clear();
        self.is_everything = true;
    }

    pub(super) fn is_everything(&self) -> bool {
        self.is_everything
    }

    pub(super) fn is_empty(&self) -> bool {
        self.subjects.is_empty() && !self.is_everything
    }

    pub(super) fn subjects(self) -> HashSet<ChangedSubject> {
        self.subjects
    }
}
