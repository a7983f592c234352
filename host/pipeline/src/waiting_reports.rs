//! Reports that wait: the newest report on each app in a cluster, within limits.

use std::collections::BTreeMap;

use kindsight_model::{ClusterName, DeploymentId};

/// An app of a deployment in a cluster. Ordered by context first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReportedApp {
    pub(crate) deployment: DeploymentId,
    pub(crate) cluster: ClusterName,
}

/// A report that waits.
#[derive(Debug)]
pub(crate) struct Waiting<R> {
    /// Its place in the order.
    turn: u64,
    bytes: usize,
    pub(crate) report: R,
}

/// Limits on the reports that wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingLimits {
    pub(crate) reports_max: usize,
    pub(crate) bytes_max: usize,
}

/// The newest report on each app in a cluster, oldest turn first. If the limits are exceeded, the oldest are
/// dropped.
#[derive(Debug)]
pub(crate) struct WaitingReports<R> {
    limits: WaitingLimits,
    by_app: BTreeMap<ReportedApp, Waiting<R>>,
    by_turn: BTreeMap<u64, ReportedApp>,
    last_turn: u64,
    bytes: usize,
}

impl<R> WaitingReports<R> {
    pub(crate) fn new(limits: WaitingLimits) -> Self {
        Self {
            limits,
            by_app: BTreeMap::new(),
            by_turn: BTreeMap::new(),
            last_turn: 0,
            bytes: 0,
        }
    }

    /// Adds a report of this size. It takes the turn of an older report on the same app. Returns the apps whose
    /// reports were dropped.
    pub(crate) fn push(&mut self, app: ReportedApp, report: R, bytes: usize) -> Vec<ReportedApp> {
        let turn = if let Some(older) = self.remove(&app) {
            older.turn
        } else {
            self.last_turn += 1;
            self.last_turn
        };
        let waiting = Waiting {
            turn,
            bytes,
            report,
        };
        self.insert(app, waiting);
        self.drop_excess()
    }

    /// Takes the report whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<(ReportedApp, Waiting<R>)> {
        let (_, app) = self.by_turn.first_key_value()?;
        let app = app.clone();
        let waiting = self.remove(&app)?;
        Some((app, waiting))
    }

    /// Takes the first report whose app `accepts`, with the value that it returns for the app.
    pub(crate) fn pop_first<T>(
        &mut self,
        accepts: impl Fn(&ReportedApp) -> Option<T>,
    ) -> Option<(ReportedApp, Waiting<R>, T)> {
        let mut apps = self.by_turn.values();
        let (app, accepted) = apps.find_map(|app| {
            let accepted = accepts(app)?;
            Some((app.clone(), accepted))
        })?;
        let waiting = self.remove(&app)?;
        Some((app, waiting, accepted))
    }

    /// Returns a report to its turn, unless a newer one waits.
    pub(crate) fn put_back(&mut self, app: ReportedApp, waiting: Waiting<R>) {
        if !self.contains(&app) {
            self.insert(app, waiting);
        }
    }

    /// Takes the report on an app.
    pub(crate) fn remove(&mut self, app: &ReportedApp) -> Option<Waiting<R>> {
        let waiting = self.by_app.remove(app)?;
        self.by_turn.remove(&waiting.turn);
        self.bytes = self.bytes.saturating_sub(waiting.bytes);
        Some(waiting)
    }

    /// Takes the reports on the matching apps, in the order of their turns.
    pub(crate) fn take(&mut self, matches: impl Fn(&ReportedApp) -> bool) -> Vec<(ReportedApp, R)> {
        let apps = self.by_turn.values().filter(|app| matches(app));
        let apps: Vec<ReportedApp> = apps.cloned().collect();
        let reports = apps.into_iter().filter_map(|app| {
            let waiting = self.remove(&app)?;
            Some((app, waiting.report))
        });
        reports.collect()
    }

    pub(crate) fn contains(&self, app: &ReportedApp) -> bool {
        self.by_app.contains_key(app)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_app.len()
    }

    /// Size of all reports, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_app.is_empty()
    }

    fn drop_excess(&mut self) -> Vec<ReportedApp> {
        let mut dropped = Vec::new();
        while self.len() > self.limits.reports_max || self.bytes > self.limits.bytes_max {
            let Some((oldest, _)) = self.pop() else {
                break;
            };
            dropped.push(oldest);
        }
        dropped
    }

    fn insert(&mut self, app: ReportedApp, waiting: Waiting<R>) {
        self.bytes = self.bytes.saturating_add(waiting.bytes);
        self.by_turn.insert(waiting.turn, app.clone());
        self.by_app.insert(app, waiting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: WaitingLimits = WaitingLimits {
        reports_max: 3,
        bytes_max: 10,
    };

    fn app(deployment: &str) -> ReportedApp {
        ReportedApp {
            deployment: deployment.parse().unwrap(),
            cluster: "p+c".parse().unwrap(),
        }
    }

    fn waiting(of: &[(&str, &'static str)]) -> WaitingReports<&'static str> {
        let mut reports = WaitingReports::new(LIMITS);
        for &(deployment, report) in of {
            assert_eq!(reports.push(app(deployment), report, report.len()), []);
        }
        reports
    }

    /// Reports in the order of their turns.
    fn taken(mut reports: WaitingReports<&'static str>) -> Vec<(String, &'static str)> {
        let taken = std::iter::from_fn(|| reports.pop());
        let taken = taken.map(|(app, waiting)| (app.deployment.to_string(), waiting.report));
        let taken = taken.collect();
        assert_eq!((reports.bytes, reports.by_turn.len()), (0, 0));
        taken
    }

    #[test]
    fn the_newest_report_on_an_app_waits_in_the_turn_of_the_first() {
        let reports = waiting(&[("7-a", "1"), ("7-b", "22"), ("7-a", "333")]);
        let expected = [("7-a".to_owned(), "333"), ("7-b".to_owned(), "22")];
        assert_eq!(taken(reports), expected);
    }

    #[test]
    fn a_report_that_is_put_back_keeps_its_turn_unless_a_newer_one_waits() {
        let mut reports = waiting(&[("7-a", "1"), ("7-b", "2")]);
        let (first, older) = reports.pop().unwrap();
        reports.put_back(first, older);
        let (first, older) = reports.pop().unwrap();
        assert_eq!(first, app("7-a"));
        assert_eq!(reports.push(app("7-a"), "3", 1), []);
        reports.put_back(first, older);
        let expected = [("7-b".to_owned(), "2"), ("7-a".to_owned(), "3")];
        assert_eq!(taken(reports), expected);
    }

    #[test]
    fn beyond_either_limit_the_oldest_reports_are_dropped_and_named() {
        let mut reports = waiting(&[("1-a", "1"), ("2-a", "2"), ("3-a", "3")]);
        assert_eq!(reports.push(app("4-a"), "4", 1), [app("1-a")]);
        let dropped = reports.push(app("5-a"), "123456789", 9);
        assert_eq!(dropped, [app("2-a"), app("3-a")]);
        assert_eq!((reports.len(), reports.bytes), (2, 10));
    }

    #[test]
    fn the_reports_on_matching_apps_are_taken() {
        let mut reports = waiting(&[("8-a", "1"), ("7-b", "2"), ("7-a", "3")]);
        let of_context = reports.take(|report| report.deployment.context.as_str() == "7");
        assert_eq!(of_context, [(app("7-b"), "2"), (app("7-a"), "3")]);
        assert_eq!(taken(reports), [("8-a".to_owned(), "1")]);
    }
}
