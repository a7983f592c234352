//! The interface to the lifecycle of deployment intent groups and of the network intents of clusters.

use kindsight_api::lifecycle::{DryRun, Group, GroupIntent, GroupRefusal, GroupState};
use kindsight_model::RecordSubject;

/// An action on a group or on network intents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupCommand {
    /// Send the network intents of a cluster.
    Apply,
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

/// The groups and the network intents of clusters, as far as the REST API changes them. Network intents have the form of
/// the content of a group: the manifests of one app. The server passes an implementation in
/// [`AppState`](crate::AppState), if the lifecycle is enabled.
///
/// Calls block until the store has answered. Only a dry run waits for clusters. They are made on blocking threads, and
/// complete also if the client disconnects.
pub trait GroupLifecycle: Send + Sync {
    /// Reads a subject, without the content of Secrets.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn get(&self, subject: &RecordSubject) -> Result<Group, GroupRefusal>;

    /// Creates a subject, or replaces its content. True in the result means that it is new.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn put(
        &self,
        subject: &RecordSubject,
        intent: GroupIntent,
    ) -> Result<(bool, GroupState), GroupRefusal>;

    /// Approves the content of a group. With `tags`, the content must have one of these tags.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn approve(
        &self,
        subject: &RecordSubject,
        tags: Option<Vec<String>>,
    ) -> Result<GroupState, GroupRefusal>;

    /// Appends an action to the record of a subject. The work begins afterwards. With `force`, the resources that are sent
    /// overwrite the fields of other managers.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn act(
        &self,
        subject: &RecordSubject,
        command: GroupCommand,
        force: bool,
    ) -> Result<GroupState, GroupRefusal>;

    /// The effect that an instantiation or an update would have: of the given content, or of the stored content. Asks the
    /// clusters.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn dry_run(
        &self,
        subject: &RecordSubject,
        intent: Option<GroupIntent>,
    ) -> Result<DryRun, GroupRefusal>;

    /// Deletes a subject with its instances.
    ///
    /// # Errors
    /// See [`GroupRefusal`].
    fn delete(&self, subject: &RecordSubject) -> Result<(), GroupRefusal>;
}
