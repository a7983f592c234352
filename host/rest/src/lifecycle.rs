//! The interface to the lifecycle of deployment intent groups.

use kindsight_api::lifecycle::{DryRun, Group, GroupIntent, GroupRefusal, GroupState};
use kindsight_model::DigName;

/// An action without a body on a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupCommand {
    /// Approve the intent.
    Approve,
    /// Send the resources.
    Instantiate,
    /// Send the changed content.
    Update,
    /// Send the content of a revision.
    Rollback(i64),
    /// Remove the resources.
    Terminate,
    /// End a running instantiation or termination.
    Stop,
}

/// The groups, as far as the REST API changes them. The server passes an implementation in
/// [`AppState`](crate::AppState), if the lifecycle is enabled.
///
/// Calls block until the store has answered. Only a dry run waits for clusters. They are made on blocking threads, and
/// complete also if the client disconnects.
pub trait GroupLifecycle: Send + Sync {
    /// Reads a group, without the content of Secrets.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn get(&self, name: &DigName) -> Result<Group, GroupRefusal>;

    /// Creates a group, or replaces its content. True in the result means that the group is new.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn put(&self, name: &DigName, intent: GroupIntent) -> Result<(bool, GroupState), GroupRefusal>;

    /// Appends an action to the record of a group. The work begins afterwards. With `force`, the resources that are sent
    /// overwrite the fields of other managers.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn act(
        &self,
        name: &DigName,
        command: GroupCommand,
        force: bool,
    ) -> Result<GroupState, GroupRefusal>;

    /// The effect that an instantiation or an update would have: of the given content, or of the stored content. Asks the
    /// clusters.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn dry_run(&self, name: &DigName, intent: Option<GroupIntent>) -> Result<DryRun, GroupRefusal>;

    /// Deletes a group with its instances.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn delete(&self, name: &DigName) -> Result<(), GroupRefusal>;
}
