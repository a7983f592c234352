//! The transitions between two views of an application.

mod identity;
mod since_history;
mod whole;

use std::collections::HashSet;
use std::sync::Arc;

use kindsight_api::history::TransitionCause;
use kindsight_model::{ClusterName, Digest, InterpretedBy, Verdict};

use super::{PhaseState, ResourceId, TRANSITION_MESSAGE_BYTES_MAX, Transition, object_mark};
use crate::history::ApplicationHistory;
use crate::map::{Map, map_for};
use crate::resource_view::{ResourceView, Role};
use crate::view::{AppView, ClusterView, ContextView};
use identity::{Identity, id_of, identity};
pub use since_history::awaits_reports;
use whole::application_state;

/// Reason of a resource that is not listed any more since it was gone for long enough.
const FORGOTTEN: (&str, &str) = ("Forgotten", "it was gone, and is not listed any more");
/// Reason of a resource that is not there any more and of which no trace is kept.
const GONE: (&str, &str) = ("Gone", "it is no more in the cluster");
/// Reason of a resource that may be there and that the configuration has no longer in the application.
const LEFT: (&str, &str) = (
    "Left",
    "it is not of this application any more as clusters and applications are configured now, or it is gone",
);
/// Reason of a resource that is not sent any more.
const NOT_SENT: (&str, &str) = ("NotSent", "it is not part of the AppContext any more");

/// State of an application that the next one is compared with.
#[derive(Debug, Clone, Copy)]
pub enum Before<'a> {
    /// It was not known.
    Nothing,
    /// This view of it was published.
    View(&'a ContextView),
    /// Its history of before the start is all that is known.
    History(&'a ApplicationHistory),
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
        Before::History(before) => diff.since_history(before, after),
    }
    diff.found
}

/// Tells of resources that are no more that they may be elsewhere: the objects were sorted by other rules, or
/// looked for by other labels, than in the view before.
pub fn sorted_anew(transitions: &mut [Transition]) {
    for it in transitions {
        if it.to.is_none() && *it.reason == *GONE.0 {
            it.reason = LEFT.0.into();
            it.message = LEFT.1.into();
        }
    }
}

fn is_same_state(one: &Verdict, other: &Verdict) -> bool {
    one.phase == other.phase && one.state == other.state
}

/// The component that gave a verdict; none where the host did.
fn digest_of(by: Option<&Arc<InterpretedBy>>) -> Option<&Digest> {
    by.map(|it| &it.digest)
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
        let mut rest: Map<Identity<'_>, (usize, &ResourceView)> = map_for(known.len());
        for (at, resource) in known.iter().enumerate() {
            rest.entry(identity(resource)).or_insert((at, resource));
        }
        let mut seen = HashSet::with_capacity(shown.len());
        for resource in shown {
            // Of several of one identity the first counts.
            if !seen.insert(identity(resource)) {
                continue;
            }
            match rest.remove(&identity(resource)) {
                Some((_, known)) if is_same_state(&known.verdict, &resource.verdict) => {}
                Some((at, known)) => {
                    let mark = before.and_then(|it| it.object_mark(at));
                    let is_swap = mark.is_some_and(|mark| {
                        let object = resource.object.as_ref();
                        digest_of(known.verdict.by.as_ref())
                            != digest_of(resource.verdict.by.as_ref())
                            && object.is_some_and(|it| object_mark(it) == *mark)
                    });
                    let cause = if is_swap {
                        TransitionCause::Interpreters
                    } else {
                        self.cause
                    };
                    let from = Some(state_of(&known.verdict));
                    self.changed(
                        id_of(app, cluster, resource),
                        from,
                        &resource.verdict,
                        cause,
                    );
                }
                None => {
                    let id = id_of(app, cluster, resource);
                    self.changed(id, None, &resource.verdict, self.cause);
                }
            }
        }
        // In the order of the view, not of the map.
        for resource in known {
            if let Some((_, resource)) = rest.remove(&identity(resource)) {
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
        resource: ResourceId,
        from: Option<PhaseState>,
        verdict: &Verdict,
        cause: TransitionCause,
    ) {
        self.found.push(Transition {
            resource: Some(Arc::new(resource)),
            from,
            to: Some(state_of(verdict)),
            at_ms: self.at_ms,
            since_ms: verdict.since_ms,
            reason: Arc::clone(&verdict.reason),
            message: cut(&verdict.message),
            by: verdict.by.clone(),
            cause,
        });
    }

    fn forgotten(&mut self, app: &Arc<str>, cluster: &ClusterName, before: &ResourceView) {
        let (reason, message): Why = match before.role {
            Role::Gone => FORGOTTEN,
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

/// The element that matches: most often it is where it was.
fn find<T>(all: &[T], at: usize, matches: impl Fn(&T) -> bool) -> Option<&T> {
    // Or beside it, where one came or went before it.
    let near = [at, at.saturating_add(1), at.saturating_sub(1)];
    let here = near.into_iter().filter_map(|at| all.get(at));
    let here = here.chain(all);
    here.into_iter().find(|it| matches(it))
}

#[cfg(test)]
mod tests;
