//! The stored form of histories. A change of it is another version.

use std::sync::Arc;

use kindsight_model::{Gvk, InterpretedBy, Phase};
use kindsight_status::{
    ApplicationKey, PhaseState, Recorded, ResourceId, Transition, TransitionCause,
};
use serde::{Deserialize, Serialize};

/// The summary of a history.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StoredHistory {
    pub(super) of: String,
    pub(super) dropped: u64,
}

/// A transition.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StoredTransition {
    pub(super) of: String,
    id: u64,
    /// `None` for the application itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resource: Option<StoredResourceId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<StoredState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<StoredState>,
    at_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since_ms: Option<i64>,
    reason: Arc<str>,
    message: Arc<str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Arc<InterpretedBy>>,
    cause: TransitionCause,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct StoredResourceId {
    app: Arc<str>,
    cluster: String,
    #[serde(rename = "GVK")]
    gvk: Gvk,
    namespace: Arc<str>,
    name: Arc<str>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredState {
    phase: Phase,
    state: Arc<str>,
}

/// The application of a stored value; none where it cannot be one.
pub(super) fn application(of: &str) -> Option<ApplicationKey> {
    if of.contains('/') {
        return of.parse().ok().map(ApplicationKey::Found);
    }
    of.parse().ok().map(ApplicationKey::Context)
}

impl StoredTransition {
    /// The stored form of a transition.
    pub(super) fn of(of: &ApplicationKey, recorded: &Recorded) -> Self {
        let transition = &*recorded.transition;
        let state = |state: &PhaseState| StoredState {
            phase: state.phase,
            state: Arc::clone(&state.state),
        };
        let resource = transition
            .resource
            .as_ref()
            .map(|resource| StoredResourceId {
                app: Arc::clone(&resource.app),
                cluster: resource.cluster.to_string(),
                gvk: resource.gvk.clone(),
                namespace: Arc::clone(&resource.namespace),
                name: Arc::clone(&resource.name),
            });
        Self {
            of: of.to_string(),
            id: recorded.id,
            resource,
            from: transition.from.as_ref().map(state),
            to: transition.to.as_ref().map(state),
            at_ms: transition.at_ms,
            since_ms: transition.since_ms,
            reason: Arc::clone(&transition.reason),
            message: Arc::clone(&transition.message),
            by: transition.by.clone(),
            cause: transition.cause,
        }
    }

    /// The transition; none where the name of a cluster in it cannot be one.
    pub(super) fn read(self) -> Option<Recorded> {
        let state = |stored: StoredState| PhaseState {
            phase: stored.phase,
            state: stored.state,
        };
        let resource = match self.resource {
            None => None,
            Some(resource) => Some(Arc::new(ResourceId {
                app: resource.app,
                cluster: resource.cluster.parse().ok()?,
                gvk: resource.gvk,
                namespace: resource.namespace,
                name: resource.name,
            })),
        };
        let transition = Transition {
            resource,
            from: self.from.map(state),
            to: self.to.map(state),
            at_ms: self.at_ms,
            since_ms: self.since_ms,
            reason: self.reason,
            message: self.message,
            by: self.by,
            cause: self.cause,
        };
        Some(Recorded {
            id: self.id,
            transition: Arc::new(transition),
        })
    }
}
