//! The transitions between two views of an application.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use kindsight_api::history::TransitionCause;
use kindsight_model::{ClusterName, Gvk, Phase, Verdict};

use super::{PhaseState, ResourceId, TRANSITION_MESSAGE_BYTES_MAX, Transition};
use crate::map::{Map, map_for};
use crate::query::StatusQuery;
use crate::resource_view::{ResourceView, Role};
use crate::view::{AppView, ClusterView, ContextView};

/// Reason of a resource that is not listed any more since it was gone for long enough.
const FORGOTTEN: (&str, &str) = ("Forgotten", "it was gone, and is not listed any more");
/// Reason of a resource that is not there any more and of which no trace is kept.
const GONE: (&str, &str) = ("Gone", "it is no more in the cluster");
/// Reason of a resource that is not sent any more.
const NOT_SENT: (&str, &str) = ("NotSent", "it is not part of the AppContext any more");

/// State of an application that the next one is compared with.
#[derive(Debug, Clone, Copy)]
pub enum Before<'a> {
    /// It was not known.
    Nothing,
    /// This view of it was published.
    View(&'a ContextView),
}

/// The transitions from one state of an application to the next, in the order of the view, resources first.
///
/// A transition is another phase or another state: a reason, a message or a time that changed is none, and
/// neither is staleness. The cost is linear in the resources of the placements that changed.
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
    }
    diff.found
}

/// The phase and state of an application as a whole.
fn application_state(view: &ContextView) -> PhaseState {
    let query = StatusQuery::default();
    let readiness = crate::answer::whole(view, &query).readiness;
    PhaseState {
        phase: readiness.ready_phase.unwrap_or(Phase::Unknown),
        state: readiness.ready_status.unwrap_or_default().into(),
    }
}

/// Group, Kind, namespace and name.
type Identity<'a> = [&'a str; 4];

/// Identity of a resource that stays while reports come: what a report adds to a manifest is not part of it.
fn identity(resource: &ResourceView) -> Identity<'_> {
    let (group, namespace) = match (resource.role, &resource.manifest) {
        (Role::Sent, Some(manifest)) => (&*manifest.gvk.group, &*manifest.namespace),
        (Role::Sent, None) => ("", ""),
        _ => (&*resource.gvk.group, &*resource.namespace),
    };
    [group, &resource.gvk.kind, namespace, &resource.name]
}

fn is_same_state(one: &Verdict, other: &Verdict) -> bool {
    one.phase == other.phase && one.state == other.state
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

/// The transitions that were found so far.
struct Diff {
    cause: TransitionCause,
    at_ms: i64,
    found: Vec<Transition>,
}

/// A text of [`FORGOTTEN`], [`GONE`] or [`NOT_SENT`].
type Why = (&'static str, &'static str);

impl Diff {
    fn apps(&mut self, before: &[AppView], after: &[AppView]) {
        for (at, app) in after.iter().enumerate() {
            let known = find(before, at, |it| it.name == app.name);
            let known = known.map_or(&[][..], |it| &it.clusters);
            for (at, view) in app.clusters.iter().enumerate() {
                let known = find(known, at, |it| it.cluster() == view.cluster());
                if known.is_none_or(|known| !known.shares_resources_with(view)) {
                    self.placement(&app.name, known.map(AsRef::as_ref), view);
                }
            }
            for (at, view) in known.iter().enumerate() {
                if find(&app.clusters, at, |it| it.cluster() == view.cluster()).is_none() {
                    self.left(&app.name, view);
                }
            }
        }
        for (at, app) in before.iter().enumerate() {
            if find(after, at, |it| it.name == app.name).is_none() {
                for view in &app.clusters {
                    self.left(&app.name, view);
                }
            }
        }
    }

    /// An app in a cluster.
    fn placement(&mut self, app: &Arc<str>, before: Option<&ClusterView>, after: &ClusterView) {
        let cluster = after.cluster();
        let (known, shown) = (
            before.map_or(&[][..], ClusterView::resources),
            after.resources(),
        );
        let is_same = |(known, shown): (&ResourceView, &ResourceView)| {
            identity(known) == identity(shown) && is_same_state(&known.verdict, &shown.verdict)
        };
        if known.len() == shown.len() && known.iter().zip(shown).all(is_same) {
            return;
        }
        let mut rest: Map<Identity<'_>, &ResourceView> = map_for(known.len());
        for resource in known {
            rest.entry(identity(resource)).or_insert(resource);
        }
        let mut seen = HashSet::with_capacity(shown.len());
        for resource in shown {
            // Of several of one identity the first counts.
            if !seen.insert(identity(resource)) {
                continue;
            }
            let known = rest.remove(&identity(resource));
            if known.is_none_or(|known| !is_same_state(&known.verdict, &resource.verdict)) {
                self.changed(app, cluster, known, resource);
            }
        }
        // In the order of the view, not of the map.
        for resource in known {
            if let Some(resource) = rest.remove(&identity(resource)) {
                self.forgotten(app, cluster, resource);
            }
        }
    }

    /// An app in a cluster that is not part of the application any more.
    fn left(&mut self, app: &Arc<str>, view: &ClusterView) {
        let mut seen = HashSet::new();
        for resource in view.resources() {
            if seen.insert(identity(resource)) {
                self.forgotten(app, view.cluster(), resource);
            }
        }
    }

    fn changed(
        &mut self,
        app: &Arc<str>,
        cluster: &ClusterName,
        before: Option<&ResourceView>,
        after: &ResourceView,
    ) {
        let verdict = &after.verdict;
        self.found.push(Transition {
            resource: Some(id_of(app, cluster, after)),
            from: before.map(|it| state_of(&it.verdict)),
            to: Some(state_of(verdict)),
            at_ms: self.at_ms,
            since_ms: verdict.since_ms,
            reason: Arc::clone(&verdict.reason),
            message: cut(&verdict.message),
            by: verdict.by.clone(),
            cause: self.cause,
        });
    }

    fn forgotten(&mut self, app: &Arc<str>, cluster: &ClusterName, before: &ResourceView) {
        let (reason, message): Why = match before.role {
            Role::Gone => FORGOTTEN,
            Role::Sent => NOT_SENT,
            Role::Unsent | Role::Hook => GONE,
        };
        self.found.push(Transition {
            resource: Some(id_of(app, cluster, before)),
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

    /// Returns whether the application as a whole may be in another state: it is not rolled up where nothing
    /// it is made of changed.
    fn may_roll_up_otherwise(&self, before: &ContextView, after: &ContextView) -> bool {
        let views =
            |view: &ContextView| view.apps.iter().map(|it| it.clusters.len()).sum::<usize>();
        let differs = |(known, shown): (&ClusterView, &ClusterView)| {
            !known.shares_resources_with(shown) && !known.rolls_up_like(shown)
        };
        !self.found.is_empty()
            || before.status != after.status
            || views(before) != views(after)
            || before.clusters().zip(after.clusters()).any(differs)
    }

    fn application(&mut self, before: Option<PhaseState>, after: &ContextView) {
        let query = StatusQuery::default();
        let whole = crate::answer::whole(after, &query);
        let readiness = whole.readiness;
        let to = PhaseState {
            phase: readiness.ready_phase.unwrap_or(Phase::Unknown),
            state: readiness.ready_status.unwrap_or_default().into(),
        };
        if before.as_ref() == Some(&to) {
            return;
        }
        let worst = whole.worst.and_then(|place| place.resource());
        let worst = worst.map(|it| &it.verdict);
        let message: Arc<str> = readiness.ready_reason.map_or("".into(), Cow::into);
        self.found.push(Transition {
            resource: None,
            from: before,
            to: Some(to),
            at_ms: self.at_ms,
            since_ms: whole.since_ms,
            reason: worst.map_or_else(|| "".into(), |it| Arc::clone(&it.reason)),
            message: cut(&message),
            by: worst.and_then(|it: &Verdict| it.by.clone()),
            cause: self.cause_of_whole(),
        });
    }

    /// The application follows from its resources: it is the interpreters that changed it where they changed
    /// all of these.
    fn cause_of_whole(&self) -> TransitionCause {
        let is_swap = |it: &Transition| it.cause == TransitionCause::Interpreters;
        match self.found.is_empty() {
            true => self.cause,
            false if self.found.iter().all(is_swap) => TransitionCause::Interpreters,
            false => TransitionCause::Observed,
        }
    }
}

fn id_of(app: &Arc<str>, cluster: &ClusterName, resource: &ResourceView) -> ResourceId {
    let (gvk, namespace) = match (resource.role, &resource.manifest) {
        (Role::Sent, Some(manifest)) => (manifest.gvk.clone(), Arc::clone(&manifest.namespace)),
        (Role::Sent, None) => (Gvk::new("", "", &resource.gvk.kind), "".into()),
        _ => (resource.gvk.clone(), Arc::clone(&resource.namespace)),
    };
    ResourceId {
        app: Arc::clone(app),
        cluster: cluster.clone(),
        gvk,
        namespace,
        name: Arc::clone(&resource.name),
    }
}

/// The element that matches: most often it is where it was.
fn find<T>(all: &[T], at: usize, matches: impl Fn(&T) -> bool) -> Option<&T> {
    let here = all.get(at).filter(|it| matches(it));
    here.or_else(|| all.iter().find(|it| matches(it)))
}

#[cfg(test)]
mod tests;
