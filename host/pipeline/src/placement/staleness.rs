//! Staleness of a report, by its causes.

use std::sync::Arc;

use kindsight_status::Staleness as Shown;

/// The reason of a report on which the cluster no longer reports.
const SILENT: &str = "the cluster no longer reports on this app; its last report is shown";

/// The reason of a report of a cluster that its orchestrator cannot reach.
const RETRYING: &str = "the orchestrator cannot reach the cluster and tries again; the last report that it stored is shown";

/// The reason of a report of a cluster that is no longer configured.
const REMOVED: &str = "the cluster is no longer configured; its last report is shown";

/// The causes for which a report may be out of date.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Staleness {
    /// The report comes from the store: the cluster has not reported since the start.
    is_remembered: bool,
    /// The state shown is that of before the start, and the cluster was not heard since.
    not_heard: Option<Shown>,
    /// The cluster cannot be reached.
    unreachable: Option<Shown>,
    /// The cluster no longer reports on this app; for a report from the store, since the first listing after
    /// the start.
    silent: Option<Shown>,
    /// The cluster is no longer configured.
    removed: Option<Shown>,
    /// A report that may be newer cannot be read.
    unreadable: Option<Shown>,
    /// The orchestrator that stored the report cannot reach the cluster.
    retrying: Option<Shown>,
    /// The store that the report comes from is away.
    store_away: Option<Shown>,
}

impl Staleness {
    /// Since when the report may be out of date for any cause, with the reason of the first.
    pub(super) fn shown(&self) -> Option<Shown> {
        if let (Some(not_heard), Some(unreachable)) = (&self.not_heard, &self.unreachable) {
            // Why it is not heard says more than that it is not.
            return Some(Shown {
                since_ms: not_heard.since_ms.min(unreachable.since_ms),
                reason: Arc::clone(&unreachable.reason),
            });
        }
        let causes = [
            &self.not_heard,
            &self.unreachable,
            &self.silent,
            &self.removed,
            &self.unreadable,
            &self.retrying,
            &self.store_away,
        ];
        causes.into_iter().flatten().min().cloned()
    }

    /// Marks what is shown as known from before the start.
    pub(super) fn not_heard(&mut self, since: Shown) {
        self.not_heard = Some(since);
    }

    /// Since when what is shown is known from before the start; none where it was heard since.
    pub(super) fn into_not_heard(self) -> Option<Shown> {
        self.not_heard
    }

    /// Marks the cluster as heard since the start.
    pub(super) fn heard(&mut self) {
        self.not_heard = None;
    }

    /// Returns whether the report comes from the store.
    pub(super) fn is_remembered(&self) -> bool {
        self.is_remembered
    }

    /// Marks the report as one from the store. Known causes stay.
    pub(super) fn remember(&mut self) {
        self.is_remembered = true;
    }

    /// Marks the cluster as one that its orchestrator cannot reach, which makes its report stale until a newer one.
    pub(super) fn retrying(&mut self, now_ms: i64) {
        self.retrying.get_or_insert_with(|| Shown {
            since_ms: now_ms,
            reason: RETRYING.into(),
        });
    }

    /// Marks the cluster as one that its orchestrator reaches, or whose report is newer than what it said of it.
    pub(super) fn reached(&mut self) {
        self.retrying = None;
    }

    /// Marks the store of the report as away since then. Returns whether that is new.
    pub(super) fn store_away(&mut self, cause: &Shown) -> bool {
        let is_new = self.store_away.as_ref() != Some(cause);
        self.store_away = Some(cause.clone());
        is_new
    }

    /// Marks the store of the report as reached. Returns whether it was away.
    pub(super) fn store_back(&mut self) -> bool {
        self.store_away.take().is_some()
    }

    /// Marks the report as one of the cluster itself.
    pub(super) fn is_live(&mut self) {
        self.is_remembered = false;
        self.retrying = None;
    }

    /// Marks the cluster as unreachable since then. Returns whether that changes anything.
    pub(super) fn unreachable(&mut self, cause: &Shown) -> bool {
        let is_new = self.unreachable.as_ref() != Some(cause);
        self.unreachable = Some(cause.clone());
        is_new
    }

    /// Returns whether the cluster cannot be reached.
    pub(super) fn is_unreachable(&self) -> bool {
        self.unreachable.is_some()
    }

    /// Marks the cluster as no longer configured, which is known better than why it could not be reached.
    /// Returns whether that is new.
    pub(super) fn removed(&mut self, now_ms: i64) -> bool {
        let before = self.unreachable.take();
        let is_new = self.removed.is_none();
        self.removed.get_or_insert_with(|| Shown {
            since_ms: before.map_or(now_ms, |cause| cause.since_ms),
            reason: REMOVED.into(),
        });
        is_new
    }

    /// Marks the cluster as no longer reporting on this app. Returns whether that is new.
    pub(super) fn silent(&mut self, now_ms: i64) -> bool {
        // A report that could not be read is gone as well, but what it hid is still not known.
        let since_ms = self
            .unreadable
            .take()
            .map_or(now_ms, |cause| cause.since_ms);
        let is_new = self.silent.is_none();
        self.silent.get_or_insert_with(|| Shown {
            since_ms,
            reason: SILENT.into(),
        });
        is_new
    }

    /// Marks a report as unreadable that may be newer.
    pub(super) fn unreadable(&mut self, now_ms: i64, reason: &Arc<str>) {
        let since_ms = self
            .unreadable
            .as_ref()
            .map_or(now_ms, |cause| cause.since_ms);
        self.unreadable = Some(Shown {
            since_ms,
            reason: Arc::clone(reason),
        });
    }

    /// Marks the report as the last one, which could be read.
    pub(super) fn readable(&mut self) {
        self.unreadable = None;
    }

    /// Marks the cluster as listed in full. Returns whether that changes anything.
    pub(super) fn synced(&mut self, now_ms: i64) -> bool {
        let was_away = self.unreachable.take().is_some() | self.removed.take().is_some();
        // Where its report is there and cannot be read, it is not silent.
        let is_silent = self.is_remembered && self.unreadable.is_none();
        let fell_silent = is_silent && self.silent(now_ms);
        was_away || fell_silent
    }
}
