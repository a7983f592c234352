//! The state of updates, for metrics and answers.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The state of updates. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    written: AtomicU64,
    unchanged: AtomicU64,
    deleted: AtomicU64,
    conflicts: AtomicU64,
    failures: AtomicU64,
    refusals: AtomicU64,
    items: AtomicUsize,
    waiting: AtomicUsize,
    refused: AtomicUsize,
    left_off: AtomicUsize,
    /// The reason why A&AI does not answer, while it does not.
    away: Mutex<Option<String>>,
    /// The last refusal.
    refusal: Mutex<Option<String>>,
}

/// The values of [`Health`] at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HealthCounts {
    /// Objects that were created or changed in A&AI since the start.
    pub written: u64,
    /// Updates since the start that found the wanted content in A&AI.
    pub unchanged: u64,
    /// Objects that were deleted in A&AI since the start.
    pub deleted: u64,
    /// Answers 409 and 412 since the start, after which the object was read again.
    pub conflicts: u64,
    /// Updates since the start that ended because A&AI did not answer.
    pub failures: u64,
    /// Updates since the start that A&AI refused.
    pub refusals: u64,
    /// Items that A&AI has or should have.
    pub items: usize,
    /// Items whose update waits.
    pub waiting: usize,
    /// Items whose last update was refused.
    pub refused: usize,
    /// Objects that are not reported because of [`ITEMS_MAX`](crate::ITEMS_MAX).
    pub left_off: usize,
    /// True while A&AI does not answer.
    pub is_away: bool,
}

/// The outcome of one update, for the counters.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counted {
    Written,
    Unchanged,
    Deleted,
    Conflict,
    Failure,
    Refusal,
}

impl Health {
    /// The present values. Called at a scrape.
    pub fn counts(&self) -> HealthCounts {
        let shared = &*self.0;
        HealthCounts {
            written: shared.written.load(Ordering::Relaxed),
            unchanged: shared.unchanged.load(Ordering::Relaxed),
            deleted: shared.deleted.load(Ordering::Relaxed),
            conflicts: shared.conflicts.load(Ordering::Relaxed),
            failures: shared.failures.load(Ordering::Relaxed),
            refusals: shared.refusals.load(Ordering::Relaxed),
            items: shared.items.load(Ordering::Relaxed),
            waiting: shared.waiting.load(Ordering::Relaxed),
            refused: shared.refused.load(Ordering::Relaxed),
            left_off: shared.left_off.load(Ordering::Relaxed),
            is_away: locked(&shared.away).is_some(),
        }
    }

    /// Problems, as text for users: an outage, refused items, and objects that are left off. Called for each answer of
    /// `GET /readyz`.
    pub fn notes(&self) -> Vec<String> {
        let counts = self.counts();
        let waiting = counts.waiting;
        let away = locked(&self.0.away).clone();
        let away = away.map(|reason| {
            format!("the inventory A&AI is away: {reason}; {waiting} updates wait for it")
        });
        let refused = (counts.refused > 0).then(|| {
            let refusal = locked(&self.0.refusal).clone().unwrap_or_default();
            let refused = counts.refused;
            format!("the inventory A&AI refuses {refused} objects; the last refusal: {refusal}")
        });
        let left_off = (counts.left_off > 0).then(|| {
            let left_off = counts.left_off;
            format!("{left_off} objects are not reported to A&AI, because there are too many")
        });
        [away, refused, left_off].into_iter().flatten().collect()
    }

    pub(crate) fn count(&self, counted: Counted) {
        let counter = match counted {
            Counted::Written => &self.0.written,
            Counted::Unchanged => &self.0.unchanged,
            Counted::Deleted => &self.0.deleted,
            Counted::Conflict => &self.0.conflicts,
            Counted::Failure => &self.0.failures,
            Counted::Refusal => &self.0.refusals,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the sizes of the queue.
    pub(crate) fn set_sizes(&self, items: usize, waiting: usize, refused: usize, left_off: usize) {
        self.0.items.store(items, Ordering::Relaxed);
        self.0.waiting.store(waiting, Ordering::Relaxed);
        self.0.refused.store(refused, Ordering::Relaxed);
        self.0.left_off.store(left_off, Ordering::Relaxed);
    }

    /// Notes that A&AI does not answer. Returns whether it did before.
    pub(crate) fn set_away(&self, reason: &str) -> bool {
        let mut away = locked(&self.0.away);
        let is_first = away.is_none();
        *away = Some(reason.to_owned());
        is_first
    }

    /// Notes that A&AI answers. Returns whether it did not before.
    pub(crate) fn set_back(&self) -> bool {
        locked(&self.0.away).take().is_some()
    }

    /// Notes a refusal. Returns whether it is the first since [`Self::forget_refusal`].
    pub(crate) fn set_refusal(&self, text: &str) -> bool {
        let mut refusal = locked(&self.0.refusal);
        let is_first = refusal.is_none();
        *refusal = Some(text.to_owned());
        is_first
    }

    /// Forgets the last refusal, because no item is refused.
    pub(crate) fn forget_refusal(&self) {
        locked(&self.0.refusal).take();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
