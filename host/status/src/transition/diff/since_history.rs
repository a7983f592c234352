//! The transitions since the history that was kept over a restart, where no view was.

use std::collections::HashSet;

use kindsight_api::history::TransitionCause;
use kindsight_model::Verdict;

use super::identity::id_of;
use super::{Diff, digest_of};
use crate::history::ApplicationHistory;
use crate::map::{Map, map_for};
use crate::transition::{PhaseState, ResourceId, Transition};
use crate::view::ContextView;

/// Reason of a resource that was known before the start and is not listed any more.
const NOT_LISTED: (&str, &str) = ("NotListed", "it is not listed any more since the start");

impl Diff {
    /// Compares a view with the last state of everything that a history tells of.
    ///
    /// Where a part of the history was dropped, what it does not tell of may have been known, and is no first
    /// sight.
    pub(super) fn since_history(&mut self, before: &ApplicationHistory, after: &ContextView) {
        let mut last: Map<Option<&ResourceId>, &Transition> = map_for(before.transitions.len());
        for recorded in &before.transitions {
            let transition = &*recorded.transition;
            last.insert(transition.resource.as_ref(), transition);
        }
        last.retain(|_, it| it.to.is_some());
        let is_whole = before.dropped == 0;
        let mut seen = HashSet::new();
        for app in &after.apps {
            for view in &app.clusters {
                for resource in view.resources() {
                    let id = id_of(&app.name, view.cluster(), resource);
                    let known = last.get(&Some(&id)).copied();
                    if seen.insert(id.clone()) && (known.is_some() || is_whole) {
                        self.since(id, known, &resource.verdict);
                    }
                }
            }
        }
        for recorded in &before.transitions {
            if let Some(id) = &recorded.transition.resource
                && !seen.contains(id)
                && let Some(newest) = last.remove(&Some(id))
            {
                self.not_listed(newest);
            }
        }
        let known = last.get(&None).and_then(|it| it.to.clone());
        if known.is_some() || is_whole {
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
