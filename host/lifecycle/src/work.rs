//! The work that the last action of a record asks for, or that is asked for on a context.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use kindsight_appcontext::{Action, AppContexts, AskedWork, Error as StoreError, Record, Records};
use kindsight_model::{ContextId, ContextStatus, LifecycleState, NameError, RecordSubject};

use crate::Result;

#[cfg(test)]
mod tests;

/// The one that asks for work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Job {
    /// The record of a group or a cluster.
    Subject(RecordSubject),
    /// A context that no record names.
    Context(ContextId),
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subject(subject) => subject.name().fmt(f),
            Self::Context(id) => id.fmt(f),
        }
    }
}

impl FromStr for Job {
    type Err = NameError;

    /// Reads the text of a job.
    fn from_str(text: &str) -> Result<Self, NameError> {
        // The id of a context has neither separator.
        if text.contains('/') {
            let group = text.parse();
            return group.map(|name| Self::Subject(RecordSubject::Group(name)));
        }
        if text.contains('+') {
            let cluster = text.parse();
            return cluster.map(|name| Self::Subject(RecordSubject::Cluster(name)));
        }
        text.parse().map(Self::Context)
    }
}

/// Work on one context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) kind: WorkKind,
    pub(crate) context: ContextId,
    /// The context with the statuses, whose id is the label of the resources: the context of the first instance since
    /// the last termination. A stopped termination does not count.
    pub(crate) status_context: ContextId,
    /// The context that an update replaces.
    pub(crate) source: Option<ContextId>,
    /// The revision whose content the context has. 0 for a context that no record names.
    pub(crate) revision: i64,
    /// The revision whose content the status context has.
    pub(crate) status_revision: i64,
    /// The position of the action that asks for the work.
    position: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkKind {
    /// Send all resources.
    Instantiate,
    /// Remove all resources.
    Terminate,
    /// End the instantiation or termination.
    Stop,
    /// Read the live objects into the context.
    Read,
}

/// The status of a context that is written and that nobody began to send.
pub const CREATED: &str = "Created";

/// The stored progress of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Progress {
    status: Option<ContextStatus>,
    stop_flag: bool,
}

impl Progress {
    /// Reads the progress; `None` if the context does not exist.
    fn read(contexts: &AppContexts, id: &ContextId) -> Result<Option<Self>> {
        let context = match contexts.load(id) {
            Ok(context) => context,
            Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Self {
            status: context.status().get()?,
            stop_flag: context.stop_flag().get()?.unwrap_or_default(),
        }))
    }
}

impl Work {
    /// Reads the work that is asked for.
    pub(crate) fn read(
        job: &Job,
        contexts: &AppContexts,
        records: &Records,
    ) -> Result<Option<Self>> {
        match job {
            Job::Subject(subject) => Ok(records.get(subject)?.as_ref().and_then(Self::of)),
            Job::Context(id) => Self::asked(id, contexts, records),
        }
    }

    /// The work that a record asks for: the work of its last action with a context. An approval after a termination does
    /// not end the termination.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let mut actions = record.actions.iter().enumerate().rev();
        let (position, action) = actions.find(|(_, action)| action.instance.is_some())?;
        let kind = match action.state {
            LifecycleState::Instantiated | LifecycleState::Applied => WorkKind::Instantiate,
            LifecycleState::Terminated => WorkKind::Terminate,
            LifecycleState::InstantiateStopped | LifecycleState::TerminateStopped => WorkKind::Stop,
            LifecycleState::Created | LifecycleState::Approved | LifecycleState::Updated => {
                return None;
            }
        };
        let context = action.instance.clone()?;
        let instance = Instance::all(record)
            .into_iter()
            .rfind(|instance| instance.context == context)?;
        Some(Self {
            kind,
            context,
            status_context: instance.status_context,
            source: instance.source,
            revision: instance.revision,
            status_revision: instance.status_revision,
            position,
        })
    }

    /// The work that is asked for on a context. A set stop flag asks for the end of the work.
    fn asked(id: &ContextId, contexts: &AppContexts, records: &Records) -> Result<Option<Self>> {
        let Some(asked) = records.asked(id)? else {
            return Ok(None);
        };
        let context = match contexts.load(id) {
            Ok(context) => context,
            Err(StoreError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let kind = match asked {
            _ if context.stop_flag().get()?.unwrap_or_default() => WorkKind::Stop,
            AskedWork::Instantiate => WorkKind::Instantiate,
            AskedWork::Terminate => WorkKind::Terminate,
            AskedWork::Read => WorkKind::Read,
        };
        let status_context = context.status_context().get()?;
        Ok(Some(Self {
            kind,
            context: id.clone(),
            status_context: status_context.unwrap_or_else(|| id.clone()),
            source: None,
            revision: 0,
            status_revision: 0,
            position: 0,
        }))
    }

    /// The same work, wherever the record asks for it.
    pub(crate) fn without_position(self) -> Self {
        Self {
            position: 0,
            ..self
        }
    }

    /// Returns whether the work is complete.
    ///
    /// A set stop flag means that the stored state is the result of a stop or of an earlier termination, not of the last
    /// one.
    pub(crate) fn is_complete(&self, contexts: &AppContexts) -> Result<bool> {
        use ContextStatus::{
            InstantiateFailed, Instantiated, Instantiating, TerminateFailed, Terminated,
            Terminating,
        };
        let Some(progress) = Progress::read(contexts, &self.context)? else {
            return Ok(match self.kind {
                WorkKind::Instantiate => false,
                // The previous instances still have to be removed.
                WorkKind::Terminate => self.context == self.status_context,
                WorkKind::Stop | WorkKind::Read => true,
            });
        };
        let status = progress.status;
        Ok(match self.kind {
            WorkKind::Instantiate => matches!(status, Some(Instantiated | InstantiateFailed)),
            WorkKind::Terminate => {
                matches!(status, Some(Terminated | TerminateFailed)) && !progress.stop_flag
            }
            WorkKind::Stop => !matches!(status, None | Some(Instantiating | Terminating)),
            // The request is forgotten as soon as all objects are read.
            WorkKind::Read => false,
        })
    }
}

/// An instance of a group, or of the network intents of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    pub(crate) context: ContextId,
    pub(crate) status_context: ContextId,
    /// The revision of the instance with the status context.
    status_revision: i64,
    /// The context that it replaced, if it is an update.
    pub(crate) source: Option<ContextId>,
    pub(crate) revision: i64,
}

impl Instance {
    /// All instances of a record, oldest first.
    pub(crate) fn all(record: &Record) -> Vec<Self> {
        let mut instances: Vec<Self> = Vec::new();
        let mut before: Option<&Action> = None;
        for action in &record.actions {
            let updated = before.filter(|action| {
                use LifecycleState::{Applied, Updated};
                matches!(action.state, Applied | Updated)
            });
            let source = updated.and_then(|action| action.instance.clone());
            // After a stopped termination, resources of the previous instance remain.
            let is_stopped = |action: &Action| action.state == LifecycleState::TerminateStopped;
            let is_continued = updated.is_some() || before.is_some_and(is_stopped);
            before = Some(action);
            let Some(context) = &action.instance else {
                continue;
            };
            if !matches!(
                action.state,
                LifecycleState::Instantiated | LifecycleState::Applied
            ) {
                continue;
            }
            let first = instances.last().filter(|_| is_continued);
            let first = first.map(|last| (last.status_context.clone(), last.status_revision));
            let own = (context.clone(), action.revision);
            let (status_context, status_revision) = first.unwrap_or(own);
            instances.push(Self {
                context: context.clone(),
                status_context,
                status_revision,
                source,
                revision: action.revision,
            });
        }
        instances
    }

    /// The contexts that are kept if the last `kept` instances are: their own, and those with their statuses.
    pub(crate) fn kept(instances: &[Self], kept: usize) -> BTreeSet<ContextId> {
        let last = instances.iter().rev().take(kept);
        last.flat_map(|instance| [instance.context.clone(), instance.status_context.clone()])
            .collect()
    }
}
