//! Deployment intent groups, clusters and logical clouds: those of our records, and those of another orchestrator,
//! from the states that it keeps and from its contexts.
//!
//! A record of ours wins. Records are published where they changed alone.

pub(crate) mod derived;
pub(crate) mod own;
mod states;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kindsight_appcontext::{Error, Records};
use kindsight_model::{ContextId, RecordSubject, StateInfo, StatesNews};
use kindsight_status::{ReadModel, RecordView, StoreAway};
use kindsight_store::Revision;

use derived::{Derived, Instance};
use states::States;

/// Every group, cluster and logical cloud that has a record, ours or another's.
#[derive(Default)]
pub(crate) struct Groups {
    /// Records of ours.
    records: BTreeMap<RecordSubject, RecordView>,
    /// The number of times that each context is named by records of ours.
    own: HashMap<ContextId, usize>,
    states: States,
    derived: Derived,
    published: HashMap<RecordSubject, RecordView>,
}

impl Groups {
    /// Returns whether a record of ours names a context.
    pub(crate) fn is_own(&self, id: &ContextId) -> bool {
        self.own.contains_key(id)
    }

    /// Reads every record of ours, and returns the revision to watch after. One that cannot be read is logged,
    /// and stays as it was.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn read_all(
        &mut self,
        records: &Records,
        read_model: &ReadModel,
    ) -> Result<Revision, Error> {
        let read = own::read_all(records)?;
        let is_gone = |it: &&RecordSubject| !read.has(it);
        let gone: Vec<_> = self.records.keys().filter(is_gone).cloned().collect();
        for subject in gone {
            self.set(&subject, None, read_model);
        }
        for (subject, record) in read.readable {
            self.set(&subject, Some(record), read_model);
        }
        Ok(read.revision)
    }

    /// The contexts that a record of ours names; of one that does not exist none.
    pub(crate) fn instances(&self, subject: &RecordSubject) -> Vec<ContextId> {
        let record = self.records.get(subject);
        let actions = record.into_iter().flat_map(|it| &it.actions);
        let instances: BTreeSet<&ContextId> =
            actions.filter_map(|it| it.instance.as_ref()).collect();
        instances.into_iter().cloned().collect()
    }

    /// Takes over a record of ours; none where it was deleted.
    pub(crate) fn set(
        &mut self,
        subject: &RecordSubject,
        record: Option<RecordView>,
        read_model: &ReadModel,
    ) {
        for id in self.instances(subject) {
            if let Some(count) = self.own.get_mut(&id) {
                *count -= 1;
                if *count == 0 {
                    self.own.remove(&id);
                }
            }
        }
        match record {
            Some(record) => self.records.insert(subject.clone(), record),
            None => self.records.remove(subject),
        };
        for id in self.instances(subject) {
            *self.own.entry(id).or_default() += 1;
        }
        self.publish(subject, read_model);
    }

    /// Takes over what a context tells of its group; none where it was deleted.
    pub(crate) fn set_context(
        &mut self,
        id: &ContextId,
        instance: Option<Instance>,
        read_model: &ReadModel,
    ) {
        let mut changed = self.derived.set(id, instance);
        changed.extend(self.states.named_by(id).cloned());
        for subject in changed {
            self.publish(&subject, read_model);
        }
    }

    /// Takes over news of the states that an orchestrator keeps.
    pub(crate) fn take_states(&mut self, news: StatesNews, read_model: &ReadModel) {
        match news {
            StatesNews::All(all) => {
                let gone = self.states.subjects().filter(|it| !all.contains_key(it));
                for subject in gone.cloned().collect::<Vec<_>>() {
                    self.set_state(&subject, None, read_model);
                }
                for (subject, info) in all {
                    self.set_state(&subject, Some(info), read_model);
                }
                read_model.publish_state_store(None);
            }
            StatesNews::Changed(subject, info) => self.set_state(&subject, info, read_model),
            StatesNews::Away { since_ms, reason } => {
                read_model.publish_state_store(Some(StoreAway { since_ms, reason }));
            }
            StatesNews::Back => read_model.publish_state_store(None),
        }
    }

    fn set_state(
        &mut self,
        subject: &RecordSubject,
        info: Option<StateInfo>,
        read_model: &ReadModel,
    ) {
        // The name of a found application is no group's.
        if matches!(subject, RecordSubject::Group(name) if name.is_found()) {
            return;
        }
        self.states.set(subject, info);
        self.publish(subject, read_model);
    }

    /// Publishes the record of a subject, where it changed.
    fn publish(&mut self, subject: &RecordSubject, read_model: &ReadModel) {
        let own = self.records.get(subject).cloned();
        let record = own.or_else(|| self.states.record(subject, &self.derived));
        if self.published.get(subject) == record.as_ref() {
            return;
        }
        match &record {
            Some(record) => self.published.insert(subject.clone(), record.clone()),
            None => self.published.remove(subject),
        };
        match subject {
            RecordSubject::Group(name) => read_model.publish_dig(name, record),
            RecordSubject::Cluster(name) => read_model.publish_cluster(name, record),
            RecordSubject::LogicalCloud(name) => read_model.publish_logical_cloud(name, record),
        }
    }
}
