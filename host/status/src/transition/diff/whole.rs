//! Transitions of an application's own state.

use std::borrow::Cow;
use std::sync::Arc;

use kindsight_api::history::TransitionCause;
use kindsight_model::{Phase, Verdict};

use super::identity::id_of;
use super::{Diff, cut};
use crate::query::StatusQuery;
use crate::tally::ResourcePlace;
use crate::transition::{PhaseState, Transition};
use crate::view::{AppView, ContextView};

/// The phase and state of an application.
pub(super) fn application_state(view: &ContextView) -> PhaseState {
    let result = view.rollup();
    PhaseState {
        phase: result.phase,
        state: result.state.into(),
    }
}

impl Diff {
    /// Returns whether the state of the application may have changed. If none of its parts changed, the
    /// roll-up is skipped.
    pub(super) fn may_roll_up_otherwise(&self, before: &ContextView, after: &ContextView) -> bool {
        let differs = |(known, shown): (&Arc<AppView>, &Arc<AppView>)| {
            !Arc::ptr_eq(known, shown) && !known.rolls_up_like(shown)
        };
        !self.found.is_empty()
            || before.status != after.status
            || before.apps.len() != after.apps.len()
            || before.apps.iter().zip(&after.apps).any(differs)
    }

    pub(super) fn application(&mut self, before: Option<PhaseState>, after: &ContextView) {
        let to = application_state(after);
        if before.as_ref() == Some(&to) {
            return;
        }
        // Only a transition has a reason, so most changes do not need the worst resource.
        let query = StatusQuery::default();
        let whole = crate::answer::whole(after, &query);
        let since_ms = match &before {
            None => whole.since_ms,
            Some(before) => Some(self.changed_ms(before.phase, to.phase, whole.worst)),
        };
        let worst = whole.worst.and_then(|place| place.resource());
        let worst = worst.map(|resource| &resource.verdict);
        let message: Arc<str> = whole.readiness.ready_reason.map_or("".into(), Cow::into);
        self.found.push(Transition {
            resource: None,
            from: before,
            to: Some(to),
            at_ms: self.at_ms,
            since_ms,
            reason: worst.map_or_else(|| "".into(), |verdict| Arc::clone(&verdict.reason)),
            message: cut(&message),
            by: worst.and_then(|verdict: &Verdict| verdict.by.clone()),
            cause: self.cause_of_whole(),
        });
    }

    /// The start of the application's new state: the time of the resource's change that caused it, or now if
    /// no resource changed.
    ///
    /// An application becomes worse together with its worst resource. It becomes better with the last change
    /// of any resource, because the resource that is now worst may have been in its state for longer.
    fn changed_ms(&self, from: Phase, to: Phase, worst: Option<ResourcePlace<'_>>) -> i64 {
        let time_ms = |transition: &Transition| transition.since_ms.unwrap_or(transition.at_ms);
        let of_worst = worst.filter(|_| from.severity() < to.severity());
        let of_worst = of_worst.and_then(|place| {
            let id = id_of(&place.app.into(), place.cluster, place.resource()?);
            let mut found = self.found.iter();
            found.find(|transition| transition.resource.as_deref() == Some(&id))
        });
        let last_ms = || self.found.iter().map(time_ms).max();
        let changed_ms = of_worst.map(time_ms).or_else(last_ms);
        changed_ms.unwrap_or(self.at_ms)
    }

    /// The cause of the application's transition: the interpreters, if they caused all transitions of its
    /// resources.
    fn cause_of_whole(&self) -> TransitionCause {
        let is_swap = |found: &Transition| found.cause == TransitionCause::Interpreters;
        match self.found.is_empty() {
            true => self.cause,
            false if self.found.iter().all(is_swap) => TransitionCause::Interpreters,
            false => TransitionCause::Observed,
        }
    }
}
