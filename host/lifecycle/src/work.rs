//! The work that the last action of a record asks for.

use kindsight_appcontext::{AppContexts, DigRecord, Error as StoreError};
use kindsight_model::{ContextId, ContextStatus, LifecycleState};

use crate::Result;

/// Work on one context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    pub(crate) kind: WorkKind,
    pub(crate) context: ContextId,
    /// The position of the action that asks for the work.
    pub(crate) position: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkKind {
    /// Send all resources.
    Instantiate,
    /// Remove all resources.
    Terminate,
    /// End the instantiation or termination.
    Stop,
}

/// The stored progress of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) status: Option<ContextStatus>,
    pub(crate) stop_flag: bool,
}

impl Progress {
    /// Reads the progress; `None` if the context does not exist.
    pub(crate) fn read(contexts: &AppContexts, id: &ContextId) -> Result<Option<Self>> {
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
    /// The work that a record asks for: the work of its last action with a context. An approval after a termination does
    /// not end the termination.
    pub(crate) fn of(record: &DigRecord) -> Option<Self> {
        let mut actions = record.actions.iter().enumerate().rev();
        let (position, action) = actions.find(|(_, action)| action.instance.is_some())?;
        let kind = match action.state {
            LifecycleState::Instantiated => WorkKind::Instantiate,
            LifecycleState::Terminated => WorkKind::Terminate,
            LifecycleState::InstantiateStopped | LifecycleState::TerminateStopped => WorkKind::Stop,
            LifecycleState::Created
            | LifecycleState::Approved
            | LifecycleState::Applied
            | LifecycleState::Updated => return None,
        };
        Some(Self {
            kind,
            context: action.instance.clone()?,
            position,
        })
    }

    /// Returns whether the work is complete.
    ///
    /// A set stop flag means that the stored state is the result of a stop, not of a later termination.
    pub(crate) fn is_complete(&self, contexts: &AppContexts) -> Result<bool> {
        use ContextStatus::{
            InstantiateFailed, Instantiated, Instantiating, TerminateFailed, Terminated,
            Terminating,
        };
        let Some(progress) = Progress::read(contexts, &self.context)? else {
            return Ok(self.kind != WorkKind::Instantiate);
        };
        let status = progress.status;
        Ok(match self.kind {
            WorkKind::Instantiate => matches!(status, Some(Instantiated | InstantiateFailed)),
            WorkKind::Terminate => {
                matches!(status, Some(Terminated | TerminateFailed)) && !progress.stop_flag
            }
            WorkKind::Stop => !matches!(status, None | Some(Instantiating | Terminating)),
        })
    }
}
