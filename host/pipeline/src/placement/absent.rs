//! Objects that were reported and are no more.

use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{Object, RejectedIdentity, Verdict};
use kindsight_status::{LastKnown, ResourceView};

use super::Uncovered;

/// Time after which it is known whether the Kind of what is missing since the start is covered, in milliseconds:
/// a source tells that within a second of its first reports ([`FACTS_EVERY`](kindsight_clusters::FACTS_EVERY)).
const CONFIRMED_AFTER_MS: i64 = 2000;

/// Group, Kind, namespace and name: the version of an object may change.
pub(super) type Identity = (Arc<str>, Arc<str>, Arc<str>, Arc<str>);

pub(super) fn identity_of_last(last: &LastKnown) -> Identity {
    (
        Arc::clone(&last.gvk.group),
        Arc::clone(&last.gvk.kind),
        Arc::clone(&last.namespace),
        Arc::clone(&last.name),
    )
}

pub(super) fn identity(object: &Object) -> Identity {
    (
        Arc::clone(&object.gvk.group),
        Arc::clone(&object.gvk.kind),
        Arc::clone(&object.namespace),
        Arc::clone(&object.name),
    )
}

pub(super) fn identity_of(rejected: &RejectedIdentity) -> Identity {
    (
        Arc::clone(&rejected.gvk.group),
        Arc::clone(&rejected.gvk.kind),
        Arc::clone(&rejected.namespace),
        Arc::clone(&rejected.name),
    )
}

/// An object that was reported and is no more.
pub(super) struct Absent {
    pub(super) last: LastKnown,
    pub(super) since_ms: i64,
    /// True if the cluster still reports on its Kind, so that it is known to be gone.
    pub(super) is_gone: bool,
    /// True if it was known before the start and not reported since.
    pub(super) is_from_start: bool,
    /// Its verdict of before the start, which is shown until it is known whether its Kind is covered.
    pub(super) unconfirmed: Option<Verdict>,
}

impl Absent {
    /// Objects that were there until now, by the view.
    pub(super) fn of(resource: &ResourceView, is_remembered: bool, now_ms: i64) -> Self {
        Self {
            last: LastKnown::of(resource),
            since_ms: now_ms,
            is_gone: false,
            is_from_start: is_remembered,
            unconfirmed: is_remembered.then(|| resource.verdict.clone()),
        }
    }

    /// The time at which it is to be looked at again, in Unix milliseconds.
    pub(super) fn due_ms(&self, gone_for: Duration) -> Option<i64> {
        match self.unconfirmed {
            Some(_) => Some(self.since_ms.saturating_add(CONFIRMED_AFTER_MS)),
            None => self.is_gone.then(|| forget_at(self.since_ms, gone_for)),
        }
    }

    /// Tells what is gone from what is not covered, of what was known before the start. Returns whether that
    /// changes anything.
    pub(super) fn confirm(&mut self, uncovered: Uncovered<'_>, now_ms: i64) -> bool {
        let confirmed_ms = self.since_ms.saturating_add(CONFIRMED_AFTER_MS);
        if self.unconfirmed.is_some() && confirmed_ms > now_ms {
            return false;
        }
        let is_new = self.unconfirmed.take().is_some();
        let is_covered = !uncovered.has(&self.last.gvk);
        let is_covered_now = self.is_from_start && !self.is_gone && is_covered;
        if is_covered_now {
            self.is_gone = true;
            self.since_ms = if is_new { self.since_ms } else { now_ms };
        }
        is_new || is_covered_now
    }
}

/// The time at which what is gone since then is to be forgotten.
pub(super) fn forget_at(since_ms: i64, gone_for: Duration) -> i64 {
    let gone_for = i64::try_from(gone_for.as_millis()).unwrap_or(i64::MAX);
    since_ms.saturating_add(gone_for)
}
