//! The transitions since the history that was kept over a restart, where no view was.

use std::collections::HashSet;

use kindsight_api::history::TransitionCause;
use kindsight_model::{ClusterName, Verdict, host_reason};

use super::identity::id_of;
use super::{Diff, digest_of};
use crate::history::ApplicationHistory;
use crate::map::{Map, map_for};
use crate::resource_view::Report;
use crate::transition::{PhaseState, ResourceId, Transition};
use crate::view::ContextView;

/// Reason of a resource that was known before the start and is not listed any more.
const NOT_LISTED: (&str, &str) = ("NotListed", "it is not listed any more since the start");

/// Returns whether an app in a cluster has not reported since the start and had before: what is shown of it is
/// that nothing is known, and not what became of it.
pub fn awaits_reports(history: &ApplicationHistory, view: &ContextView) -> bool {
    let silent = silent(view);
    !silent.is_empty() && newest(history).values().any(|it| is_of(it, &silent))
}

/// Apps in clusters that have not reported.
fn silent(view: &ContextView) -> HashSet<(&str, &ClusterName)> {
    let apps = view.apps.iter();
    let views = apps.flat_map(|app| app.clusters.iter().map(|it| (&*app.name, it)));
    let silent = views.filter(|(_, it)| *it.report() == Report::NotYet);
    silent.map(|(app, it)| (app, it.cluster())).collect()
}

/// Returns whether a transition is of one of these apps in clusters, when it had reported.
fn is_of(transition: &Transition, silent: &HashSet<(&str, &ClusterName)>) -> bool {
    let id = transition.resource.as_ref();
    id.is_some_and(|it| silent.contains(&(&*it.app, &it.cluster)))
        && &*transition.reason != host_reason::NO_REPORT
}

/// The last transition of everything that is listed.
fn newest(history: &ApplicationHistory) -> Map<Option<&ResourceId>, &Transition> {
    let mut newest = map_for(history.transitions.len());
    for recorded in &history.transitions {
        let transition = &*recorded.transition;
        newest.insert(transition.resource.as_deref(), transition);
    }
    newest.retain(|_, it: &mut &Transition| it.to.is_some());
    newest
}

impl Diff {
    /// Compares a view with the last state of everything that a history tells of.
    ///
    /// Of an app in a cluster that has not reported yet and had before nothing is told, and neither is of the
    /// application as a whole: it is not known any more, which is no transition.
    ///
    /// Where a part of the history was dropped, what it does not tell of may have been known, and is no first
    /// sight.
    pub(super) fn since_history(&mut self, before: &ApplicationHistory, after: &ContextView) {
        let mut last = newest(before);
        let silent = silent(after);
        let awaited = last.len();
        last.retain(|_, it| !is_of(it, &silent));
        let is_awaited = last.len() < awaited;
        let is_whole = before.dropped == 0;
        let mut seen = HashSet::new();
        for app in &after.apps {
            for view in &app.clusters {
                for resource in view.resources() {
                    let id = id_of(&app.name, view.cluster(), resource);
                    if is_awaited && silent.contains(&(&*app.name, view.cluster())) {
                        continue;
                    }
                    let known = last.get(&Some(&id)).copied();
                    if seen.insert(id.clone()) && (known.is_some() || is_whole) {
                        self.since(id, known, &resource.verdict);
                    }
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
        let known = last.get(&None).and_then(|it| it.to.clone());
        if (known.is_some() || is_whole) && !is_awaited {
            self.application(known, after);
        }
    }

    fn since(&mut self, id: ResourceId, known: Option<&Transition>, verdict: &Verdict) {
        let to = known.and_then(|it| it.to.as_ref());
        if to.is_some_and(|to| to.phase == verdict.phase && to.state == verdict.state) {
            return;
        }
        // The stored report is judged again, and it is that of before unless it came in the last seconds.
        let before = known.and_then(|it| digest_of(it.by.as_ref()));
        let now = digest_of(verdict.by.as_ref());
        let is_swap = before.is_some() && now.is_some() && before != now;
        let cause = if is_swap {
            TransitionCause::Interpreters
        } else {
            self.cause
        };
        self.changed(id, to.cloned(), verdict, cause);
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
