//! The transition of an application as a whole.

use std::borrow::Cow;
use std::sync::Arc;

use kindsight_api::history::TransitionCause;
use kindsight_model::{Phase, Verdict};

use super::{Diff, cut};
use crate::query::StatusQuery;
use crate::transition::{PhaseState, Transition};
use crate::view::{ClusterView, ContextView};

/// The phase and state of an application as a whole.
pub(super) fn application_state(view: &ContextView) -> PhaseState {
    let query = StatusQuery::default();
    let readiness = crate::answer::whole(view, &query).readiness;
    PhaseState {
        phase: readiness.ready_phase.unwrap_or(Phase::Unknown),
        state: readiness.ready_status.unwrap_or_default().into(),
    }
}

impl Diff {
    /// Returns whether the application as a whole may be in another state: it is not rolled up where nothing
    /// it is made of changed.
    pub(super) fn may_roll_up_otherwise(&self, before: &ContextView, after: &ContextView) -> bool {
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

    pub(super) fn application(&mut self, before: Option<PhaseState>, after: &ContextView) {
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
