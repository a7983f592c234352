//! Resources that are sent to an API server: applied, previewed and deleted.
//!
//! ```text
//! SentObject ─▶ Manifest ─▶ Place (rights, path) ─▶ Link (impersonation, waiting, confirmation) ─▶ API server
//! ```
//!
//! Each call refuses or keeps an object of another owner. A new object is applied on the condition that it does not
//! exist, so it needs one request. For an object that exists, the metadata is read first. No error contains content of a
//! Secret.

mod api_server;
mod apply;
mod bundle_state;
mod custom_kinds;
mod definition;
mod delete;
mod failure;
mod kinds;
mod link;
mod manifest;
mod object_status;
mod place;
mod present;
mod preview;
mod recent;
mod refusals;
mod status;
#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::atomic::AtomicBool;

use kindsight_model::{ClusterName, DeploymentId};
use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard};

use super::KubernetesCluster;
use crate::{Absences, ProjectRights};
pub use api_server::{ApiAnswer, ApiRequest, ApiServer, ApiVerb};
use custom_kinds::AwaitedGroups;
pub use definition::KindDefinition;
use kinds::Kinds;
use link::Link;
pub use object_status::ObjectStatus;
use recent::Recent;

/// Name under which kindsight owns fields.
const FIELD_MANAGER: &str = "kindsight";
/// Number of locks of objects. Calls about one object wait for each other, and rarely calls about two objects.
const LOCKS: usize = 64;

/// Sends resources to the API server of a cluster, with the credentials of its watch.
///
/// Calls may run at the same time. Each call may be repeated.
pub struct ObjectSender {
    cluster: ClusterName,
    link: Link,
    kinds: Kinds,
    awaited: AwaitedGroups,
    absences: Absences,
    recent: Recent,
    /// Held from the check of the owner until the change.
    locks: Vec<Mutex<()>>,
    /// True once the log says that no ResourceBundleState is created.
    has_logged_omission: AtomicBool,
}

/// A resource for an API server. Not `Debug`, because the manifest can be a Secret.
#[derive(Clone, Copy)]
pub struct SentObject<'a> {
    /// The manifest with the label, as JSON. A namespaced resource without a namespace is sent to `default`.
    pub manifest: &'a str,
    /// The value of the label.
    pub deployment: &'a DeploymentId,
    /// The rights of the project.
    pub rights: &'a ProjectRights,
    /// The uid of the applied object, if it is known.
    pub uid: Option<&'a str>,
    /// True if fields of other managers are overwritten.
    pub force: bool,
}

/// The failure of a call, as text for users without content of the resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// A repetition would fail too.
    #[error("{0}")]
    Refused(String),
    /// The API server does not answer, or asks for another attempt.
    #[error("{0}")]
    Unreachable(String),
}

/// An object after its application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedObject {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.generation`; none if its Kind has none.
    pub generation: Option<i64>,
}

/// The result of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectDeletion {
    /// The object does not exist any more.
    Deleted,
    /// The object still exists. The text has the reason, such as its finalizers.
    Deleting(String),
    /// The object belongs to another owner, with the reason. It was not deleted.
    Kept(String),
}

/// The object before and after a dry run, without the members that the API server maintains. Not `Debug`, because it can
/// be a Secret.
pub struct ObjectPreview {
    /// The object at present, if it exists. It has its uid if the applied object had another uid. Then it differs from
    /// `after`, so that it is applied and its uid becomes known.
    pub before: Option<Value>,
    /// The object that an application would make.
    pub after: Value,
}

impl ObjectSender {
    /// A sender to a cluster. It connects at the first call.
    pub fn new(cluster: KubernetesCluster) -> Self {
        Self {
            cluster: cluster.name,
            link: Link::new(cluster.access),
            kinds: Kinds::default(),
            awaited: AwaitedGroups::default(),
            absences: Absences::default(),
            recent: Recent::default(),
            locks: (0..LOCKS).map(|_| Mutex::default()).collect(),
            has_logged_omission: AtomicBool::new(false),
        }
    }

    /// The same sender, which asks the source of the cluster for absent objects before it asks the API server.
    #[must_use]
    pub fn with_absences(self, absences: Absences) -> Self {
        Self { absences, ..self }
    }

    /// The lock of the object with a path.
    async fn lock(&self, path: &str) -> Option<MutexGuard<'_, ()>> {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        let number = usize::try_from(hasher.finish() % (LOCKS as u64)).unwrap_or_default();
        match self.locks.get(number) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        }
    }
}
