//! Deployment intent groups and the network intents of clusters: stored, and changed by actions.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_appcontext::{
    Action as Recorded, AppContexts, AskedWork, Error as StoreError, Intent, Record, Records,
};
use kindsight_model::{
    ClusterName, ContextId, ContextStatus, LifecycleState, RecordSubject, RsyncStatus,
};

use crate::state::{Action, Lifecycle, Next, Situation};
use crate::work::{Instance, Job, Work};
use crate::{Draft, Error, Result};

mod acting;
mod condition;

pub use acting::Command;
pub use condition::ContentCondition;

/// Maximum number of actions of a record. Each is about 100 bytes in the record, which is read for every action.
pub const ACTIONS_MAX: usize = 1000;
/// Maximum number of problems of resources that [`Groups::get`] returns.
pub const RESOURCE_PROBLEMS_MAX: usize = 100;
/// The number of times that an action is decided again because another caller was faster. Each failed attempt means that
/// another caller succeeded.
const ATTEMPTS_MAX: usize = 16;

/// The groups of a store, and the clusters that have network intents. Cheap to clone.
#[derive(Clone)]
pub struct Groups {
    pub(crate) contexts: AppContexts,
    pub(crate) records: Records,
    /// The ids of the instances with the first revisions.
    ids: Arc<[ContextId]>,
}

/// A group, or the network intents of a cluster, as stored.
#[derive(Clone)]
pub struct Group {
    /// The profile and the actions.
    pub record: Record,
    /// The intent; `None` if the subject was recorded without an intent.
    pub intent: Option<Intent>,
    /// The situation, which decides the possible actions.
    pub situation: Situation,
    /// The context of the last instance.
    pub instance: Option<ContextId>,
    /// The status of this context; `None` without a context, and before the context is created.
    pub status: Option<ContextStatus>,
    /// The revision of the last instance; 0 without an instance.
    pub revision: i64,
}

/// The reason why a resource is not sent or not removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceProblem {
    /// The app.
    pub app: String,
    /// The cluster.
    pub cluster: ClusterName,
    /// The resource, as `<name>+<Kind>`.
    pub resource: String,
    /// The status.
    pub status: RsyncStatus,
    /// The reason, as text for users.
    pub why: String,
}

/// The effect of [`Groups::put`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The group is new.
    Created,
    /// The content of the group changed.
    Changed,
    /// The group has this content already.
    Unchanged,
}

impl Groups {
    /// The groups in these stores.
    pub fn new(contexts: AppContexts, records: Records) -> Self {
        Self {
            contexts,
            records,
            ids: Arc::default(),
        }
    }

    /// The same groups with given ids of instances: the first id is for revision 1, and so on. Later revisions get random
    /// ids.
    #[must_use]
    pub fn with_ids(self, ids: &[ContextId]) -> Self {
        Self {
            ids: ids.into(),
            ..self
        }
    }

    /// Reads a subject.
    ///
    /// # Errors
    /// [`Error::NotFound`], and errors of the store.
    pub fn get(&self, subject: &RecordSubject) -> Result<Group> {
        let record = self.record(subject)?;
        let intent = self.records.intent(subject)?;
        self.group(subject, record, intent)
    }

    /// The reasons why resources of the last instance are not sent or not removed, at most [`RESOURCE_PROBLEMS_MAX`], and
    /// the number of further ones.
    ///
    /// # Errors
    /// [`Error::NotFound`], and errors of the store.
    pub fn problems(&self, subject: &RecordSubject) -> Result<(Vec<ResourceProblem>, usize)> {
        let record = self.record(subject)?;
        let Some(work) = Work::of(&record) else {
            return Ok((Vec::new(), 0));
        };
        let deployed = self.contexts.deployed(&work.status_context)?;
        let problems = deployed.into_iter().filter_map(|(place, deployed)| {
            Some(ResourceProblem {
                why: deployed.why?,
                app: place.app,
                cluster: place.cluster,
                resource: place.resource.to_string(),
                status: deployed.status,
            })
        });
        let mut problems: Vec<_> = problems.collect();
        let further = problems.len().saturating_sub(RESOURCE_PROBLEMS_MAX);
        problems.truncate(RESOURCE_PROBLEMS_MAX);
        Ok((problems, further))
    }

    /// The revisions that a rollback can return to, in ascending order.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn revisions(&self, subject: &RecordSubject) -> Result<Vec<i64>> {
        Ok(self.records.revisions(subject)?)
    }

    /// Creates a subject, or replaces its content. If the content of an approved or terminated group changes, the group
    /// is Created again and needs another approval. The changed content of an instantiated group is sent by the next
    /// update, and needs an approval too. The network intents of a cluster need none. `now` is the time in RFC 3339.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::ReadOnly`], [`Error::Refused`], [`Error::ActionsMax`], [`Error::Contended`], and
    /// errors of the store.
    pub fn put(
        &self,
        subject: &RecordSubject,
        profile: Option<&str>,
        draft: Draft,
        now: &str,
    ) -> Result<Stored> {
        let mut intent = draft.checked_for(subject).map_err(Error::Invalid)?;
        let created = action(LifecycleState::Created, None, now, 0);
        retried(subject, || {
            intent.unapproved = false;
            intent.tag = self.contexts.new_id()?.to_string();
            let Some(record) = self.records.get(subject)? else {
                let record = Record {
                    profile: profile.map(str::to_owned),
                    actions: vec![created.clone()],
                };
                self.records.create_with_intent(subject, &record, &intent)?;
                return Ok(Stored::Created);
            };
            let group = self.tidied(subject, self.own(subject, record)?)?;
            let before = group.intent.as_ref();
            let is_same = before.is_some_and(|before| {
                before.apps == intent.apps && before.controllers == intent.controllers
            });
            if is_same && group.record.profile.as_deref() == profile {
                return Ok(Stored::Unchanged);
            }
            let Situation { of, state, .. } = group.situation;
            let after = group.situation.after(Action::Put)?;
            let mut next = group.record.clone();
            next.profile = profile.map(str::to_owned);
            intent.unapproved = after == Next::Content && of == Lifecycle::Group;
            if after != Next::Content && state != LifecycleState::Created {
                has_room(&group.record)?;
                next.actions.push(created.clone());
            }
            self.records
                .replace_with_intent(subject, &group.record, &next, &intent)?;
            Ok(Stored::Changed)
        })
    }

    /// Deletes a subject with all its contexts.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::ReadOnly`], [`Error::Refused`], [`Error::Contended`], and errors of the store.
    pub fn delete(&self, subject: &RecordSubject) -> Result<()> {
        retried(subject, || {
            let group = self.own(subject, self.record(subject)?)?;
            group.situation.after(Action::Delete)?;
            // The contexts first: if this process ends in between, the record still names them.
            self.delete_contexts(&group.record)?;
            self.records.delete(subject, &group.record)?;
            // A sequence that began before the deletion may have created its context meanwhile.
            self.delete_contexts(&group.record)
        })
    }

    /// Asks for work on a context that no record names, such as one of another orchestrator. Clears its stop flag, and the
    /// result of the same work before, so that the work is repeated. The caller then has [`Sequence::run`](crate::Sequence::run) do the returned job.
    ///
    /// # Errors
    /// [`Error::NoContext`], and errors of the store.
    pub fn ask(&self, id: &ContextId, work: AskedWork) -> Result<Job> {
        self.clear(id, work).map_err(|error| match error {
            StoreError::NotFound { .. } => Error::NoContext(id.clone()),
            error => error.into(),
        })?;
        self.records.ask(id, work)?;
        Ok(Job::Context(id.clone()))
    }

    fn clear(&self, id: &ContextId, work: AskedWork) -> Result<(), StoreError> {
        use ContextStatus::{InstantiateFailed, Instantiated, TerminateFailed, Terminated};
        let context = self.contexts.load(id)?;
        context.stop_flag().set(&false)?;
        let status = context.status().get()?;
        let is_result = match work {
            AskedWork::Instantiate => matches!(status, Some(Instantiated | InstantiateFailed)),
            AskedWork::Terminate => matches!(status, Some(Terminated | TerminateFailed)),
            AskedWork::Read => false,
        };
        if is_result {
            context.status().delete()?;
        }
        Ok(())
    }

    /// The unfinished work, for the start. Subjects without an intent are not included, because another orchestrator works
    /// on them. Work on a context that does not exist any more is forgotten.
    ///
    /// # Errors
    /// Errors of the store. A record that cannot be read is not included.
    pub fn unfinished(&self) -> Result<Vec<Job>> {
        let mut jobs = Vec::new();
        for (subject, record) in self.records.list()?.records {
            let work = Work::of(&record);
            let is_complete = work.map(|work| work.is_complete(&self.contexts));
            if !is_complete.transpose()?.unwrap_or(true) && self.records.intent(&subject)?.is_some()
            {
                jobs.push(Job::Subject(subject));
            }
        }
        for id in self.records.all_asked()? {
            let job = Job::Context(id.clone());
            if Work::read(&job, &self.contexts, &self.records)?.is_some() {
                jobs.push(job);
            } else if let Some(work) = self.records.asked(&id)? {
                self.records.forget_asked(&id, work)?;
            }
        }
        Ok(jobs)
    }

    fn record(&self, subject: &RecordSubject) -> Result<Record> {
        let record = self.records.get(subject)?;
        record.ok_or_else(|| Error::NotFound(subject.clone()))
    }

    /// A subject with an intent.
    fn own(&self, subject: &RecordSubject, record: Record) -> Result<Group> {
        let intent = self.records.intent(subject)?;
        if intent.is_none() {
            return Err(Error::ReadOnly(subject.clone()));
        }
        self.group(subject, record, intent)
    }

    pub(crate) fn group(
        &self,
        subject: &RecordSubject,
        record: Record,
        intent: Option<Intent>,
    ) -> Result<Group> {
        let last = record.actions.last();
        let state = last.map_or(LifecycleState::Created, |action| action.state);
        let work = Work::of(&record);
        let is_complete = work.as_ref().map(|work| work.is_complete(&self.contexts));
        let is_running = !is_complete.transpose()?.unwrap_or(true);
        let mut actions = record.actions.iter().rev();
        let instance = actions.find_map(|action| action.instance.clone());
        let status = match &instance {
            Some(id) => self.status(id)?,
            None => None,
        };
        let is_ended = !is_running && state != LifecycleState::TerminateStopped;
        let is_unapproved = intent.as_ref().is_some_and(|intent| intent.unapproved);
        let last = Instance::all(&record).pop();
        Ok(Group {
            situation: Situation {
                of: Lifecycle::of(subject),
                state,
                is_running,
                is_unapproved,
                has_remains: is_ended && status == Some(ContextStatus::TerminateFailed),
            },
            revision: last.map_or(0, |last| last.revision),
            record,
            intent,
            instance,
            status,
        })
    }

    /// The status of a context; `None` if the context does not exist.
    fn status(&self, id: &ContextId) -> Result<Option<ContextStatus>> {
        match self.contexts.load(id) {
            Ok(context) => Ok(context.status().get()?),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn delete_contexts(&self, record: &Record) -> Result<()> {
        let ids = record
            .actions
            .iter()
            .filter_map(|action| action.instance.as_ref())
            .collect::<BTreeSet<_>>();
        for id in ids {
            self.contexts.delete(id)?;
        }
        Ok(())
    }
}

/// Decides again while other callers are faster.
fn retried<T>(subject: &RecordSubject, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..ATTEMPTS_MAX {
        match attempt() {
            Err(Error::Store(error)) if error.is_conflict() => {}
            done => return done,
        }
    }
    Err(Error::Contended(subject.clone()))
}

fn has_room(record: &Record) -> Result<()> {
    if record.actions.len() < ACTIONS_MAX {
        Ok(())
    } else {
        Err(Error::ActionsMax)
    }
}

fn action(
    state: LifecycleState,
    instance: Option<ContextId>,
    now: &str,
    revision: i64,
) -> Recorded {
    Recorded {
        state,
        instance,
        time: now.to_owned(),
        revision,
    }
}
