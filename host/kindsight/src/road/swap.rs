//! From one published set to the next: what is shown follows, context by context.
//!
//! ```text
//! published ─▶ aim ─▶ waiting (newest report first) ─▶ slices of the current one ─▶ shown at once
//! ```
//!
//! Only objects of affected Kinds are judged again, by the new set and beside what is shown. Between
//! two slices the road takes events; a report throws away what was judged again of its place.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kindsight_interpreter::{Interpreters, Published};
use kindsight_model::ContextId;

use crate::road::affected::Affected;
use crate::road::again::Slice;
use crate::road::known::{By, Known, Way};

/// Objects that are judged again in one go: some ten milliseconds, which is how long an event waits.
pub(crate) const SLICE_OBJECTS: usize = 2000;

/// How what is shown follows what is published. Read by tests and metrics, from any thread.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    objects: AtomicU64,
    generation: AtomicU64,
}

impl Progress {
    /// Objects judged again because of a swap, since the start.
    pub(crate) fn objects(&self) -> u64 {
        self.objects.load(Ordering::Relaxed)
    }

    /// The last set that everything was shown by: a swap is done when this is its generation.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }
}

/// The way from one published set to the next.
pub(crate) struct Swap {
    /// The set that everything is shown by when nothing waits.
    goal: Arc<Published>,
    /// What is not shown by it yet, with the number of its last report: the last goes first.
    waiting: BTreeSet<(u64, ContextId)>,
    current: Option<Current>,
    affected: Affected,
    progress: Arc<Progress>,
}

/// The context that is judged again.
struct Current {
    id: ContextId,
    /// How large its next slice is.
    slice_objects: usize,
    /// Whether a report threw away what was judged again of it, since its last slice.
    is_set_back: bool,
}

impl Swap {
    /// Everything that is known is shown by `set`.
    pub(crate) fn new(set: Arc<Published>) -> Self {
        let progress = Progress::default();
        progress
            .generation
            .store(set.generation(), Ordering::Release);
        Self {
            goal: set,
            waiting: BTreeSet::new(),
            current: None,
            affected: Affected::default(),
            progress: Arc::new(progress),
        }
    }

    /// The set that everything is shown by when nothing waits.
    pub(crate) fn goal(&self) -> &Arc<Published> {
        &self.goal
    }

    /// How it fares, for other threads.
    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Whether something is still to be done until everything is shown by `published`.
    pub(crate) fn is_pending(&self, published: &Published) -> bool {
        self.goal.generation() != published.generation() || self.contexts() > 0
    }

    /// A report on a context was taken in; `is_set_back` when something of it was judged in vain.
    pub(crate) fn reported(&mut self, id: &ContextId, before: u64, after: u64, is_set_back: bool) {
        if self.waiting.remove(&(before, id.clone())) {
            self.waiting.insert((after, id.clone()));
        }
        if let Some(current) = self.current.as_mut().filter(|current| current.id == *id) {
            current.is_set_back |= is_set_back;
        }
    }

    /// Does one slice on the way to what is published. Answers which contexts have to be shown anew: each
    /// is changed as a whole.
    pub(crate) fn slice(
        &mut self,
        known: &mut HashMap<ContextId, Known>,
        interpreters: &Interpreters,
        now_ms: i64,
    ) -> Vec<ContextId> {
        self.aim(known, interpreters.published());
        let mut slice = Slice::new(self.grant());
        let mut changed = Vec::new();
        while !slice.is_spent()
            && let Some(current) = self.next()
        {
            let goal = By {
                interpreters,
                set: &self.goal,
            };
            let way = known.get_mut(&current.id).map_or(Way::SameView, |known| {
                known.go_on(goal, &mut self.affected, &mut slice, now_ms)
            });
            match way {
                Way::Unfinished => self.current = Some(current),
                Way::SameView => slice.limit(SLICE_OBJECTS),
                Way::NewView => {
                    slice.limit(SLICE_OBJECTS);
                    changed.push(current.id);
                }
            }
        }
        let judged = u64::try_from(slice.judged()).unwrap_or(u64::MAX);
        self.progress.objects.fetch_add(judged, Ordering::Relaxed);
        changed
    }

    /// What a slice changed is shown: others may be told.
    pub(crate) fn shown(&mut self) {
        let generation = self.goal.generation();
        if self.contexts() == 0 && self.progress.generation() != generation {
            tracing::info!(
                generation,
                judged_again_since_start = self.progress.objects(),
                "everything is shown by the new interpreters"
            );
            self.affected = Affected::default();
            // Last, so that who reads it finds on the board what it says.
            let done = &self.progress.generation;
            done.store(generation, Ordering::Release);
        }
    }

    /// Turns to another set where there is one: what was judged for the old goal is dropped, and
    /// each context will go from what it shows straight to the new one.
    fn aim(&mut self, known: &mut HashMap<ContextId, Known>, published: Arc<Published>) {
        if self.goal.generation() == published.generation() {
            return;
        }
        if let Some(current) = self.current.take()
            && let Some(known) = known.get_mut(&current.id)
        {
            known.turn_back();
        }
        self.affected = Affected::default();
        self.goal = published;
        let generation = self.goal.generation();
        let behind = known
            .iter()
            .filter(|(_, known)| known.shown_by().generation() != generation);
        self.waiting = behind
            .map(|(id, known)| (known.last_report, id.clone()))
            .collect();
    }

    /// How large the next slice may be. A context that was set back gets twice as much as before, so
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

    /// The context that was begun, or else the one whose last report is the newest.
    fn next(&mut self) -> Option<Current> {
        let begin = |(_, id)| Current {
            id,
            slice_objects: SLICE_OBJECTS,
            is_set_back: false,
        };
        let begun = self.current.take();
        begun.or_else(|| self.waiting.pop_last().map(begin))
    }

    fn contexts(&self) -> usize {
        self.waiting.len() + usize::from(self.current.is_some())
    }
}
