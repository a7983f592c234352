//! The interface to clusters that resources are sent to.

use kindsight_model::{ClusterName, DeploymentId};

/// An app in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The project, which decides the rights. Empty if the context names no project. `None` for the network intents of a
    /// cluster, which belong to no project.
    pub project: Option<String>,
    /// The cluster.
    pub cluster: ClusterName,
    /// The value of the label of every resource.
    pub deployment: DeploymentId,
}

/// A resource of an app in one cluster. Not `Debug`, because the manifest can be a Secret.
#[derive(Clone, Copy)]
pub struct SentResource<'a> {
    /// The position in the order of application, from 0.
    pub position: usize,
    /// The name.
    pub name: &'a str,
    /// The Kind.
    pub kind: &'a str,
    /// The manifest with the label, as JSON.
    pub manifest: &'a str,
    /// The uid of the applied object, if it is known.
    pub uid: Option<&'a str>,
    /// True if fields of other managers are overwritten.
    pub force: bool,
}

/// The status of an object that another client created.
#[derive(Debug, Clone, Copy)]
pub struct SentStatus<'a> {
    /// The cluster.
    pub cluster: &'a ClusterName,
    /// `group/version` of the Kind.
    pub api_version: &'a str,
    /// The plural of the Kind in paths.
    pub plural: &'a str,
    /// The namespace.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
    /// Complete bodies of an application, as JSON. The next one is sent if the schema of the Kind does not declare a member
    /// of the previous one.
    pub forms: &'a [String],
}

/// The definition of a Kind that an operator installs.
#[derive(Debug, Clone, Copy)]
pub struct SentDefinition<'a> {
    /// The cluster.
    pub cluster: &'a ClusterName,
    /// The name of the `CustomResourceDefinition`.
    pub name: &'a str,
    /// The `CustomResourceDefinition`, as YAML.
    pub manifest: &'a str,
    /// The name of the field manager. A definition that has fields of this manager was installed earlier.
    pub manager: &'a str,
}

/// The result of the installation of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstalledDefinition {
    /// The cluster has the definition.
    Own,
    /// The cluster has a definition of another origin. The installation changed nothing.
    Kept,
}

/// A resource that was applied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// The uid of the object. `None` if the cluster gives none.
    pub uid: Option<String>,
    /// `metadata.generation` of the object. `None` if its Kind has none, or the cluster gives none.
    pub generation: Option<i64>,
}

/// The result of a deletion that the cluster accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deletion {
    /// The resource does not exist any more.
    Deleted,
    /// The resource still exists, for example because of its finalizers. The deletion is repeated later.
    Deleting {
        /// The reason, as text for users.
        why: String,
    },
    /// The resource belongs to another owner. It stays.
    Kept {
        /// The reason, as text for users.
        why: String,
    },
}

/// The change that an application of a resource would make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The resource does not exist.
    Create,
    /// The resource exists and differs.
    Update,
    /// The resource exists and is equal.
    Unchanged,
}

/// The result of a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The change.
    pub change: Change,
    /// The JSON paths of the fields that would change, such as `spec.replicas`. The paths have no values, because the
    /// resource can be a Secret.
    pub differences: Vec<String>,
}

/// The reason why nothing can be sent to a cluster, as text for users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotSend {
    /// The cluster is not configured.
    #[error("the cluster {0} is not configured")]
    Unknown(ClusterName),
    /// The cluster is configured, but nothing can be sent to it.
    #[error("nothing can be sent to the cluster {cluster}: {reason}")]
    Unsupported {
        /// The cluster.
        cluster: ClusterName,
        /// The reason, as a fragment of a sentence.
        reason: &'static str,
    },
}

/// The failure of an attempt to send or remove a resource. The texts contain no content of the resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The cluster refuses the resource: it is Failed, without a further attempt.
    #[error("the cluster refuses it: {0}")]
    Refused(String),
    /// The cluster does not answer: the resource is Retrying.
    #[error("the cluster cannot be reached: {0}")]
    Unreachable(String),
}

/// The clusters that resources are sent to. The server passes an implementation to
/// [`Sequence`](crate::Sequence).
///
/// Calls block. After a restart, a call may be repeated: the repetition must have no further effect.
pub trait Sender: Send + Sync {
    /// Checks whether resources can be sent to a cluster. Called before the first resource of an instance is sent.
    ///
    /// # Errors
    /// [`CannotSend`] with the reason.
    fn check(&self, cluster: &ClusterName) -> Result<(), CannotSend>;

    /// Checks a resource before anything is sent: the cluster may be asked whether another application owns the resource,
    /// and whether the project may use its Kind and namespace.
    ///
    /// # Errors
    /// [`SendError`] with the reason.
    fn vet(&self, target: &Target, resource: &SentResource<'_>) -> Result<(), SendError>;

    /// Applies a resource.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn apply(&self, target: &Target, resource: &SentResource<'_>) -> Result<Applied, SendError>;

    /// Computes the change that [`Sender::apply`] would make. Changes nothing.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn preview(&self, target: &Target, resource: &SentResource<'_>) -> Result<Preview, SendError>;

    /// Reads the live object of a resource, as JSON.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure, also if the object does not exist or is a Secret.
    fn read(&self, target: &Target, resource: &SentResource<'_>) -> Result<String, SendError>;

    /// Removes a resource. A resource that does not exist is [`Deletion::Deleted`].
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn delete(&self, target: &Target, resource: &SentResource<'_>) -> Result<Deletion, SendError>;

    /// Asks the monitor in the cluster for reports on an app: creates its ResourceBundleState. Called after the first
    /// resource of the app was handled.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn announce(&self, target: &Target) -> Result<(), SendError>;

    /// Applies the status of an object, as the only owner of its members. Changes nothing else.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure, also if the object does not exist.
    fn apply_status(&self, status: &SentStatus<'_>) -> Result<(), SendError>;

    /// Installs the definition of a Kind, or brings an earlier installation up to date. Does not change a definition of
    /// another origin.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn install(&self, definition: &SentDefinition<'_>) -> Result<InstalledDefinition, SendError>;

    /// Removes the remains of an app, after each of its resources was removed.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn removed(&self, target: &Target) -> Result<(), SendError>;
}
