//! Reports on one app of an `AppContext` in one cluster by its objects, where no monitor reports on it.

use std::sync::Arc;

use kindsight_clusters::DeploymentReport;

use super::staleness::Staleness;
use super::{Placement, faults_of};
use crate::judge::Judge;

impl Placement {
    /// Handles all that is seen of the app, and judges it. Returns whether verdicts of the next set on the
    /// previous report were discarded. What a monitor covered before stays known for its next report.
    pub(crate) fn report_seen(
        &mut self,
        report: DeploymentReport,
        judge: Judge<'_>,
        now_ms: i64,
    ) -> bool {
        let DeploymentReport {
            objects,
            rejected,
            related,
            covered,
            coverage,
            faults,
            ..
        } = report;
        let is_set_back = self.discard_recheck();
        self.staleness = Staleness::default();
        self.unreadable.clear();
        self.stored.reported(None);
        self.report_faults = [faults, faults_of(&rejected)].concat();
        self.covered = Arc::new(covered);
        self.related = related.into();
        self.reported = Some(objects.into());
        self.rejected = rejected.into();
        self.coverage = coverage;
        self.judge(judge, now_ms);
        is_set_back
    }
}
