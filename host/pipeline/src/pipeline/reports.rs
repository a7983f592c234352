//! Reports of clusters on the apps of `AppContext`s.

use std::collections::BTreeMap;

use kindsight_model::{
    ClusterName, ContextId, DeploymentId, DigName, MissingResources, Origin, Report, Subject,
};
use kindsight_status::ApplicationKey;

use super::Pipeline;
use super::found::FoundNews;
use crate::application_state::Changes;
use crate::placement::Change;

/// The origin of the fault of an app whose newest report is not known.
const QUEUE: &str = "report queue";

impl Pipeline {
    /// Handles the reports of one step of a cluster, those on the apps of one application together.
    pub(super) fn take_reports(
        &mut self,
        cluster: &ClusterName,
        reports: Vec<(Subject, Report)>,
        missing: Vec<MissingResources>,
        now_ms: i64,
    ) {
        if let Some(state) = self.shared.clusters.get_mut(cluster) {
            state.configured();
        }
        let mut found: BTreeMap<DigName, FoundNews> = BTreeMap::new();
        for (subject, report) in reports {
            match subject {
                Subject::Application { application, app } => {
                    let news = found.entry(application).or_default();
                    news.reports.push((app, report));
                }
                // The report of a monitor alone is stored: that is what is stored beside a context.
                Subject::Deployment(deployment) if report.origin == Origin::Direct => {
                    self.take_report(&deployment, cluster, report, now_ms);
                }
                Subject::Deployment(deployment) => {
                    self.report(cluster, deployment, report, now_ms);
                }
            }
        }
        for resources in missing {
            let news = found.entry(resources.application).or_default();
            news.missing = Some(resources.resources);
        }
        for (application, news) in found {
            self.report_found(cluster, application, news, now_ms);
        }
    }

    /// Judges a report of a monitor, publishes it, and stores it afterwards if kindsight recorded the context, or is the
    /// rsync of its orchestrator. The report waits if the store reader has not passed on its context yet.
    pub(super) fn report(
        &mut self,
        cluster: &ClusterName,
        deployment: DeploymentId,
        mut report: Report,
        now_ms: i64,
    ) {
        let context = deployment.context.clone();
        let (mut is_placed, mut is_stored) = (false, self.is_rsync);
        for id in self.references.shown_by(&context) {
            is_stored |= self.groups.is_own(&id);
            let state = self.applications.get(&ApplicationKey::Context(id));
            let app = &deployment.app;
            if let Some(placement) = state.and_then(|state| state.placement(app, cluster)) {
                placement.complete(&mut report);
                is_placed = true;
            }
        }
        if !is_placed {
            self.unclaimed
                .keep(cluster.clone(), deployment, report, now_ms);
            return;
        }
        let status_json = report.status_json.clone();
        self.take_report(&deployment, cluster, report, now_ms);
        if let Some(status_json) = status_json.filter(|_| is_stored) {
            self.bundles.push(deployment, cluster.clone(), status_json);
        }
    }

    /// Takes the reports that waited for the apps of a context, and marks its apps whose newest reports are not known.
    /// A report on an app that the context does not send to the cluster waits on, with its mark.
    pub(super) fn claim_reports(&mut self, context: &ContextId, now_ms: i64) {
        let ids = self.references.shown_by(context).into_iter();
        let keys: Vec<ApplicationKey> = ids.map(ApplicationKey::Context).collect();
        let applications = &self.applications;
        let claimed = self.unclaimed.claim(|app| {
            let mut states = keys.iter().filter_map(|key| applications.get(key));
            let name = &*app.deployment.app;
            app.deployment.context == *context
                && states.any(|state| state.placement(name, &app.cluster).is_some())
        });
        for (app, report) in claimed.reports {
            self.report(&app.cluster, app.deployment, report, now_ms);
        }
        for (app, why) in claimed.lost {
            let change = || Change::Unreadable {
                origin: QUEUE,
                error: why,
                may_be_newer: true,
            };
            self.change(&app.deployment, &app.cluster, now_ms, change);
        }
    }

    /// Applies a report to every context that it is about: all instances of a group that are reported under the
    /// id of one.
    fn take_report(
        &mut self,
        deployment: &DeploymentId,
        cluster: &ClusterName,
        report: Report,
        now_ms: i64,
    ) {
        let mut ids = self.references.shown_by(&deployment.context);
        let mut report = Some(report);
        while let Some(id) = ids.pop() {
            let report = if ids.is_empty() {
                report.take()
            } else {
                report.clone()
            };
            let Some(report) = report else {
                return;
            };
            let key = ApplicationKey::Context(id);
            let changes = self.apply(
                &key,
                &deployment.app,
                cluster,
                Change::Report(report),
                now_ms,
            );
            self.note_report(&key, changes.is_set_back);
        }
    }

    /// Records the order of reports: after a swap, applications with the latest reports are judged first.
    pub(super) fn note_report(&mut self, key: &ApplicationKey, is_set_back: bool) {
        self.reports += 1;
        let after = self.reports;
        if let Some(before) = self.applications.note_report(key, after) {
            self.swap.reported(key, before, after, is_set_back);
        }
    }

    /// Applies a change to the placements that a deployment is shown at, and publishes each that changed.
    pub(super) fn change<'c>(
        &mut self,
        deployment: &DeploymentId,
        cluster: &ClusterName,
        now_ms: i64,
        change: impl Fn() -> Change<'c>,
    ) {
        for id in self.references.shown_by(&deployment.context) {
            let key = ApplicationKey::Context(id);
            self.apply(&key, &deployment.app, cluster, change(), now_ms);
        }
    }

    /// Applies a change to the placement of an app in a cluster, and publishes the application if it changed.
    fn apply(
        &mut self,
        key: &ApplicationKey,
        app: &str,
        cluster: &ClusterName,
        change: Change<'_>,
        now_ms: i64,
    ) -> Changes {
        let shared = &self.shared;
        let changes = self.applications.update(key, shared, |state| {
            state.apply((app, cluster), change, shared, now_ms)
        });
        let changes = changes.unwrap_or_default();
        if changes.is_any {
            self.publish_changes(key, &changes, now_ms);
        }
        changes
    }
}
