//! The objects that clusters reported, for the catalog: it tries new versions on them.

use std::sync::Arc;
use std::time::Duration;

use kindsight_catalog::KnownObjects;
use kindsight_interpreter::ReportedGroup;
use kindsight_pipeline::{ReportedObjects, ReportedRequests, Unsynced};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Time after the start for which a version that replaces another one waits until every cluster was
/// listed. A cluster that answers is listed within seconds, and the replaced version judges until
/// then.
const LISTED_WITHIN: Duration = Duration::from_secs(30);

/// Reads the objects from the running pipeline.
pub(crate) struct ReportedReader {
    reported: ReportedRequests,
    unsynced: Arc<Unsynced>,
    waits_until: Instant,
}

impl ReportedReader {
    /// A reader for a server that starts now.
    pub(crate) fn new(reported: ReportedRequests, unsynced: Arc<Unsynced>) -> Self {
        Self {
            reported,
            unsynced,
            waits_until: Instant::now() + LISTED_WITHIN,
        }
    }
}

impl KnownObjects for ReportedReader {
    fn wait(&self) {
        let mut unsynced = self.unsynced.subscribe();
        if unsynced.borrow().is_empty() || Instant::now() >= self.waits_until {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let listed = unsynced.wait_for(std::collections::BTreeSet::is_empty);
        let waiting = tokio::time::timeout_at(self.waits_until, listed);
        // After the limit, the version is tried on the objects of the other clusters.
        let _ = runtime.block_on(waiting);
    }

    fn reported(&self) -> Vec<ReportedGroup> {
        let (reply, answer) = oneshot::channel();
        // The pipeline has stopped only if the server stops.
        if self.reported.blocking_send(reply).is_err() {
            return Vec::new();
        }
        let groups = answer.blocking_recv().unwrap_or_default();
        groups.into_iter().map(labelled).collect()
    }
}

/// A group with its label, for readers who see everything.
pub(crate) fn labelled(group: ReportedObjects) -> ReportedGroup {
    ReportedGroup {
        label: Some(group.placement.into()),
        application: None,
        objects: group.objects,
        related: group.related,
        covered: group.covered,
    }
}
