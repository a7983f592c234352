//! The interface to controllers, which change a context before anything is sent.

use std::collections::BTreeMap;

use kindsight_model::ContextId;

/// The failure of a controller. The texts name the controller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPrepared {
    /// A controller failed: the instantiation fails, and nothing is sent.
    #[error("{0}")]
    Refused(String),
    /// The attempt is repeated later.
    #[error("{0}")]
    Unreachable(String),
}

/// Controllers that change the context of an instance, such as placement controllers. The server passes an implementation
/// to [`Sequence`](crate::Sequence).
pub trait Preparation: Send + Sync {
    /// Has the controllers change a context that was created, before the clusters of any-of groups are chosen. The context
    /// is read again afterwards. A call may be repeated after a restart. `intents` has the names of the intents that the
    /// group asks for, by the names of the controllers.
    ///
    /// # Errors
    /// [`NotPrepared`] with the reason.
    fn prepare(
        &self,
        instance: &ContextId,
        intents: &BTreeMap<String, String>,
    ) -> Result<(), NotPrepared>;
}
