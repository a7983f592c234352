//! Following of swaps: from one published set to the next, application by application.
//!
//! ```text
//! published ─▶ goal ─▶ waiting (newest report first) ─▶ slices of the current one ─▶ shown at once
//! ```
//!
//! Only objects of affected Kinds are judged again, by the new set and beside what is shown. Between
//! two slices the pipeline handles events; a report discards the recheck of its placement.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_interpreter::Published;
use kindsight_status::ApplicationKey;

use crate::affected::Affected;
use crate::application_state::{ApplicationState, SwapStep};
use crate::applications::Applications;
use crate::judge::Judge;
use crate::progress::Progress;
use crate::recheck::Slice;
use crate::shared::Shared;
use crate::view_change::ViewChange;

/// Objects that are judged again in one go: some ten milliseconds, which is how long an event waits.
pub(crate) const SLICE_OBJECTS: usize = 2000;

/// The progress from one published set to the next.
pub(crate) struct Swap {
    /// The set that everything is shown by when nothing waits.
    goal: Arc<Published>,
    /// Applications that are not shown by it yet, with the number of its last report: the last goes first.
    waiting: BTreeSet<(u64, ApplicationKey)>,
    current: Option<Current>,
    affected: Affected,
    progress: Arc<Progress>,
}

/// The application that is judged again.
struct Current {
    key: ApplicationKey,
    /// The size of its next slice.
    slice_objects: usize,
    /// True if a report discarded its recheck since its last slice.
    is_set_back: bool,
}

impl Swap {
    /// A state with everything judged by `set`.
    pub(crate) fn new(set: Arc<Published>) -> Self {
        Self {
            progress: Arc::new(Progress::new(set.generation())),
            goal: set,
            waiting: BTreeSet::new(),
            current: None,
            affected: Affected::default(),
        }
    }

    /// The set that everything is shown by when nothing waits.
    pub(crate) fn goal(&self) -> &Arc<Published> {
        &self.goal
    }

    /// The progress, for other threads.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Returns whether any application is not judged by `published` yet.
    pub(crate) fn is_pending(&self, published: &Published) -> bool {
        self.goal.generation() != published.generation() || self.applications() > 0
    }

    /// Records a report on an application; `is_set_back` if it discarded verdicts of the new set.
    pub(crate) fn reported(
        &mut self,
        key: &ApplicationKey,
        before: u64,
        after: u64,
        is_set_back: bool,
    ) {
        if self.waiting.remove(&(before, key.clone())) {
            self.waiting.insert((after, key.clone()));
        }
        if let Some(current) = self.current.as_mut().filter(|current| current.key == *key) {
            current.is_set_back |= is_set_back;
        }
    }

    /// Judges one slice towards the published set. Returns the applications to publish again, with the changes of
    /// their views. The complete view of an application changes at once.
    pub(crate) fn slice(
        &mut self,
        applications: &mut Applications,
        shared: &Shared,
        now_ms: i64,
    ) -> Vec<(ApplicationKey, ViewChange)> {
        let interpreters = &*shared.interpreters;
        self.set_goal(applications, shared);
        let mut slice = Slice::new(self.grant());
        let mut changed = Vec::new();
        while !slice.is_spent()
            && let Some(current) = self.next()
        {
            let goal = Judge {
                interpreters,
                set: &self.goal,
            };
            let step = applications.update(&current.key, shared, |state| {
                state.swap(goal, &mut self.affected, &mut slice, now_ms)
            });
            match step.unwrap_or(SwapStep::Judged(ViewChange::Nothing)) {
                SwapStep::Unfinished => self.current = Some(current),
                SwapStep::Judged(change) => {
                    slice.limit(SLICE_OBJECTS);
                    if change > ViewChange::Nothing {
                        changed.push((current.key, change));
                    }
                }
            }
        }
        self.progress.count(slice.judged());
        changed
    }

    /// Notifies others that the changes of a slice are in the read model.
    pub(crate) fn published(&mut self) {
        let generation = self.goal.generation();
        if self.applications() == 0 && self.progress.generation() != generation {
            tracing::info!(
                generation,
                judged_again_since_start = self.progress.objects(),
                "everything was judged by the new interpreters"
            );
            self.affected = Affected::default();
            // Last, so that waiters find the changes in the read model.
            self.progress.reach(generation);
        }
    }

    /// Follows another published set, if there is one: verdicts for the old goal are discarded, and each
    /// application goes from its present set straight to the new one.
    fn set_goal(&mut self, applications: &mut Applications, shared: &Shared) {
        let published = shared.interpreters.published();
        if self.goal.generation() == published.generation() {
            return;
        }
        if let Some(current) = self.current.take() {
            applications.update(&current.key, shared, ApplicationState::discard_recheck);
        }
        self.affected = Affected::default();
        self.goal = published;
        let generation = self.goal.generation();
        let behind = applications
            .iter()
            .filter(|(_, state)| state.shown_by().generation() != generation);
        self.waiting = behind
            .map(|(key, state)| (state.last_report, key.clone()))
            .collect();
    }

    /// The size of the next slice. An application that was set back gets twice as much as before, so
    /// that reports cannot hold it up for ever.
    fn grant(&mut self) -> usize {
        let Some(current) = &mut self.current else {
            return SLICE_OBJECTS;
        };
        if std::mem::take(&mut current.is_set_back) {
            current.slice_objects = current.slice_objects.saturating_mul(2);
        }
        current.slice_objects
    }

    /// The application that was begun, or else the one whose last report is the newest.
    fn next(&mut self) -> Option<Current> {
        let begin = |(_, key)| Current {
            key,
            slice_objects: SLICE_OBJECTS,
            is_set_back: false,
        };
        let begun = self.current.take();
        begun.or_else(|| self.waiting.pop_last().map(begin))
    }

    fn applications(&self) -> usize {
        self.waiting.len() + usize::from(self.current.is_some())
    }
}
