//! Transitions: changes of the state of a resource or of an application.
//!
//! There are no transitions of an app in a cluster, because its state follows from its resources. The reason
//! of an application's transition names the resource that caused it.

mod diff;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use kindsight_api::history::TransitionCause;
use kindsight_model::{ClusterName, Digest, Gvk, InterpretedBy, Object, Phase};
use serde::{Deserialize, Serialize};

pub(crate) use diff::identity;
pub use diff::{Before, awaits_reports, mark_left, transitions};

/// Maximum length of the message of a transition, in bytes; longer messages are truncated.
pub const TRANSITION_MESSAGE_BYTES_MAX: usize = 512;

/// A resource of an application. Two values are equal if they differ only in the API version.
#[derive(Debug, Clone)]
pub struct ResourceId {
    /// Its app.
    pub app: Arc<str>,
    /// Its cluster.
    pub cluster: ClusterName,
    /// Group, version and Kind. For a resource with an unreadable manifest, only the Kind is known.
    pub gvk: Gvk,
    /// Its namespace. For a resource that was sent, the namespace of the manifest, which is known before the
    /// object exists.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
}

impl ResourceId {
    fn parts(&self) -> (&str, &ClusterName, [&str; 4]) {
        let of_object = [&self.gvk.kind, &self.gvk.group, &self.namespace, &self.name];
        (&self.app, &self.cluster, of_object.map(AsRef::as_ref))
    }
}

impl PartialEq for ResourceId {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for ResourceId {}

impl Hash for ResourceId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

/// A phase, with the interpreter's word for the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseState {
    /// The phase.
    pub phase: Phase,
    /// The state.
    pub state: Arc<str>,
}

/// A mark that identifies the content of an object: part of the digest of its text.
pub fn object_mark(object: &Object) -> Arc<str> {
    Digest::of(object.json.as_bytes()).short().into()
}

/// One change of phase or state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The resource; `None` for the application's own state.
    pub resource: Option<Arc<ResourceId>>,
    /// The previous state; `None` if the resource is new.
    pub from: Option<PhaseState>,
    /// The new state; `None` if the resource is no longer listed.
    pub to: Option<PhaseState>,
    /// Time when the change was observed, in Unix milliseconds.
    pub at_ms: i64,
    /// Start of the state according to the object, if it has a time; for an application, the time of the
    /// change that caused its state. In Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Reason of the state, in one word; may be empty.
    pub reason: Arc<str>,
    /// Reason of the state, in a sentence of at most [`TRANSITION_MESSAGE_BYTES_MAX`]; may be empty.
    pub message: Arc<str>,
    /// The interpreter that gave the state; `None` if the host itself gave it.
    pub by: Option<Arc<InterpretedBy>>,
    /// Its cause.
    pub cause: TransitionCause,
}

impl Transition {
    /// Its memory, in bytes, including texts that it shares with other transitions.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [self.reason.len(), self.message.len()];
        let states = [&self.from, &self.to].into_iter().flatten();
        let resource = self.resource.as_ref().map_or(0, |resource| {
            let parts = resource
                .parts()
                .2
                .iter()
                .map(|part| part.len())
                .sum::<usize>();
            let cluster = &resource.cluster;
            parts + resource.app.len() + cluster.provider.len() + cluster.name.len()
        });
        size_of::<Self>()
            + resource
            + texts.iter().sum::<usize>()
            + states.map(|state| state.state.len()).sum::<usize>()
    }
}
