//! Transitions: changes of the state of a resource, or of an application as a whole.
//!
//! Two levels are told: what an app in a cluster is like follows from its resources, and which of them made
//! the application what it is stands in the reason of the application's own transition.

mod diff;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use kindsight_api::history::TransitionCause;
use kindsight_model::{ClusterName, Digest, Gvk, InterpretedBy, Object, Phase};

pub use diff::{Before, awaits_reports, sorted_anew, transitions};

/// Maximum length of the message of a transition, in bytes; the rest is cut.
pub const TRANSITION_MESSAGE_BYTES_MAX: usize = 512;

/// A resource of an application. Equal are those that differ in the version of their Kind alone.
#[derive(Debug, Clone)]
pub struct ResourceId {
    /// Its app.
    pub app: Arc<str>,
    /// Its cluster.
    pub cluster: ClusterName,
    /// Group, version and Kind; of a resource that was sent with a manifest that cannot be read, the Kind alone.
    pub gvk: Gvk,
    /// Its namespace: of its manifest where it was sent, since that is known before it is there.
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

/// A phase, with the state in the word of the interpreter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseState {
    /// The phase.
    pub phase: Phase,
    /// The state.
    pub state: Arc<str>,
}

/// A mark by which an object is known again without it: part of the digest of its text.
pub fn object_mark(object: &Object) -> Arc<str> {
    Digest::of(object.json.as_bytes()).short().into()
}

/// One change of phase or state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The resource; none for the application as a whole.
    pub resource: Option<Arc<ResourceId>>,
    /// The state before; none where it was seen for the first time.
    pub from: Option<PhaseState>,
    /// The state after; none where it is not listed any more.
    pub to: Option<PhaseState>,
    /// Time when it was seen, in Unix milliseconds.
    pub at_ms: i64,
    /// Time since when the object itself is in the state, where it tells; of an application since when it is in
    /// its state. In Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Reason of the state, in one word; may be empty.
    pub reason: Arc<str>,
    /// Reason of the state, in a sentence of at most [`TRANSITION_MESSAGE_BYTES_MAX`]; may be empty.
    pub message: Arc<str>,
    /// The interpreter that gave the state; none where the host itself did.
    pub by: Option<Arc<InterpretedBy>>,
    /// Its cause.
    pub cause: TransitionCause,
}

impl Transition {
    /// The memory that it takes, in bytes; texts that it shares with others are counted.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [self.reason.len(), self.message.len()];
        let states = [&self.from, &self.to].into_iter().flatten();
        let resource = self.resource.as_ref().map_or(0, |it| {
            let parts = it.parts().2.iter().map(|part| part.len()).sum::<usize>();
            parts + it.app.len() + it.cluster.provider.len() + it.cluster.name.len()
        });
        size_of::<Self>()
            + resource
            + texts.iter().sum::<usize>()
            + states.map(|it| it.state.len()).sum::<usize>()
    }
}
