//! Marks of a placement: the staleness of its last report, and faults. They change without its verdicts.

use std::sync::Arc;

use kindsight_status::{FAULTS_SHOWN_MAX, Report, Staleness as ShownStaleness};

use super::Placement;
use super::staleness::Staleness;

impl Placement {
    /// Marks the last report as stale, since the cluster cannot be reached. Returns whether that is new.
    pub(crate) fn unreachable(&mut self, cause: &ShownStaleness) -> bool {
        self.mark(|staleness| staleness.unreachable(cause))
    }

    /// Handles a complete listing of the cluster: it can be reached, and is silent on this app if it has not
    /// reported on it since the start. Returns whether that changes anything.
    pub(crate) fn synced(&mut self, now_ms: i64) -> bool {
        self.mark(|staleness| staleness.synced(now_ms))
    }

    /// Marks the last report as stale, since the cluster no longer reports on this app.
    pub(crate) fn silent(&mut self, now_ms: i64) -> bool {
        self.unreadable.clear();
        self.mark(|staleness| staleness.silent(now_ms))
    }

    /// Handles a report that cannot be used: the previous one stays, marked as stale if this may be newer,
    /// and the fault is published.
    pub(crate) fn fault(
        &mut self,
        origin: String,
        error: &str,
        may_be_newer: bool,
        now_ms: i64,
    ) -> bool {
        let fault: Arc<str> = format!("report `{origin}`: {error}").into();
        self.mark(|staleness| {
            if may_be_newer {
                staleness.unreadable(now_ms, &fault);
            }
            false
        });
        if self.unreadable.len() < FAULTS_SHOWN_MAX || self.unreadable.contains_key(&origin) {
            self.unreadable.insert(origin, fault);
        }
        self.mark(|_| true);
        // Without a report there is no projection to replace.
        if self.view.is_none() {
            self.project(now_ms);
        }
        true
    }

    /// Replaces the faults of the cluster as a whole. Returns whether that changes anything.
    pub(crate) fn set_cluster_faults(&mut self, faults: &Arc<[Arc<str>]>) -> bool {
        let is_new = self.cluster_faults != *faults;
        self.cluster_faults = Arc::clone(faults);
        self.mark(|_| is_new)
    }

    /// Replaces the staleness and the faults in the view, without projecting the resources again.
    pub(super) fn mark(&mut self, mark: impl FnOnce(&mut Staleness) -> bool) -> bool {
        let is_new = mark(&mut self.staleness);
        if is_new && let Some(view) = &self.view {
            let view = view.with_report(self.report_state(), self.faults());
            let view = view.with_cluster_faults(Arc::clone(&self.cluster_faults));
            self.view = Some(Arc::new(view));
        }
        is_new
    }

    /// Marks the last report as stale, since the cluster is no longer configured. Returns whether that is new.
    pub(crate) fn removed(&mut self, now_ms: i64) -> bool {
        self.unreadable.clear();
        self.mark(|staleness| staleness.removed(now_ms))
    }

    pub(super) fn report_state(&self) -> Report {
        match &self.reported {
            None if !self.is_remembered => Report::NotYet,
            _ => Report::Received {
                stale: self.staleness.shown(),
            },
        }
    }

    pub(super) fn faults(&self) -> Vec<Arc<str>> {
        let faults = self.manifests.faults.iter().chain(self.unreadable.values());
        faults.chain(&self.report_faults).cloned().collect()
    }
}
