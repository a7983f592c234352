//! Contents of the queue, and the store's notifications of the reports that were stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{ClusterName, ContextId};
use kindsight_store::Revision;

use crate::waiting_reports::{ReportedApp, Waiting, WaitingLimits, WaitingReports};

/// Maximum number of reports that wait to be stored; of more, the oldest is dropped.
pub const BUNDLES_WAITING_MAX: usize = 4096;
/// Maximum size of all reports that wait to be stored, in bytes; of more, the oldest is dropped.
pub const BUNDLES_WAITING_BYTES_MAX: usize = 128 * 1024 * 1024;

const LIMITS: WaitingLimits = WaitingLimits {
    reports_max: BUNDLES_WAITING_MAX,
    bytes_max: BUNDLES_WAITING_BYTES_MAX,
};

/// Maximum number of own changes that the store has not notified of yet; of more, the oldest is forgotten
/// and read again.
const OWN_REVISIONS_MAX: usize = 64 * 1024;

/// Reports that wait to be stored, and own changes.
pub(super) struct Contents {
    pub(super) waiting: WaitingReports<Arc<str>>,
    /// The number of reports that were dropped since the queue was empty.
    pub(super) dropped: usize,
    /// The context that is being written to.
    pub(super) writing: Option<ContextId>,
    /// Revisions of own changes that the store has not notified of yet.
    pub(super) own: BTreeSet<Revision>,
}

impl Default for Contents {
    fn default() -> Self {
        Self {
            waiting: WaitingReports::new(LIMITS),
            dropped: 0,
            writing: None,
            own: BTreeSet::new(),
        }
    }
}

impl Contents {
    /// Adds a report. The log says when the queue overflows, and [`log_dropped`](Self::log_dropped) by how much.
    pub(super) fn push(&mut self, app: ReportedApp, status_json: Arc<str>) {
        let bytes = status_json.len();
        let dropped = self.waiting.push(app, status_json, bytes).len();
        if dropped > 0 && self.dropped == 0 {
            tracing::warn!(
                waiting_max = BUNDLES_WAITING_MAX,
                bytes_max = BUNDLES_WAITING_BYTES_MAX,
                "report queue is full: the oldest reports are dropped until the store has taken the others"
            );
        }
        self.dropped += dropped;
    }

    /// Takes the first report of a cluster for which `contexts_of` returns contexts, to be written to these.
    pub(super) fn begin_write<T>(
        &mut self,
        contexts_of: impl Fn(&ClusterName) -> Option<T>,
    ) -> Option<(ReportedApp, Waiting<Arc<str>>, T)> {
        let begun = self.waiting.pop_first(|app| contexts_of(&app.cluster))?;
        self.writing = Some(begun.0.deployment.context.clone());
        Some(begun)
    }

    /// Logs how many reports were dropped once all others are stored.
    pub(super) fn log_dropped(&mut self) {
        if self.waiting.is_empty() && self.dropped > 0 {
            let dropped = std::mem::take(&mut self.dropped);
            tracing::warn!(
                "report queue overflowed: {dropped} oldest reports were not stored; their apps show older reports after a restart"
            );
        }
    }

    /// Logs how many reports are not stored at the stop.
    pub(super) fn log_not_stored(&self) {
        let not_stored = self.waiting.len() + usize::from(self.writing.is_some()) + self.dropped;
        if not_stored > 0 {
            tracing::warn!(
                "{not_stored} reports were not stored before the server stopped; their apps show older reports after a restart"
            );
        }
    }

    /// Notes an own change. The store will send a notification about it.
    pub(super) fn note_own(&mut self, revision: Revision) {
        self.own.insert(revision);
        if self.own.len() > OWN_REVISIONS_MAX {
            self.own.pop_first();
        }
    }
}
