//! Reports of clusters on the apps of `AppContext`s.

use kindsight_appcontext::Recorded;
use kindsight_clusters::DeploymentReport;
use kindsight_model::{Bundle, ClusterName, DeploymentId};
use kindsight_status::ApplicationKey;
use kindsight_store::{Revision, chain};

use super::Pipeline;
use crate::judge::Judge;
use crate::placement::Placement;

/// Maximum number of own changes that the store has not notified of yet; of more, the oldest is forgotten
/// and read again.
const OWN_REVISIONS_MAX: usize = 64 * 1024;

impl Pipeline {
    /// Stores a bundle, and judges it where it changed.
    pub(super) fn report(&mut self, cluster: &ClusterName, mut bundle: Bundle, now_ms: i64) {
        let key = ApplicationKey::Context(bundle.deployment.context.clone());
        if !self.states.contains_key(&key) {
            // The context was written, but the store has not notified of it yet. Read before the report is
            // stored: what is stored tells what its reporter covers.
            self.refresh(&bundle.deployment.context.clone(), now_ms);
        }
        let state = self.states.get(&key);
        if let Some(placement) = state.and_then(|it| it.placement(&bundle.deployment.app, cluster))
        {
            placement.complete(&mut bundle);
        }
        let DeploymentId { context, app } = &bundle.deployment;
        let recorded = self
            .contexts
            .record_bundle(context, app, cluster, &bundle.status_json);
        match recorded {
            Ok(Recorded::Written(revision)) => self.note_own(revision),
            Ok(Recorded::Unchanged) => {}
            Ok(Recorded::NotFound) => {
                tracing::warn!(%cluster, deployment = %bundle.deployment, "report on an app that no AppContext sends to this cluster; it waits for one");
                self.unclaimed.keep(cluster.clone(), bundle);
                return;
            }
            Err(error) => {
                // Published although it is not stored: the current state matters more than the state
                // after a restart, and the next report tries again.
                tracing::error!(%cluster, deployment = %bundle.deployment, error = chain(&error), "report not stored");
            }
        }
        let deployment = bundle.deployment.clone();
        if !self.states.contains_key(&key) {
            // The context was written, but the store has not notified of it yet.
            self.refresh(&deployment.context, now_ms);
        }
        let mut is_set_back = false;
        self.change(&deployment, cluster, now_ms, |placement, judge| {
            is_set_back = placement.report(bundle, judge, now_ms);
            true
        });
        self.note_report(&key, is_set_back);
    }

    /// Judges what is seen of an app that no monitor reports on. It is not stored: what is stored beside a
    /// context is what a monitor wrote.
    pub(super) fn report_seen(
        &mut self,
        cluster: &ClusterName,
        report: DeploymentReport,
        now_ms: i64,
    ) {
        let deployment = report.deployment.clone();
        let unreachable = self.unreachable.get(cluster).cloned();
        let mut is_set_back = false;
        self.change(&deployment, cluster, now_ms, |placement, judge| {
            is_set_back = placement.report_seen(report, judge, now_ms);
            // While a part of the cluster is not heard, what came may be out of date too.
            if let Some(cause) = &unreachable {
                placement.unreachable(cause);
            }
            true
        });
        self.note_report(&ApplicationKey::Context(deployment.context), is_set_back);
    }

    fn note_own(&mut self, revision: Revision) {
        self.own_revisions.insert(revision);
        if self.own_revisions.len() > OWN_REVISIONS_MAX {
            self.own_revisions.pop_first();
        }
    }

    /// Records the order of reports: after a swap, applications with the latest reports are judged first.
    pub(super) fn note_report(&mut self, key: &ApplicationKey, is_set_back: bool) {
        self.reports += 1;
        if let Some(state) = self.states.get_mut(key) {
            let before = std::mem::replace(&mut state.last_report, self.reports);
            let after = self.reports;
            self.swap.reported(key, before, after, is_set_back);
        }
    }

    /// Changes one placement, and publishes it where `change` says that it did.
    pub(super) fn change(
        &mut self,
        deployment: &DeploymentId,
        cluster: &ClusterName,
        now_ms: i64,
        change: impl FnOnce(&mut Placement, Judge<'_>) -> bool,
    ) {
        let DeploymentId { context, app } = deployment;
        let key = ApplicationKey::Context(context.clone());
        if let Some(state) = self.states.get_mut(&key)
            && state.change(app, cluster, &self.interpreters, change)
        {
            self.publisher.publish(&key, state.view(&key), now_ms);
        }
    }

    /// Changes every placement in a cluster, and publishes the applications in which `change` says that it
    /// did.
    pub(super) fn change_all(
        &mut self,
        cluster: &ClusterName,
        now_ms: i64,
        change: impl Fn(&mut Placement) -> bool,
    ) {
        for (key, state) in &mut self.states {
            if state.change_all(cluster, &change) {
                self.publisher.publish(key, state.view(key), now_ms);
            }
        }
    }
}
