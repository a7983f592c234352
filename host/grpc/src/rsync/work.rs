//! The interface to the work on contexts.

use kindsight_model::{ContextId, DigName};

/// The subject of a context, for the rights of a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkSubject {
    /// A deployment intent group.
    Group(DigName),
    /// Anything else, such as a logical cloud or network intents. Only a deployer of everything may change it.
    Other,
}

/// The reason why work was not recorded. The texts are for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    /// There is no such context, or the caller may not see it.
    #[error("there is no AppContext {0}")]
    NotFound(ContextId),
    /// The work is not possible.
    #[error("{0}")]
    Refused(String),
    /// The caller does not have the role.
    #[error("{0}")]
    Denied(String),
    /// The store does not answer: the client tries again.
    #[error("{0}")]
    Unavailable(String),
}

/// The work on contexts by their IDs. The server passes an implementation to [`Rsync`](crate::Rsync).
///
/// Calls block until the store has answered. The work itself begins after the call. A repeated call has no further
/// effect.
pub trait ContextWork: Send + Sync {
    /// Finds the subject of a context.
    ///
    /// # Errors
    /// [`WorkError::NotFound`] and [`WorkError::Unavailable`].
    fn subject(&self, id: &ContextId) -> Result<WorkSubject, WorkError>;

    /// Records a request to send the resources of a context to their clusters.
    ///
    /// # Errors
    /// [`WorkError`] with the reason. Nothing is recorded.
    fn install(&self, id: &ContextId) -> Result<(), WorkError>;

    /// Records a request to remove the resources of a context from their clusters.
    ///
    /// # Errors
    /// [`WorkError`] with the reason. Nothing is recorded.
    fn uninstall(&self, id: &ContextId) -> Result<(), WorkError>;

    /// Records a request to read the resources of a context from their clusters.
    ///
    /// # Errors
    /// [`WorkError`] with the reason. Nothing is recorded.
    fn read(&self, id: &ContextId) -> Result<(), WorkError>;
}
