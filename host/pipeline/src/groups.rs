//! Deployment intent groups, clusters and logical clouds, from kindsight's records, and from the states and contexts
//! of another orchestrator.
//!
//! A record of kindsight has priority. Only records that changed are published.

pub(crate) mod derived;
mod states;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kindsight_model::{ContextId, RecordSubject, StateInfo, StatesNews};
use kindsight_status::{RecordView, StoreAway};

use crate::publisher::Publisher;
use crate::store_reader::ReadRecords;
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

    /// Replaces all records of kindsight. A record that cannot be read does not change.
    pub(crate) fn set_all(&mut self, read: ReadRecords, publisher: &mut Publisher) {
        let is_gone = |subject: &&RecordSubject| !read.has(subject);
        let gone: Vec<_> = self.records.keys().filter(is_gone).cloned().collect();
        for subject in gone {
            self.set(&subject, None, publisher);
        }
        for (subject, record) in read.readable {
            self.set(&subject, Some(record), publisher);
        }
    }

    /// The contexts that a record of ours names; of one that does not exist none.
    fn instances(&self, subject: &RecordSubject) -> Vec<ContextId> {
        let record = self.records.get(subject);
        let actions = record.into_iter().flat_map(|record| &record.actions);
        let instances: BTreeSet<&ContextId> = actions
            .filter_map(|action| action.instance.as_ref())
            .collect();
        instances.into_iter().cloned().collect()
    }

    /// Takes over a record of ours; none where it was deleted.
    pub(crate) fn set(
        &mut self,
        subject: &RecordSubject,
        record: Option<RecordView>,
        publisher: &mut Publisher,
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
        self.publish(subject, publisher);
    }

    /// The instance that a changed context replaces; see [`Derived::previous`].
    pub(crate) fn previous(
        &self,
        id: &ContextId,
        next: &Instance,
        others: Vec<ContextId>,
    ) -> Option<ContextId> {
        self.derived.previous(id, next, others)
    }

    /// Updates the instance that a context is of its group. `None` if the context was deleted.
    pub(crate) fn set_context(
        &mut self,
        id: &ContextId,
        instance: Option<Instance>,
        publisher: &mut Publisher,
    ) {
        let mut changed = self.derived.set(id, instance);
        changed.extend(self.states.named_by(id).cloned());
        for subject in changed {
            self.publish(&subject, publisher);
        }
    }

    /// Takes over news of the states that an orchestrator keeps.
    pub(crate) fn take_states(&mut self, news: StatesNews, publisher: &mut Publisher) {
        match news {
            StatesNews::All(all) => {
                let gone = self
                    .states
                    .subjects()
                    .filter(|subject| !all.contains_key(subject));
                for subject in gone.cloned().collect::<Vec<_>>() {
                    self.set_state(&subject, None, publisher);
                }
                for (subject, info) in all {
                    self.set_state(&subject, Some(info), publisher);
                }
                publisher.publish_state_store(None);
            }
            StatesNews::Changed(subject, info) => self.set_state(&subject, info, publisher),
            StatesNews::Away { since_ms, reason } => {
                publisher.publish_state_store(Some(StoreAway { since_ms, reason }));
            }
            StatesNews::Back => publisher.publish_state_store(None),
        }
    }

    fn set_state(
        &mut self,
        subject: &RecordSubject,
        info: Option<StateInfo>,
        publisher: &mut Publisher,
    ) {
        // The name of a found application is no group's.
        if matches!(subject, RecordSubject::Group(name) if name.is_found()) {
            return;
        }
        self.states.set(subject, info);
        self.publish(subject, publisher);
    }

    /// Publishes the record of a subject, where it changed.
    fn publish(&mut self, subject: &RecordSubject, publisher: &mut Publisher) {
        let own = self.records.get(subject).cloned();
        let record = own.or_else(|| self.states.record(subject, &self.derived));
        if self.published.get(subject) == record.as_ref() {
            return;
        }
        match &record {
            Some(record) => self.published.insert(subject.clone(), record.clone()),
            None => self.published.remove(subject),
        };
        publisher.publish_record(subject, record);
    }
}
