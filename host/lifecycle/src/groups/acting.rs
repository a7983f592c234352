//! Actions that are appended to a record.

use std::collections::BTreeSet;

use kindsight_appcontext::{Intent, Record};
use kindsight_model::{ClusterName, ContextId, LifecycleState, RecordSubject};

use super::{ContentCondition, Group, Groups, action, has_room, retried};
use crate::sender::{CannotSend, Sender};
use crate::state::{Action, Next};
use crate::{Error, Result};

/// An action that is appended to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// [`Action::Apply`].
    Apply,
    /// [`Action::Approve`].
    Approve,
    /// [`Action::Instantiate`].
    Instantiate,
    /// [`Action::Update`].
    Update,
    /// [`Action::Rollback`] to a revision.
    Rollback(i64),
    /// [`Action::Terminate`].
    Terminate,
    /// [`Action::Stop`].
    Stop,
}

impl Command {
    /// The action.
    pub fn action(self) -> Action {
        match self {
            Self::Apply => Action::Apply,
            Self::Approve => Action::Approve,
            Self::Instantiate => Action::Instantiate,
            Self::Update => Action::Update,
            Self::Rollback(_) => Action::Rollback,
            Self::Terminate => Action::Terminate,
            Self::Stop => Action::Stop,
        }
    }
}

impl Groups {
    /// Appends an action to the record of a subject, if the action is possible, and returns the subject after the action.
    /// The caller then has [`Sequence::run`](crate::Sequence::run) do the work. With `force`, the resources that an
    /// instantiation, an `apply`, an update or a rollback sends overwrite the fields of other managers.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::ReadOnly`], [`Error::Refused`], [`Error::NoRevision`], [`Error::CannotSend`],
    /// [`Error::ActionsMax`], [`Error::Contended`], and errors of the store.
    pub fn act(
        &self,
        subject: &RecordSubject,
        (command, force): (Command, bool),
        sender: &dyn Sender,
        now: &str,
    ) -> Result<Group> {
        let any = ContentCondition::Any;
        self.act_on(subject, &any, (command, force), (sender, now))
    }

    /// Approves the stored content of a group if it meets a condition. As [`Groups::act`].
    ///
    /// # Errors
    /// [`Error::OtherContent`], and as [`Groups::act`].
    pub fn approve(
        &self,
        subject: &RecordSubject,
        condition: &ContentCondition,
        sender: &dyn Sender,
        now: &str,
    ) -> Result<Group> {
        self.act_on(subject, condition, (Command::Approve, false), (sender, now))
    }

    fn act_on(
        &self,
        subject: &RecordSubject,
        condition: &ContentCondition,
        (command, force): (Command, bool),
        (sender, now): (&dyn Sender, &str),
    ) -> Result<Group> {
        retried(subject, || {
            let group = self.own(subject, self.record(subject)?)?;
            condition.check(&group)?;
            let group = self.tidied(subject, group)?;
            let next = group.situation.after(command.action())?;
            if matches!(next, Next::Unchanged | Next::Deleted) {
                return Ok(group);
            }
            let mut content = self.content(subject, &group, command)?;
            content.force = force;
            check_clusters(&content, command, sender)?;
            let Next::State(state) = next else {
                return self.approve_content(subject, &group);
            };
            // A first termination needs no room: it follows an action that is limited.
            if command != Command::Terminate || group.situation.has_remains {
                has_room(&group.record)?;
            }
            let record = self.append(subject, &group, (command, state, &content), now)?;
            let intent = self.records.intent(subject)?;
            self.group(subject, record, intent)
        })
    }

    /// The content that a command is about.
    fn content(&self, subject: &RecordSubject, group: &Group, command: Command) -> Result<Intent> {
        let Command::Rollback(revision) = command else {
            return Ok(group.intent.clone().unwrap_or_default());
        };
        match self.records.revision(subject, revision)? {
            Some(content) => Ok(content),
            None => Err(Error::NoRevision {
                revision,
                known: self.records.revisions(subject)?,
            }),
        }
    }

    /// Approves the changed content of an instantiated group.
    fn approve_content(&self, subject: &RecordSubject, group: &Group) -> Result<Group> {
        let seen = group.intent.clone().unwrap_or_default();
        let mut next = seen.clone();
        next.unapproved = false;
        let record = &group.record;
        self.records
            .approve(subject, (record, &seen), (record, &next))?;
        self.group(subject, group.record.clone(), Some(next))
    }

    /// The id of the instance with a new revision.
    fn new_id(&self, revision: i64) -> Result<ContextId> {
        let position = usize::try_from(revision.saturating_sub(1)).ok();
        match position.and_then(|position| self.ids.get(position)) {
            Some(given) => Ok(given.clone()),
            None => Ok(self.contexts.new_id()?),
        }
    }

    /// Sets the stop flag of the last instance, so that the result of its last termination does not count as the result of
    /// the next one. If this process ends before, the next termination counts as failed, and can be requested again.
    fn forget_termination(&self, group: &Group) -> Result<()> {
        if let Some(instance) = &group.instance {
            let _ = self.contexts.record_stop_flag(instance, true)?;
        }
        Ok(())
    }

    fn append(
        &self,
        subject: &RecordSubject,
        group: &Group,
        (command, state, content): (Command, LifecycleState, &Intent),
        now: &str,
    ) -> Result<Record> {
        let seen = &group.record;
        let mut appended = match command {
            Command::Approve => {
                let mut next = seen.clone();
                next.actions.push(action(state, None, now, 0));
                let stored = group.intent.clone().unwrap_or_default();
                let mut approved = stored.clone();
                approved.unapproved = false;
                self.records
                    .approve(subject, (seen, &stored), (&next, &approved))?;
                return Ok(next);
            }
            Command::Terminate | Command::Stop => {
                let appended = action(state, group.instance.clone(), now, 0);
                let record = self.records.append(subject, seen, appended)?;
                if command == Command::Terminate && group.situation.has_remains {
                    self.forget_termination(group)?;
                }
                return Ok(record);
            }
            Command::Instantiate | Command::Apply => Vec::new(),
            Command::Update | Command::Rollback(_) => {
                let source = group.instance.clone();
                vec![action(LifecycleState::Updated, source, now, group.revision)]
            }
        };
        let revision = next_revision(seen);
        let instance = Some(self.new_id(revision)?);
        appended.push(action(state, instance, now, revision));
        let mut content = content.clone();
        content.unapproved = false;
        let record = self
            .records
            .append_revision(subject, seen, appended, (revision, &content))?;
        Ok(record)
    }
}

/// Checks the clusters of a content. An approval needs known clusters; every action that sends resources needs
/// clusters that resources can be sent to, and one such cluster of each group of clusters.
fn check_clusters(content: &Intent, command: Command, sender: &dyn Sender) -> Result<()> {
    let is_sent = match command {
        Command::Approve => false,
        Command::Apply | Command::Instantiate | Command::Update | Command::Rollback(_) => true,
        Command::Terminate | Command::Stop => return Ok(()),
    };
    let apps = content.apps.iter();
    let all: BTreeSet<&ClusterName> = apps.clone().flat_map(|app| &app.clusters).collect();
    let reason = |cluster: &ClusterName| sender.check(cluster).err();
    let counts = |reason: &CannotSend| is_sent || matches!(reason, CannotSend::Unknown(_));
    let reasons = all.into_iter().filter_map(reason).filter(counts);
    let mut reasons: Vec<CannotSend> = reasons.collect();
    for group in apps.flat_map(|app| &app.any_of) {
        let of_group: Vec<CannotSend> = group.iter().filter_map(reason).collect();
        if !is_sent {
            reasons.extend(of_group.into_iter().filter(counts));
        } else if of_group.len() == group.len() {
            reasons.extend(of_group);
        }
    }
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(Error::CannotSend(reasons))
    }
}

fn next_revision(record: &Record) -> i64 {
    let revisions = record.actions.iter().map(|action| action.revision);
    revisions.max().unwrap_or_default().saturating_add(1)
}
