//! The interface to clusters that resources are sent to.

use kindsight_model::{ClusterName, DeploymentId};

/// An app in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
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

    /// Applies a resource.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn apply(&self, target: &Target, resource: &SentResource<'_>) -> Result<(), SendError>;

    /// Removes a resource. A resource that does not exist is no error.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn delete(&self, target: &Target, resource: &SentResource<'_>) -> Result<(), SendError>;

    /// Removes the remains of an app, after each of its resources was removed.
    ///
    /// # Errors
    /// [`SendError`] with the reaction to the failure.
    fn removed(&self, target: &Target) -> Result<(), SendError>;
}
