//! Deployment intent groups: stored, and changed by actions.

use std::collections::BTreeSet;

use kindsight_appcontext::{Action as Recorded, AppContexts, DigRecord, Intent, Records};
use kindsight_model::{ClusterName, ContextId, ContextStatus, DigName, LifecycleState};

use crate::sender::{CannotSend, Sender};
use crate::state::{Action, Next, Situation};
use crate::work::{Progress, Work};
use crate::{Draft, Error, Result};

/// Maximum number of actions of a group. Each is about 100 bytes in the record, which is read for every action.
pub const ACTIONS_MAX: usize = 1000;
/// The number of times that an action is decided again because another caller was faster. Each failed attempt means that
/// another caller succeeded.
const ATTEMPTS_MAX: usize = 16;

/// The groups of a store. Cheap to clone.
#[derive(Clone)]
pub struct Groups {
    contexts: AppContexts,
    records: Records,
}

/// A group as it is stored.
#[derive(Clone)]
pub struct Group {
    /// The profile and the actions.
    pub record: DigRecord,
    /// The intent; `None` if the group was recorded without an intent.
    pub intent: Option<Intent>,
    /// The situation, which decides the possible actions.
    pub situation: Situation,
    /// The context of the last instance.
    pub instance: Option<ContextId>,
    /// The status of this context; `None` without a context, and before the context is created.
    pub status: Option<ContextStatus>,
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
        Self { contexts, records }
    }

    /// Reads a group.
    ///
    /// # Errors
    /// [`Error::NotFound`], and errors of the store.
    pub fn get(&self, name: &DigName) -> Result<Group> {
        let record = self.records.dig(name)?;
        let record = record.ok_or_else(|| Error::NotFound(name.clone()))?;
        let intent = self.records.intent(name)?;
        self.group(record, intent)
    }

    /// Creates a group, or replaces its content. If the content of an approved or terminated group changes, the group
    /// is Created again and needs another approval. `now` is the time in RFC 3339.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::ReadOnly`], [`Error::Refused`], [`Error::ActionsMax`], [`Error::Contended`], and
    /// errors of the store.
    pub fn put(
        &self,
        name: &DigName,
        profile: Option<&str>,
        draft: Draft,
        now: &str,
    ) -> Result<Stored> {
        let intent = draft.checked().map_err(Error::Invalid)?;
        let created = action(LifecycleState::Created, None, now, 0);
        retried(name, || {
            let Some(record) = self.records.dig(name)? else {
                let record = DigRecord {
                    profile: profile.map(str::to_owned),
                    actions: vec![created.clone()],
                };
                self.records.create_group(name, &record, &intent)?;
                return Ok(Stored::Created);
            };
            let group = self.own(name, record)?;
            let is_same = group.intent.as_ref() == Some(&intent);
            if is_same && group.record.profile.as_deref() == profile {
                return Ok(Stored::Unchanged);
            }
            group.situation.after(Action::Apply)?;
            let mut next = group.record.clone();
            next.profile = profile.map(str::to_owned);
            if group.situation.state != LifecycleState::Created {
                has_room(&group.record)?;
                next.actions.push(created.clone());
            }
            self.records
                .replace_group(name, &group.record, &next, &intent)?;
            Ok(Stored::Changed)
        })
    }

    /// Appends an action to the record of a group, if the action is possible, and returns the group after the action.
    /// The caller then has [`Sequence::run`](crate::Sequence::run) do the work.
    ///
    /// The actions [`Action::Apply`] and [`Action::Delete`] are [`Groups::put`] and [`Groups::delete`].
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::ReadOnly`], [`Error::Refused`], [`Error::CannotSend`], [`Error::ActionsMax`],
    /// [`Error::Contended`], and errors of the store.
    pub fn act(
        &self,
        name: &DigName,
        wanted: Action,
        sender: &dyn Sender,
        now: &str,
    ) -> Result<Group> {
        retried(name, || {
            let group = self.own(name, self.record(name)?)?;
            let state = match group.situation.after(wanted)? {
                Next::State(state) => state,
                Next::Unchanged | Next::Deleted => return Ok(group),
            };
            check_clusters(&group, wanted, sender)?;
            // A group can always be terminated. A termination follows an instantiation or a stop, which are limited.
            if wanted != Action::Terminate {
                has_room(&group.record)?;
            }
            let (instance, revision) = match wanted {
                Action::Instantiate => (Some(self.contexts.new_id()?), next_revision(&group)),
                Action::Terminate | Action::Stop => (group.instance.clone(), 0),
                Action::Apply | Action::Approve | Action::Delete => (None, 0),
            };
            let appended = action(state, instance, now, revision);
            let record = self.records.append_dig(name, &group.record, appended)?;
            self.group(record, group.intent)
        })
    }

    /// Deletes a group with all its contexts.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::ReadOnly`], [`Error::Refused`], [`Error::Contended`], and errors of the store.
    pub fn delete(&self, name: &DigName) -> Result<()> {
        retried(name, || {
            let group = self.own(name, self.record(name)?)?;
            group.situation.after(Action::Delete)?;
            // The contexts first: if this process ends in between, the record still names them.
            self.delete_contexts(&group.record)?;
            self.records.delete_dig(name, &group.record)?;
            // A sequence that began before the deletion may have created its context meanwhile.
            self.delete_contexts(&group.record)
        })
    }

    /// The names of groups with unfinished work, for the start. Groups without an intent are not included, because
    /// another orchestrator works on them.
    ///
    /// # Errors
    /// Errors of the store. A record that cannot be read is not included.
    pub fn unfinished(&self) -> Result<Vec<DigName>> {
        let mut names = Vec::new();
        for (name, record) in self.records.digs()?.records {
            let work = Work::of(&record);
            let is_complete = work.map(|work| work.is_complete(&self.contexts));
            if !is_complete.transpose()?.unwrap_or(true) && self.records.intent(&name)?.is_some() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn record(&self, name: &DigName) -> Result<DigRecord> {
        let record = self.records.dig(name)?;
        record.ok_or_else(|| Error::NotFound(name.clone()))
    }

    /// A group with an intent.
    fn own(&self, name: &DigName, record: DigRecord) -> Result<Group> {
        let intent = self.records.intent(name)?;
        if intent.is_none() {
            return Err(Error::ReadOnly(name.clone()));
        }
        self.group(record, intent)
    }

    fn group(&self, record: DigRecord, intent: Option<Intent>) -> Result<Group> {
        let last = record.actions.last();
        let state = last.map_or(LifecycleState::Created, |action| action.state);
        let work = Work::of(&record);
        let is_complete = work.as_ref().map(|work| work.is_complete(&self.contexts));
        let is_running = !is_complete.transpose()?.unwrap_or(true);
        let mut actions = record.actions.iter().rev();
        let instance = actions.find_map(|action| action.instance.clone());
        let progress = instance
            .as_ref()
            .map(|id| Progress::read(&self.contexts, id));
        let progress = progress.transpose()?.flatten();
        Ok(Group {
            record,
            intent,
            situation: Situation { state, is_running },
            instance,
            status: progress.and_then(|progress| progress.status),
        })
    }

    fn delete_contexts(&self, record: &DigRecord) -> Result<()> {
        let ids = record
            .actions
            .iter()
            .filter_map(|it| it.instance.as_ref())
            .collect::<BTreeSet<_>>();
        for id in ids {
            self.contexts.delete(id)?;
        }
        Ok(())
    }
}

/// Decides again while other callers are faster.
fn retried<T>(name: &DigName, mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 0..ATTEMPTS_MAX {
        match attempt() {
            Err(Error::Store(error)) if error.is_conflict() => {}
            done => return done,
        }
    }
    Err(Error::Contended(name.clone()))
}

fn has_room(record: &DigRecord) -> Result<()> {
    if record.actions.len() < ACTIONS_MAX {
        Ok(())
    } else {
        Err(Error::ActionsMax)
    }
}

/// Checks the clusters of a group before an approval or an instantiation. An approval needs known clusters; an
/// instantiation needs clusters that resources can be sent to.
fn check_clusters(group: &Group, wanted: Action, sender: &dyn Sender) -> Result<()> {
    if !matches!(wanted, Action::Approve | Action::Instantiate) {
        return Ok(());
    }
    let apps = group.intent.iter().flat_map(|intent| &intent.apps);
    let clusters: BTreeSet<&ClusterName> = apps.flat_map(|app| &app.clusters).collect();
    let reasons = clusters
        .into_iter()
        .filter_map(|cluster| sender.check(cluster).err());
    let counts = |reason: &CannotSend| {
        wanted == Action::Instantiate || matches!(reason, CannotSend::Unknown(_))
    };
    let reasons: Vec<CannotSend> = reasons.filter(counts).collect();
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(Error::CannotSend(reasons))
    }
}

fn next_revision(group: &Group) -> i64 {
    let revisions = group.record.actions.iter().map(|action| action.revision);
    revisions.max().unwrap_or_default().saturating_add(1)
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
