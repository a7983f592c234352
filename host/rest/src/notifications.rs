//! The interface to the receivers of notifications.

use kindsight_api::notify::{NotifyReceiverList, NotifyRefusal, NotifyResend, NotifyTest};
use kindsight_model::SubjectSet;

/// The receivers of notifications. The server passes an implementation in [`AppState`](crate::AppState), if the
/// configuration has receivers. Calls block, so they are made on blocking threads.
pub trait Notifications: Send + Sync {
    /// The receivers with their queues, and the dead letters about these subjects. Blocks until the store answers.
    ///
    /// # Errors
    /// See [`NotifyRefusal`].
    fn list(&self, visible: &SubjectSet) -> Result<NotifyReceiverList, NotifyRefusal>;

    /// Sends a test event to a receiver. Blocks until the receiver answers, at most for its timeout.
    ///
    /// # Errors
    /// See [`NotifyRefusal`].
    fn test(&self, receiver: &str) -> Result<NotifyTest, NotifyRefusal>;

    /// Adds the dead letters of a receiver to its queue again. Blocks until the store answers.
    ///
    /// # Errors
    /// See [`NotifyRefusal`].
    fn resend(&self, receiver: &str) -> Result<NotifyResend, NotifyRefusal>;
}
