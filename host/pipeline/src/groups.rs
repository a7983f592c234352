//! Deployment intent groups and clusters: those of our records, and those that are derived from contexts.
//!
//! A record of ours wins. Records are published where they changed alone.

pub(crate) mod derived;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_appcontext::{Action, Error, Listed, Records};
use kindsight_model::ContextId;
use kindsight_status::{ActionView, ReadModel, RecordView};
use kindsight_store::{Revision, chain};

use derived::{Derived, Instance, Subject};

/// Every group and every cluster that has a record, ours or derived.
#[derive(Default)]
pub(crate) struct Groups {
    /// Records of ours.
    records: BTreeMap<Subject, RecordView>,
    /// The number of times that each context is named by records of ours.
    own: HashMap<ContextId, usize>,
    derived: Derived,
    published: HashMap<Subject, RecordView>,
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
        let (digs, clusters) = (records.digs()?, records.clusters()?);
        let revision = digs.revision;
        let is_complete = digs.unreadable.is_empty() && clusters.unreadable.is_empty();
        let digs = readable(digs).into_iter();
        let digs = digs.map(|(name, it)| {
            let profile = it.profile.as_deref().map(Arc::from);
            (Subject::Group(name), view(profile, &it.actions))
        });
        let clusters = readable(clusters).into_iter();
        let clusters = clusters.map(|(name, it)| (Subject::Cluster(name), view(None, &it.actions)));
        let read: BTreeMap<Subject, RecordView> = digs.chain(clusters).collect();
        if is_complete {
            let gone = self.records.keys().filter(|it| !read.contains_key(it));
            for subject in gone.cloned().collect::<Vec<_>>() {
                self.set(&subject, None, read_model);
            }
        }
        for (subject, record) in read {
            self.set(&subject, Some(record), read_model);
        }
        Ok(revision)
    }

    /// The contexts that a record of ours names; of one that does not exist none.
    pub(crate) fn instances(&self, subject: &Subject) -> Vec<ContextId> {
        let record = self.records.get(subject);
        let actions = record.into_iter().flat_map(|it| &it.actions);
        let instances: BTreeSet<&ContextId> =
            actions.filter_map(|it| it.instance.as_ref()).collect();
        instances.into_iter().cloned().collect()
    }

    /// Takes over a record of ours; none where it was deleted.
    pub(crate) fn set(
        &mut self,
        subject: &Subject,
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
        for subject in self.derived.set(id, instance) {
            self.publish(&subject, read_model);
        }
    }

    /// Publishes the record of a subject, where it changed.
    fn publish(&mut self, subject: &Subject, read_model: &ReadModel) {
        let own = self.records.get(subject).cloned();
        let record = own.or_else(|| self.derived.record(subject));
        if self.published.get(subject) == record.as_ref() {
            return;
        }
        match &record {
            Some(record) => self.published.insert(subject.clone(), record.clone()),
            None => self.published.remove(subject),
        };
        match subject {
            Subject::Group(name) => read_model.publish_dig(name, record),
            Subject::Cluster(name) => read_model.publish_cluster(name, record),
        }
    }
}

/// A record of ours as it is stored now; none where there is none.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn read(records: &Records, subject: &Subject) -> Result<Option<RecordView>, Error> {
    Ok(match subject {
        Subject::Group(name) => records.dig(name)?.map(|it| {
            let profile = it.profile.as_deref().map(Arc::from);
            view(profile, &it.actions)
        }),
        Subject::Cluster(name) => records.cluster(name)?.map(|it| view(None, &it.actions)),
    })
}

/// Logs records that cannot be read, and returns the rest.
fn readable<N, R>(listed: Listed<N, R>) -> Vec<(N, R)> {
    for unreadable in listed.unreadable {
        let (key, why) = (unreadable.key, unreadable.why);
        tracing::warn!(key, why, "record not readable; it is left out");
    }
    listed.records
}

fn view(profile: Option<Arc<str>>, actions: &[Action]) -> RecordView {
    let actions = actions.iter().map(|action| ActionView {
        state: action.state,
        instance: action.instance.clone(),
        time: action.time.as_str().into(),
    });
    RecordView {
        profile,
        actions: actions.collect(),
    }
}

/// Tells that a record cannot be read.
pub(crate) fn unreadable(subject: &Subject, error: &Error) {
    tracing::warn!(record = ?subject, error = chain(error), "record not readable; the last readable one stays");
}
