//! Events of clusters: their reports, their coverage and the connections to them.

use std::sync::Arc;

use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterFacts, ClusterName, Coverage, DeploymentId};
use kindsight_status::{ApplicationKey, ConnectionView};

use super::Pipeline;
use crate::placement::{Change, Placement};

/// Time after which the last event of a cluster is noted again, in milliseconds.
const HEARD_EVERY_MS: i64 = 100;

impl Pipeline {
    /// Publishes a cluster that is configured and has sent nothing yet.
    pub fn expect_cluster(&mut self, cluster: &ClusterName, now_ms: i64) {
        self.change_connection(cluster, now_ms, |_| {});
    }

    pub(super) fn handle_cluster(&mut self, event: ClusterEvent, now_ms: i64) {
        if let Some(cluster) = event.of_source().cloned()
            && !self.may_use(&cluster, now_ms)
        {
            return self.withhold(&cluster, event);
        }
        let heard = event.heard_from().cloned();
        self.take_cluster(event, now_ms);
        // Last, so that a reader of the time reads the effect of the event too.
        if let Some(cluster) = heard {
            self.heard(&cluster, now_ms);
        }
    }

    /// Notes the time of the last event of a cluster whose connection is known.
    fn heard(&mut self, cluster: &ClusterName, now_ms: i64) {
        let Some(known) = self.shared.clusters.get(cluster).connection() else {
            return;
        };
        let last_ms = known.heard_ms.unwrap_or(i64::MIN);
        if now_ms.saturating_sub(last_ms) >= HEARD_EVERY_MS {
            self.change_connection(cluster, now_ms, |connection| {
                connection.heard_ms = Some(now_ms);
            });
        }
    }

    fn take_cluster(&mut self, event: ClusterEvent, now_ms: i64) {
        match event {
            ClusterEvent::Reports {
                cluster,
                reports,
                missing,
            } => self.take_reports(&cluster, reports, missing, now_ms),
            ClusterEvent::Coverage { cluster, coverage } => self.cover(&cluster, coverage, now_ms),
            ClusterEvent::Gone {
                cluster,
                deployment,
            } => self.silent(&cluster, &deployment, now_ms),
            ClusterEvent::Added { cluster } => self.expect_cluster(&cluster, now_ms),
            ClusterEvent::Removed { cluster } => self.forget_cluster(&cluster, now_ms),
            ClusterEvent::Facts { cluster, facts } => self.facts(&cluster, facts, now_ms),
            ClusterEvent::Unreadable {
                cluster,
                deployment,
                may_be_newer,
                origin,
                error,
            } => {
                tracing::warn!(%cluster, origin, error, "report not readable");
                if let Some(deployment) = deployment {
                    if may_be_newer {
                        self.unclaimed.mark_outdated(&cluster, &deployment);
                    }
                    let change = || Change::Unreadable {
                        origin: &origin,
                        error: &error,
                        may_be_newer,
                    };
                    self.change(&deployment, &cluster, now_ms, change);
                }
            }
            // The time of every event is noted.
            ClusterEvent::Heard { .. } => {}
            ClusterEvent::Faults { cluster, faults } => self.faults(&cluster, faults, now_ms),
            ClusterEvent::Stale { cluster, reason } => self.stale(&cluster, &reason, now_ms),
            ClusterEvent::Owner {
                cluster,
                owner,
                reason,
            } => self.unowned(&cluster, owner, &reason, now_ms),
            ClusterEvent::Synced { cluster } => self.synced(&cluster, now_ms),
        }
    }

    fn silent(&mut self, cluster: &ClusterName, deployment: &DeploymentId, now_ms: i64) {
        tracing::info!(%cluster, %deployment, "cluster no longer reports on this app");
        self.unclaimed
            .forget(|app| app.cluster == *cluster && app.deployment == *deployment);
        self.change(deployment, cluster, now_ms, || Change::Silent);
    }

    fn faults(&mut self, cluster: &ClusterName, faults: Vec<String>, now_ms: i64) {
        let faults = faults.into_iter().map(Arc::from).collect();
        let state = self.shared.clusters.entry(cluster, now_ms);
        state.set_faults(faults, now_ms);
        self.publish_connection(cluster);
        self.change_all(cluster, now_ms, || Change::Cluster);
    }

    pub(super) fn stale(&mut self, cluster: &ClusterName, reason: &str, now_ms: i64) {
        tracing::warn!(%cluster, reason, "cluster not heard");
        self.shared
            .clusters
            .entry(cluster, now_ms)
            .lost(reason, now_ms);
        self.change_all(cluster, now_ms, || Change::Cluster);
        self.publish_connection(cluster);
    }

    /// Handles a new coverage of a cluster: each of its placements follows the Kinds that it depends on.
    fn cover(&mut self, cluster: &ClusterName, coverage: Coverage, now_ms: i64) {
        let last_known = self.last_known.get(cluster);
        let last_known = last_known.and_then(|known| known.coverage.as_ref());
        let state = self.shared.clusters.entry(cluster, now_ms);
        let Some(lost) = state.cover(cluster, coverage, last_known, now_ms) else {
            return;
        };
        for kind in lost {
            tracing::warn!(%cluster, kind, "the cluster does not report a Kind any more; the state of its objects is not known");
        }
        self.change_all(cluster, now_ms, || Change::Cluster);
        self.publish_connection(cluster);
    }

    fn facts(&mut self, cluster: &ClusterName, facts: Arc<ClusterFacts>, now_ms: i64) {
        let before = self.last_known.get(cluster);
        let before = before.and_then(|known| known.identity.as_ref());
        if let (Some(before), Some(now)) = (before, &facts.identity)
            && before != now
        {
            tracing::warn!(%cluster, "another cluster has this name since the start; the last-known state is forgotten");
            self.forget_last_known(cluster, now_ms);
        }
        self.change_connection(cluster, now_ms, |connection| connection.facts = Some(facts));
    }

    pub(super) fn synced(&mut self, cluster: &ClusterName, now_ms: i64) {
        let is_new = self.shared.clusters.entry(cluster, now_ms).reached(now_ms);
        self.confirm_last_known(cluster, now_ms);
        self.change_all(cluster, now_ms, || Change::Synced);
        if is_new {
            tracing::info!(%cluster, "cluster connected");
        }
        self.publish_connection(cluster);
        if is_new {
            self.publish_joined(cluster, now_ms);
        }
    }

    /// Handles the end of the grace times of clusters since the last look.
    pub(super) fn end_grace(&mut self, now_ms: i64) {
        let after_ms = std::mem::replace(&mut self.grace_seen_ms, now_ms);
        for cluster in self.shared.clusters.grace_ended(after_ms, now_ms) {
            self.change_all(&cluster, now_ms, || Change::Cluster);
        }
    }

    /// Returns whether queries about a cluster can be answered: it has answered for every Kind or has had the
    /// grace time to do so, or it cannot be reached, or it is not configured any more.
    pub(crate) fn is_ready(&self, cluster: &ClusterName, now_ms: i64) -> bool {
        self.shared.clusters.get(cluster).is_ready(now_ms)
    }

    /// Changes the connection to a cluster, and publishes it. A cluster that was not known is connecting.
    pub(crate) fn change_connection(
        &mut self,
        cluster: &ClusterName,
        now_ms: i64,
        change: impl FnOnce(&mut ConnectionView),
    ) {
        let state = self.shared.clusters.entry(cluster, now_ms);
        state.change(now_ms, change);
        self.publish_connection(cluster);
    }

    fn publish_connection(&mut self, cluster: &ClusterName) {
        let connection = self.shared.clusters.get(cluster).connection().cloned();
        self.publisher.publish_connection(cluster, connection);
    }

    /// Applies a change to every placement in a cluster, and publishes the applications that changed.
    pub(super) fn change_all<'c>(
        &mut self,
        cluster: &ClusterName,
        now_ms: i64,
        change: impl Fn() -> Change<'c>,
    ) {
        let all = self.applications.iter();
        let keys = all.filter(|(_, state)| state.is_in(cluster));
        let keys: Vec<ApplicationKey> = keys.map(|(key, _)| key.clone()).collect();
        for key in keys {
            let is_there = |placement: &Placement| placement.cluster() == cluster;
            self.change_application(&key, is_there, &change, now_ms);
        }
    }
}
