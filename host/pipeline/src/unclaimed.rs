//! Reports on apps that no known AppContext sends to their cluster.
//!
//! A cluster sends a report only once. A report that arrives before its context is written waits here, or it
//! would be missing until the next report.

use kindsight_model::{ClusterName, DeploymentId, Report};

use crate::log_limit::LogLimit;
use crate::waiting_reports::{ReportedApp, WaitingLimits, WaitingReports};

/// Maximum number of reports that wait; of more, the oldest is dropped.
pub(crate) const UNCLAIMED_MAX: usize = 4096;
/// Maximum size of all reports that wait, in bytes; of more, the oldest is dropped.
const UNCLAIMED_BYTES_MAX: usize = 64 * 1024 * 1024;

const LIMITS: WaitingLimits = WaitingLimits {
    reports_max: UNCLAIMED_MAX,
    bytes_max: UNCLAIMED_BYTES_MAX,
};

/// Why the newest report on an app is not known.
const DROPPED: &str = "it overflowed before the AppContext was known, and the cluster's report was dropped; the next report completes this app";
const UNREADABLE: &str = "a report that arrived before the AppContext was known cannot be read, and the report before it is shown; the next report completes this app";

/// Limits on the names of apps whose reports were dropped. Without its name, a loss is logged only.
const LOST_LIMITS: WaitingLimits = WaitingLimits {
    reports_max: UNCLAIMED_MAX,
    bytes_max: 0,
};

/// Reports that wait for their context.
pub(crate) struct Unclaimed {
    reports: WaitingReports<Report>,
    /// Apps whose newest report is not known, with the reason.
    lost: WaitingReports<&'static str>,
    kept_log: LogLimit,
    lost_log: LogLimit,
}

/// The reports on apps that became known.
#[derive(Debug, Default)]
pub(crate) struct Claimed {
    /// The newest report on each app.
    pub(crate) reports: Vec<(ReportedApp, Report)>,
    /// Apps whose newest report is not known, with the reason.
    pub(crate) lost: Vec<(ReportedApp, &'static str)>,
}

impl Default for Unclaimed {
    fn default() -> Self {
        Self {
            reports: WaitingReports::new(LIMITS),
            lost: WaitingReports::new(LOST_LIMITS),
            kept_log: LogLimit::default(),
            lost_log: LogLimit::default(),
        }
    }
}

impl Unclaimed {
    /// Keeps a report. It replaces an older report on the same app and cluster.
    pub(crate) fn keep(
        &mut self,
        cluster: ClusterName,
        deployment: DeploymentId,
        report: Report,
        now_ms: i64,
    ) {
        let app = ReportedApp {
            deployment,
            cluster,
        };
        self.lost.remove(&app);
        if !self.reports.contains(&app) {
            self.kept_log.count(1);
        }
        let bytes = bytes(&report);
        let dropped = self.reports.push(app, report, bytes);
        self.lost_log.count(dropped.len());
        for app in dropped {
            self.lost.push(app, DROPPED, 0);
        }
        self.log(now_ms);
    }

    /// Notes that a later report cannot be read, if a report on this app waits.
    pub(crate) fn mark_outdated(&mut self, cluster: &ClusterName, deployment: &DeploymentId) {
        let app = ReportedApp {
            deployment: deployment.clone(),
            cluster: cluster.clone(),
        };
        if self.reports.contains(&app) {
            self.lost.push(app, UNREADABLE, 0);
        }
    }

    /// Removes and returns the reports on the matching apps.
    pub(crate) fn claim(&mut self, matches: impl Fn(&ReportedApp) -> bool) -> Claimed {
        let reports = self.reports.take(&matches);
        let lost = self.lost.take(matches);
        Claimed { reports, lost }
    }

    /// Forgets the reports on the matching apps.
    pub(crate) fn forget(&mut self, matches: impl Fn(&ReportedApp) -> bool) {
        self.claim(matches);
    }

    /// Logs how many reports wait and how many were dropped, if a line is due. Senders decide neither how often
    /// it is written nor how long it is.
    pub(crate) fn log(&mut self, now_ms: i64) {
        if let Some(kept) = self.kept_log.take(now_ms) {
            tracing::warn!(
                waiting = self.reports.len(),
                "{kept} reports arrived on apps that no AppContext sends to their cluster; they wait for their AppContexts"
            );
        }
        if let Some(lost) = self.lost_log.take(now_ms) {
            tracing::warn!(
                waiting_max = UNCLAIMED_MAX,
                bytes_max = UNCLAIMED_BYTES_MAX,
                "report queue overflowed: {lost} oldest reports on apps without an AppContext were dropped; these apps are incomplete until their next reports"
            );
        }
    }

    /// The time at which [`log`](Self::log) has a line to write, in Unix milliseconds.
    pub(crate) fn log_due_ms(&self) -> Option<i64> {
        let due = [self.kept_log.due_ms(), self.lost_log.due_ms()];
        due.into_iter().flatten().min()
    }
}

/// The size of a report, by its text.
fn bytes(report: &Report) -> usize {
    report.status_json.as_ref().map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use kindsight_model::decode_status;

    use super::*;

    fn keep(unclaimed: &mut Unclaimed, deployment: &str) {
        let bundle = decode_status(deployment.parse().unwrap(), b"{}").unwrap();
        unclaimed.keep(
            "p+c".parse().unwrap(),
            bundle.deployment,
            bundle.report,
            1000,
        );
    }

    fn claim(unclaimed: &mut Unclaimed, context: &str) -> Claimed {
        unclaimed.claim(|app| app.deployment.context.as_str() == context)
    }

    #[test]
    fn a_report_waits_for_its_context_and_the_newest_of_a_cluster_counts() {
        let mut unclaimed = Unclaimed::default();
        for deployment in ["7-a", "7-a", "7-b", "8-a"] {
            keep(&mut unclaimed, deployment);
        }
        let claimed = claim(&mut unclaimed, "7").reports;
        let claimed: Vec<String> = claimed
            .iter()
            .map(|(app, _)| app.deployment.to_string())
            .collect();
        assert_eq!(claimed, ["7-a", "7-b"]);
        assert!(claim(&mut unclaimed, "7").reports.is_empty());
        assert_eq!(unclaimed.reports.len(), 1);
    }

    #[test]
    fn only_so_many_reports_wait_and_the_context_of_a_dropped_one_names_it() {
        let mut unclaimed = Unclaimed::default();
        for id in 0..UNCLAIMED_MAX + 3 {
            keep(&mut unclaimed, &format!("{id}-a"));
        }
        assert_eq!(unclaimed.reports.len(), UNCLAIMED_MAX);
        let claimed = claim(&mut unclaimed, "2");
        assert!(claimed.reports.is_empty());
        assert_eq!(claimed.lost[0].0.deployment.to_string(), "2-a");
        let claimed = claim(&mut unclaimed, "3");
        assert_eq!((claimed.reports.len(), claimed.lost.len()), (1, 0));
        // A new report replaces the dropped report.
        keep(&mut unclaimed, "1-a");
        let claimed = claim(&mut unclaimed, "1");
        assert_eq!((claimed.reports.len(), claimed.lost.len()), (1, 0));
    }

    #[test]
    fn a_report_that_waits_is_out_of_date_after_an_unreadable_one() {
        let mut unclaimed = Unclaimed::default();
        let (cluster, deployment) = ("p+c".parse().unwrap(), "1-a".parse().unwrap());
        unclaimed.mark_outdated(&cluster, &deployment);
        let claimed = claim(&mut unclaimed, "1");
        assert!(claimed.lost.is_empty(), "no report waits");
        keep(&mut unclaimed, "1-a");
        unclaimed.mark_outdated(&cluster, &deployment);
        let claimed = claim(&mut unclaimed, "1");
        assert_eq!(claimed.reports.len(), 1);
        assert_eq!(claimed.lost[0].1, UNREADABLE);
        keep(&mut unclaimed, "1-a");
        unclaimed.mark_outdated(&cluster, &deployment);
        keep(&mut unclaimed, "1-a");
        let claimed = claim(&mut unclaimed, "1");
        assert_eq!((claimed.reports.len(), claimed.lost.len()), (1, 0));
    }

    #[test]
    fn reports_that_keep_coming_are_logged_once_a_minute() {
        let mut unclaimed = Unclaimed::default();
        keep(&mut unclaimed, "1-a");
        assert_eq!(unclaimed.log_due_ms(), None, "it is logged");
        keep(&mut unclaimed, "1-a");
        assert_eq!(unclaimed.log_due_ms(), None, "the same app waits on");
        for id in 2..UNCLAIMED_MAX + 4 {
            keep(&mut unclaimed, &format!("{id}-a"));
        }
        assert_eq!(unclaimed.lost_log.due_ms(), Some(61_000));
        unclaimed.log(61_000);
        assert_eq!(unclaimed.log_due_ms(), None);
    }
}
