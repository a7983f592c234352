//! Events of clusters: what they report, and the connections to them.

use std::sync::Arc;

use kindsight_clusters::{ClusterEvent, ClusterFacts, ReportMode};
use kindsight_model::ClusterName;
use kindsight_status::{
    ConnectionState, ConnectionView, FactsView, ReportMode as ShownMode, Staleness,
};

use super::Pipeline;
use crate::judge::Judge;
use crate::placement::Placement;

/// Maximum number of Kinds that are told not to be covered; the first ones are kept.
const NOT_COVERED_MAX: usize = 100;

/// Time after which it is noted again that a cluster was heard, in milliseconds.
const HEARD_EVERY_MS: i64 = 100;

impl Pipeline {
    /// Publishes a cluster that is configured and was not heard yet.
    pub fn expect_cluster(&mut self, cluster: &ClusterName, now_ms: i64) {
        self.change_connection(cluster, now_ms, |_| {});
    }

    pub(super) fn handle_cluster(&mut self, event: ClusterEvent, now_ms: i64) {
        let heard = event.heard_from().cloned();
        self.take_cluster(event, now_ms);
        // After it, so that who reads the time reads what was heard too.
        if let Some(cluster) = heard {
            self.heard(&cluster, now_ms);
        }
    }

    /// Notes when a cluster was heard whose connection is known.
    fn heard(&mut self, cluster: &ClusterName, now_ms: i64) {
        let Some(known) = self.connections.get(cluster) else {
            return;
        };
        let last_ms = known.heard_ms.unwrap_or(i64::MIN);
        if now_ms.saturating_sub(last_ms) >= HEARD_EVERY_MS {
            self.change_connection(cluster, now_ms, |it| it.heard_ms = Some(now_ms));
        }
    }

    fn take_cluster(&mut self, event: ClusterEvent, now_ms: i64) {
        match event {
            ClusterEvent::Bundle { cluster, bundle } => self.report(&cluster, bundle, now_ms),
            ClusterEvent::Gone {
                cluster,
                deployment,
            } => {
                tracing::info!(%cluster, %deployment, "cluster no longer reports on this app");
                self.unclaimed
                    .forget(|of, it| *of == cluster && it.deployment == deployment);
                self.change(&deployment, &cluster, now_ms, |it| it.silent(now_ms));
            }
            ClusterEvent::Deployment { cluster, report } => {
                self.report_seen(&cluster, *report, now_ms);
            }
            ClusterEvent::Application { cluster, reports } => {
                self.report_found(&cluster, reports, now_ms);
            }
            ClusterEvent::Added { cluster } => self.expect_cluster(&cluster, now_ms),
            ClusterEvent::Removed { cluster } => self.forget_cluster(&cluster, now_ms),
            ClusterEvent::Facts { cluster, facts } => {
                let facts = shown(*facts);
                let known = self.connections.get(&cluster);
                let known = known.and_then(|it| it.facts.as_ref());
                if known.is_some_and(|known| known.not_covered != facts.not_covered) {
                    // What is missing since the start may be known to be gone now.
                    self.forget_at_ms = Some(now_ms);
                }
                self.change_connection(&cluster, now_ms, |it| it.facts = Some(facts));
            }
            ClusterEvent::Unreadable {
                cluster,
                deployment,
                may_be_newer,
                origin,
                error,
            } => {
                tracing::warn!(%cluster, origin, error, "report not readable");
                if let Some(deployment) = deployment {
                    self.change(&deployment, &cluster, now_ms, |placement| {
                        placement.fault(origin.clone(), &error, may_be_newer, now_ms)
                    });
                }
            }
            // When it was heard is noted of every event.
            ClusterEvent::Heard { .. } => {}
            ClusterEvent::Faults { cluster, faults } => self.faults(&cluster, faults, now_ms),
            ClusterEvent::Stale { cluster, reason } => self.stale(&cluster, &reason, now_ms),
            ClusterEvent::Synced { cluster } => self.synced(&cluster, now_ms),
        }
    }

    fn faults(&mut self, cluster: &ClusterName, faults: Vec<String>, now_ms: i64) {
        let faults: Arc<[Arc<str>]> = faults.into_iter().map(Arc::from).collect();
        self.change_all(cluster, now_ms, |it| it.set_cluster_faults(&faults));
        self.change_connection(cluster, now_ms, |it| it.faults = Arc::clone(&faults));
        // None is what a placement begins with.
        self.cluster_faults.remove(cluster);
        if !faults.is_empty() {
            self.cluster_faults.insert(cluster.clone(), faults);
        }
    }

    fn stale(&mut self, cluster: &ClusterName, reason: &str, now_ms: i64) {
        tracing::warn!(%cluster, reason, "cluster not heard");
        let known = self.unreachable.get(cluster);
        let cause = Staleness {
            since_ms: known.map_or(now_ms, |known| known.since_ms),
            reason: reason.into(),
        };
        self.change_all(cluster, now_ms, |placement| placement.unreachable(&cause));
        self.change_connection(cluster, now_ms, |it| {
            it.state = ConnectionState::Stale;
            it.since_ms = cause.since_ms;
            it.reason = Some(Arc::clone(&cause.reason));
        });
        self.unreachable.insert(cluster.clone(), cause);
    }

    fn synced(&mut self, cluster: &ClusterName, now_ms: i64) {
        self.unreachable.remove(cluster);
        self.forget_remembered(cluster, now_ms);
        let interpreters = Arc::clone(&self.interpreters);
        for (key, state) in &mut self.states {
            let bring_back =
                |it: &mut Placement, judge: Judge<'_>| it.bring_back_live(judge, now_ms);
            if state.judge_all(cluster, &interpreters, bring_back) {
                self.publisher.publish(key, state.view(key), now_ms);
            }
        }
        self.change_all(cluster, now_ms, |placement| placement.synced(now_ms));
        self.change_connection(cluster, now_ms, |it| {
            if it.state != ConnectionState::Connected {
                tracing::info!(%cluster, "cluster connected");
                it.state = ConnectionState::Connected;
                it.since_ms = now_ms;
                it.reason = None;
            }
        });
        // What was gone before the cluster could not be reached may be due by now.
        self.forget_at_ms = Some(now_ms);
    }

    /// Changes the connection to a cluster, and publishes it. A cluster that was not known is connecting.
    fn change_connection(
        &mut self,
        cluster: &ClusterName,
        now_ms: i64,
        change: impl FnOnce(&mut ConnectionView),
    ) {
        let known = self.connections.entry(cluster.clone());
        let connection = known.or_insert_with(|| ConnectionView {
            state: ConnectionState::Connecting,
            since_ms: now_ms,
            reason: None,
            faults: Arc::default(),
            heard_ms: None,
            facts: None,
        });
        change(connection);
        let read_model = self.publisher.read_model();
        read_model.publish_connection(cluster, Some(connection.clone()));
    }
}

/// Facts as they are shown.
fn shown(facts: ClusterFacts) -> Arc<FactsView> {
    let ClusterFacts {
        origin,
        mode,
        selector,
        server_version,
        mut not_covered,
        objects,
        watches,
    } = facts;
    not_covered.truncate(NOT_COVERED_MAX);
    Arc::new(FactsView {
        origin,
        mode: shown_mode(mode),
        selector,
        server_version,
        not_covered,
        objects,
        watches,
    })
}

fn shown_mode(mode: ReportMode) -> ShownMode {
    match mode {
        ReportMode::Auto => ShownMode::Auto,
        ReportMode::Bundles => ShownMode::Bundles,
        ReportMode::Direct => ShownMode::Direct,
    }
}
