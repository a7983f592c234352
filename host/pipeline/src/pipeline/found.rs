//! Applications that are found in the clusters, and clusters that go.

use kindsight_clusters::ApplicationReport;
use kindsight_model::ClusterName;
use kindsight_status::ApplicationKey;

use super::Pipeline;
use crate::application_state::ApplicationState;
use crate::placement::Uncovered;

impl Pipeline {
    /// Judges what a cluster has of apps of an application that nobody recorded: one that was found, or one of
    /// the configuration. It is published once.
    pub(super) fn report_found(
        &mut self,
        cluster: &ClusterName,
        mut reports: Vec<ApplicationReport>,
        now_ms: i64,
    ) {
        self.compare_selectors(cluster, &mut reports);
        let Some(name) = reports.first().map(|it| it.application.clone()) else {
            return;
        };
        let key = ApplicationKey::Found(name.clone());
        let is_empty = |it: &ApplicationReport| it.objects.is_empty() && it.rejected.is_empty();
        if reports.iter().all(is_empty) && !self.states.contains_key(&key) {
            return;
        }
        let (goal, gone_for) = (self.swap.goal(), self.gone_for);
        let absence = (gone_for, Uncovered::of(self.connections.get(cluster)));
        let state = self.states.entry(key.clone());
        let state = state.or_insert_with(|| {
            if self.publisher.read_model().inspect(|it| it.is_recorded(&name)) {
                tracing::warn!(application = %name, "an application of the configuration has the name of a deployment intent group, which is answered instead; give it another name");
            }
            ApplicationState::found(name, goal)
        });
        let is_sorted_anew = reports
            .iter()
            .any(|it| it.is_sorted_anew || !it.taken.is_empty());
        let mut is_set_back = false;
        for report in reports {
            is_set_back |= state.report(cluster, report, &self.interpreters, absence, now_ms);
        }
        if let Some(faults) = self.cluster_faults.get(cluster) {
            state.change_all(cluster, |it| it.set_cluster_faults(faults));
        }
        // While a part of the cluster is not heard, what came may be out of date too.
        if let Some(cause) = self.unreachable.get(cluster) {
            state.change_all(cluster, |it| it.unreachable(cause));
        }
        let forget_at_ms = state.forget_at_ms(gone_for);
        self.forget_at_ms = self.forget_at_ms.into_iter().chain(forget_at_ms).min();
        self.note_report(&key, is_set_back);
        self.publish_found(&key, is_sorted_anew, now_ms);
    }

    /// Forgets what is gone for long enough, if anything may be.
    pub(super) fn forget_gone(&mut self, now_ms: i64) {
        if self.forget_at_ms.is_none_or(|at| at > now_ms) {
            return;
        }
        let mut changed = Vec::new();
        let mut next: Option<i64> = None;
        for (key, state) in &mut self.states {
            if state.forget_gone(self.gone_for, &self.connections, now_ms) {
                changed.push(key.clone());
            }
            next = next
                .into_iter()
                .chain(state.forget_at_ms(self.gone_for))
                .min();
        }
        self.forget_at_ms = next;
        for key in changed {
            self.publish_found(&key, false, now_ms);
        }
    }

    /// Forgets everything about a cluster that is no longer configured. What was sent to it stays a part of
    /// its applications, with the last report marked as stale.
    pub(super) fn forget_cluster(&mut self, cluster: &ClusterName, now_ms: i64) {
        tracing::info!(%cluster, "cluster is no longer configured");
        self.unreachable.remove(cluster);
        self.cluster_faults.remove(cluster);
        self.unclaimed.forget(|of, _| of == cluster);
        let mut changed = Vec::new();
        for (key, state) in &mut self.states {
            let is_changed = match key {
                ApplicationKey::Found(_) => state.forget_cluster(cluster),
                ApplicationKey::Context(_) => {
                    state.change_all(cluster, |it| it.set_cluster_faults(&[].into()));
                    state.change_all(cluster, |it| it.removed(now_ms))
                }
            };
            if is_changed {
                changed.push(key.clone());
            }
        }
        for key in changed {
            self.publish_found(&key, false, now_ms);
            if key.context().is_none() {
                self.publisher.forget_history(&key, cluster);
            }
        }
        if self.connections.remove(cluster).is_some() {
            let read_model = self.publisher.read_model();
            read_model.publish_connection(cluster, None);
        }
    }

    /// Publishes an application, or forgets it where nothing is left of it.
    fn publish_found(&mut self, key: &ApplicationKey, is_sorted_anew: bool, now_ms: i64) {
        let Some(state) = self.states.get(key) else {
            return;
        };
        if matches!(key, ApplicationKey::Found(_)) && state.is_empty() {
            self.states.remove(key);
            self.publisher.remove(key);
        } else if is_sorted_anew {
            let view = state.view(key);
            self.publisher.publish_sorted_anew(key, view, now_ms);
        } else {
            self.publisher.publish(key, state.view(key), now_ms);
        }
    }
}
