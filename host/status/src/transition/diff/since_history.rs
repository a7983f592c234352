//! The transitions since a history from before the start, for an application without a previous view.

use std::collections::HashSet;

use kindsight_api::history::TransitionCause;
use kindsight_model::{ClusterName, host_reason};

use super::identity::id_of;
use super::{Diff, digest_of};
use crate::history::ApplicationHistory;
use crate::map::{Map, map_for};
use crate::resource_view::{Report, ResourceView};
use crate::transition::{PhaseState, ResourceId, Transition};
use crate::view::ContextView;

/// Reason of a resource that was known before the start and is no longer listed.
const NOT_LISTED: (&str, &str) = ("NotListed", "it has not been listed since the start");

/// Returns whether any app in a cluster has not reported since the start, but had reported before. The view
/// shows this app as unknown although its last state is in the history.
pub fn awaits_reports(history: &ApplicationHistory, view: &ContextView) -> bool {
    let silent = silent(view);
    !silent.is_empty()
        && newest(history)
            .values()
            .any(|transition| is_of(transition, &silent))
}

/// Apps in clusters that have not reported.
fn silent(view: &ContextView) -> HashSet<(&str, &ClusterName)> {
    let placements = view.placements();
    let silent = placements.filter(|(_, view)| *view.report() == Report::NotYet);
    silent.map(|(app, view)| (&**app, view.cluster())).collect()
}

/// Returns whether a transition concerns one of these apps in clusters, and was caused by a report.
fn is_of(transition: &Transition, silent: &HashSet<(&str, &ClusterName)>) -> bool {
    let id = transition.resource.as_ref();
    id.is_some_and(|id| silent.contains(&(&*id.app, &id.cluster)))
        && &*transition.reason != host_reason::NO_REPORT
}

/// The last transition of each listed resource and of the application.
fn newest(history: &ApplicationHistory) -> Map<Option<&ResourceId>, &Transition> {
    let mut newest = map_for(history.transitions.len());
    for recorded in &history.transitions {
        let transition = &*recorded.transition;
        newest.insert(transition.resource.as_deref(), transition);
    }
    newest.retain(|_, last: &mut &Transition| last.to.is_some());
    newest
}

impl Diff {
    /// Compares a view with the last states in a history.
    ///
    /// If an app in a cluster has not reported since the start but had reported before, its resources and the
    /// application have no transitions: their state is unknown, which is not a change.
    ///
    /// If a part of the history was dropped, resources without a transition in the history may have been
    /// known, so they do not count as new.
    pub(super) fn since_history(&mut self, before: &ApplicationHistory, after: &ContextView) {
        let mut last = newest(before);
        let silent = silent(after);
        let awaited = last.len();
        last.retain(|_, transition| !is_of(transition, &silent));
        let is_awaited = last.len() < awaited;
        let is_complete = before.dropped == 0;
        let mut seen = HashSet::new();
        for (app, view) in after.placements() {
            if is_awaited && silent.contains(&(&**app, view.cluster())) {
                continue;
            }
            for resource in view.resources().iter() {
                let id = id_of(app, view.cluster(), resource);
                let known = last.get(&Some(&id)).copied();
                if seen.insert(id.clone()) && (known.is_some() || is_complete) {
                    self.since(id, known, resource);
                }
            }
        }
        for recorded in &before.transitions {
            if let Some(id) = recorded.transition.resource.as_deref()
                && !seen.contains(id)
                && let Some(newest) = last.remove(&Some(id))
            {
                self.not_listed(newest);
            }
        }
        let known = last.get(&None).and_then(|transition| transition.to.clone());
        if (known.is_some() || is_complete) && !is_awaited {
            self.application(known, after);
        }
    }

    fn since(&mut self, id: ResourceId, known: Option<&Transition>, resource: &ResourceView) {
        let verdict = &resource.verdict;
        let to = known.and_then(|transition| transition.to.as_ref());
        if to.is_some_and(|to| to.phase == verdict.phase && to.state == verdict.state) {
            return;
        }
        // The stored report is evaluated again. It is the same report as before the start, unless it was
        // stored in the last seconds.
        let before = known.and_then(|transition| digest_of(transition.by.as_ref()));
        let now = digest_of(verdict.by.as_ref());
        let is_swap = before.is_some() && now.is_some() && before != now;
        let cause = if is_swap {
            TransitionCause::Interpreters
        } else {
            self.cause
        };
        self.changed(id, to.cloned(), resource, cause);
    }

    fn not_listed(&mut self, last: &Transition) {
        let from: Option<PhaseState> = last.to.clone();
        let (reason, message) = NOT_LISTED;
        self.found.push(Transition {
            resource: last.resource.clone(),
            from,
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
