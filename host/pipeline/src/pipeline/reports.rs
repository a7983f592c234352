//! Reports of clusters on the apps of `AppContext`s.

use std::sync::Arc;

use kindsight_clusters::DeploymentReport;
use kindsight_model::{Bundle, ClusterName, ContextId, DeploymentId};
use kindsight_status::ApplicationKey;

use super::Pipeline;
use crate::judge::Judge;
use crate::placement::Placement;

impl Pipeline {
    /// Judges a bundle, publishes it, and lets it be stored behind that where its context is ours.
    pub(super) fn report(&mut self, cluster: &ClusterName, mut bundle: Bundle, now_ms: i64) {
        let context = bundle.deployment.context.clone();
        if self.references.shown_by(&context).is_empty() && self.store_away.is_none() {
            // The context may be written, and the store has not notified of it yet.
            self.refresh(&context, now_ms);
        }
        let (mut is_placed, mut is_own) = (false, false);
        for id in self.references.shown_by(&context) {
            is_own |= self.groups.is_own(&id);
            let state = self.states.get(&ApplicationKey::Context(id));
            let app = &bundle.deployment.app;
            if let Some(placement) = state.and_then(|it| it.placement(app, cluster)) {
                placement.complete(&mut bundle);
                is_placed = true;
            }
        }
        if !is_placed {
            tracing::warn!(%cluster, deployment = %bundle.deployment, "report on an app that no AppContext sends to this cluster; it waits for one");
            self.unclaimed.keep(cluster.clone(), bundle);
            return;
        }
        let deployment = bundle.deployment.clone();
        let status_json = Arc::clone(&bundle.status_json);
        self.take_report(&deployment, cluster, now_ms, bundle, Placement::report);
        if is_own {
            self.bundles.push(deployment, cluster.clone(), status_json);
        }
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
        let take = |placement: &mut Placement, report, judge: Judge<'_>, now_ms| {
            let is_set_back = placement.report_seen(report, judge, now_ms);
            // While a part of the cluster is not heard, what came may be out of date too.
            if let Some(cause) = &unreachable {
                placement.unreachable(cause);
            }
            is_set_back
        };
        self.take_report(&deployment, cluster, now_ms, report, take);
    }

    /// Hands a report to every context that it is about: all instances of a group that are reported under the
    /// id of one.
    fn take_report<R: Clone>(
        &mut self,
        deployment: &DeploymentId,
        cluster: &ClusterName,
        now_ms: i64,
        report: R,
        take: impl Fn(&mut Placement, R, Judge<'_>, i64) -> bool,
    ) {
        let mut ids = self.references.shown_by(&deployment.context);
        let mut report = Some(report);
        while let Some(id) = ids.pop() {
            let is_last = ids.is_empty();
            let mut is_set_back = false;
            self.change_one(&id, &deployment.app, cluster, now_ms, |placement, judge| {
                let report = if is_last {
                    report.take()
                } else {
                    report.clone()
                };
                if let Some(report) = report {
                    is_set_back = take(placement, report, judge, now_ms);
                }
                true
            });
            self.note_report(&ApplicationKey::Context(id), is_set_back);
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

    /// Changes the placements that a deployment is shown at, and publishes each where `change` says that it did.
    pub(super) fn change(
        &mut self,
        deployment: &DeploymentId,
        cluster: &ClusterName,
        now_ms: i64,
        change: impl Fn(&mut Placement) -> bool,
    ) {
        for id in self.references.shown_by(&deployment.context) {
            self.change_one(&id, &deployment.app, cluster, now_ms, |it, _| change(it));
        }
    }

    fn change_one(
        &mut self,
        id: &ContextId,
        app: &str,
        cluster: &ClusterName,
        now_ms: i64,
        change: impl FnOnce(&mut Placement, Judge<'_>) -> bool,
    ) {
        let key = ApplicationKey::Context(id.clone());
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
