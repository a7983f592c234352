//! The transitions between two views of an application.

mod identity;
mod since_history;
mod whole;

use std::collections::HashSet;
use std::sync::Arc;

use kindsight_api::history::TransitionCause;
use kindsight_model::{ClusterName, Digest, Identity as ObjectIdentity, InterpretedBy, Verdict};

use super::{PhaseState, ResourceId, TRANSITION_MESSAGE_BYTES_MAX, Transition, object_mark};
use crate::history::ApplicationHistory;
use crate::map::{Map, map_for};
use crate::resource_view::{ResourceView, Role};
use crate::view::{AppView, ClusterView, ContextView};
use identity::id_of;
pub(crate) use identity::{Identity, identity};
pub use since_history::awaits_reports;
use whole::application_state;

/// Reason of a removed resource at the end of the period in which answers still list it.
const FORGOTTEN: (&str, &str) = ("Forgotten", "it no longer exists, and is no longer listed");
/// Reason of a resource that no longer exists and is not listed as gone.
const GONE: (&str, &str) = ("Gone", "it no longer exists in the cluster");
/// Reason of a resource that is no longer part of the application and may still exist.
const LEFT: (&str, &str) = (
    "Left",
    "it is no longer part of this application, and may still exist",
);
/// Reason of a missing resource that is no longer part of an inventory.
const NOT_LISTED: (&str, &str) = (
    "NotListed",
    "it does not exist, and no inventory of the application lists it any more",
);
/// Reason of a resource that is no longer part of the `AppContext`.
const NOT_SENT: (&str, &str) = ("NotSent", "it is no longer part of the AppContext");

/// The previous state of an application, for the comparison.
#[derive(Debug, Clone, Copy)]
pub enum Before<'a> {
    /// The application was unknown.
    Nothing,
    /// The last published view.
    View(&'a ContextView),
    /// Only the history from before the start is known.
    History(&'a ApplicationHistory),
}

/// The transitions from one state of an application to the next, in the order of the view, resources first.
///
/// A transition is a change of phase or state. A change of reason, message, time or staleness is not a
/// transition. The cost is linear in the number of apps, in the clusters of the apps that changed, and in the resources
/// of the placements that changed.
pub fn transitions(
    before: Before<'_>,
    after: &ContextView,
    cause: TransitionCause,
    at_ms: i64,
) -> Vec<Transition> {
    let mut diff = Diff {
        cause,
        at_ms,
        found: Vec::new(),
    };
    match before {
        Before::Nothing => {
            diff.apps(&[], &after.apps);
            diff.application(None, after);
        }
        Before::View(before) => {
            diff.apps(&before.apps, &after.apps);
            if diff.may_roll_up_otherwise(before, after) {
                diff.application(Some(application_state(before)), after);
            }
        }
        Before::History(before) => diff.since_history(before, after),
    }
    diff.found
}

/// Sets the reason `Left` in the transitions of these objects, given by app and cluster: they left the
/// application and may still exist.
pub fn mark_left(transitions: &mut [Transition], left: &[(Arc<str>, ClusterName, ObjectIdentity)]) {
    let is_left = |id: &ResourceId| {
        let mut left = left.iter();
        left.any(|(app, cluster, identity)| {
            *app == id.app
                && *cluster == id.cluster
                && identity.name == id.name
                && identity.namespace == id.namespace
                && identity.kind == id.gvk.kind
                && identity.group == id.gvk.group
        })
    };
    for transition in transitions {
        let is_removed = transition.to.is_none() && *transition.reason == *GONE.0;
        if is_removed && transition.resource.as_deref().is_some_and(is_left) {
            transition.reason = LEFT.0.into();
            transition.message = LEFT.1.into();
        }
    }
}

/// The digest of the component that gave a verdict; `None` if the host gave it.
fn digest_of(by: Option<&Arc<InterpretedBy>>) -> Option<&Digest> {
    by.map(|interpreter| &interpreter.digest)
}

fn state_of(verdict: &Verdict) -> PhaseState {
    PhaseState {
        phase: verdict.phase,
        state: Arc::clone(&verdict.state),
    }
}

fn cut(message: &Arc<str>) -> Arc<str> {
    if message.len() <= TRANSITION_MESSAGE_BYTES_MAX {
        return Arc::clone(message);
    }
    let end = message.floor_char_boundary(TRANSITION_MESSAGE_BYTES_MAX);
    message.get(..end).unwrap_or_default().into()
}

/// The transitions found so far.
struct Diff {
    cause: TransitionCause,
    at_ms: i64,
    found: Vec<Transition>,
}

/// A text of [`FORGOTTEN`], [`GONE`] or [`NOT_SENT`].
type Explanation = (&'static str, &'static str);

impl Diff {
    fn apps(&mut self, before: &[Arc<AppView>], after: &[Arc<AppView>]) {
        for (at, app) in after.iter().enumerate() {
            let known = find(before, at, |known| known.name() == app.name());
            if known.is_none_or(|known| !Arc::ptr_eq(known, app)) {
                self.app(app, known.map_or(&[][..], |known| known.clusters()));
            }
        }
        for (at, app) in before.iter().enumerate() {
            if find(after, at, |other| other.name() == app.name()).is_none() {
                for view in app.clusters() {
                    self.left(app.name(), view);
                }
            }
        }
    }

    /// Compares an app with the previous views of its clusters.
    fn app(&mut self, app: &AppView, before: &[Arc<ClusterView>]) {
        for (at, view) in app.clusters().iter().enumerate() {
            let known = find(before, at, |known| known.cluster() == view.cluster());
            if known.is_none_or(|known| !known.shares_resources_with(view)) {
                self.placement(app.name(), known.map(AsRef::as_ref), view);
            }
        }
        for (at, view) in before.iter().enumerate() {
            let is_same = |other: &Arc<ClusterView>| other.cluster() == view.cluster();
            if find(app.clusters(), at, is_same).is_none() {
                self.left(app.name(), view);
            }
        }
    }

    /// Compares an app in a cluster.
    fn placement(&mut self, app: &Arc<str>, before: Option<&ClusterView>, after: &ClusterView) {
        let changed = before.and_then(|before| after.resources().changed_since(before.resources()));
        match changed {
            Some(changed) if !after.resources().has_duplicates() => {
                for (known, resource) in changed {
                    self.resource(app, after.cluster(), known, resource, self.cause);
                }
            }
            _ => self.all_resources(app, before, after),
        }
    }

    /// Compares all resources of an app in a cluster by their identities.
    fn all_resources(&mut self, app: &Arc<str>, before: Option<&ClusterView>, after: &ClusterView) {
        let cluster = after.cluster();
        let known = || before.into_iter().flat_map(|view| view.resources().iter());
        let mut rest: Map<Identity<'_>, (usize, &ResourceView)> =
            map_for(before.map_or(0, |view| view.resources().len()));
        for (at, resource) in known().enumerate() {
            rest.entry(identity(resource)).or_insert((at, resource));
        }
        let mut seen = HashSet::with_capacity(after.resources().len());
        for resource in after.resources().iter() {
            // If several resources have the same identity, the first counts.
            if !seen.insert(identity(resource)) {
                continue;
            }
            if let Some((at, known)) = rest.remove(&identity(resource)) {
                let mark = before.and_then(|view| view.object_mark(at));
                let cause = self.cause_of(known, resource, mark);
                self.resource(app, cluster, known, resource, cause);
            } else {
                let id = id_of(app, cluster, resource);
                self.changed(id, None, resource, self.cause);
            }
        }
        // In the order of the view, not of the map.
        for resource in known() {
            if let Some((_, resource)) = rest.remove(&identity(resource)) {
                self.forgotten(app, cluster, resource);
            }
        }
    }

    /// The cause of a change of a resource: the interpreters, if the object is unchanged since before the
    /// start and another component evaluated it.
    fn cause_of(
        &self,
        known: &ResourceView,
        resource: &ResourceView,
        mark: Option<&Arc<str>>,
    ) -> TransitionCause {
        let is_other_component =
            digest_of(known.verdict.by.as_ref()) != digest_of(resource.verdict.by.as_ref());
        let is_same_object = |mark: &Arc<str>| {
            let object = resource.object.as_ref();
            object.is_some_and(|object| object_mark(object) == *mark)
        };
        if is_other_component && mark.is_some_and(is_same_object) {
            TransitionCause::Interpreters
        } else {
            self.cause
        }
    }

    /// Compares a resource that is in both views.
    fn resource(
        &mut self,
        app: &Arc<str>,
        cluster: &ClusterName,
        known: &ResourceView,
        resource: &ResourceView,
        cause: TransitionCause,
    ) {
        if !known.verdict.is_same_state(&resource.verdict) {
            let from = Some(state_of(&known.verdict));
            let id = id_of(app, cluster, resource);
            self.changed(id, from, resource, cause);
        }
    }

    /// Records that an app in a cluster is no longer part of the application.
    fn left(&mut self, app: &Arc<str>, view: &ClusterView) {
        let mut seen = HashSet::new();
        for resource in view.resources().iter() {
            if seen.insert(identity(resource)) {
                self.forgotten(app, view.cluster(), resource);
            }
        }
    }

    fn changed(
        &mut self,
        id: ResourceId,
        from: Option<PhaseState>,
        resource: &ResourceView,
        cause: TransitionCause,
    ) {
        let verdict = &resource.verdict;
        self.found.push(Transition {
            resource: Some(Arc::new(id)),
            from,
            to: Some(state_of(verdict)),
            at_ms: self.at_ms,
            // The shown time: the time of the object may contradict the previous view.
            since_ms: verdict.since_ms.and(resource.since_ms),
            reason: Arc::clone(&verdict.reason),
            message: cut(&verdict.message),
            by: verdict.by.clone(),
            cause,
        });
    }

    fn forgotten(&mut self, app: &Arc<str>, cluster: &ClusterName, before: &ResourceView) {
        let (reason, message): Explanation = match before.role {
            Role::Gone => FORGOTTEN,
            Role::Missing => NOT_LISTED,
            Role::Sent | Role::SentHook => NOT_SENT,
            Role::Unsent | Role::Hook => GONE,
        };
        self.found.push(Transition {
            resource: Some(Arc::new(id_of(app, cluster, before))),
            from: Some(state_of(&before.verdict)),
            to: None,
            at_ms: self.at_ms,
            since_ms: None,
            reason: reason.into(),
            message: message.into(),
            by: None,
            cause: self.cause,
        });
    }
}

/// Finds the element that matches. It tries the position `at` and its neighbours first.
fn find<T>(all: &[T], at: usize, matches: impl Fn(&T) -> bool) -> Option<&T> {
    // After one insertion or removal, the element is at a neighbouring position.
    let near = [at, at.saturating_add(1), at.saturating_sub(1)];
    let here = near.into_iter().filter_map(|at| all.get(at));
    let here = here.chain(all);
    here.into_iter().find(|element| matches(element))
}

#[cfg(test)]
mod tests;
