//! Views and histories that were last known before the start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_clusters::ApplicationReport;
use kindsight_model::{ClusterName, CoveredKinds};
use kindsight_status::{ApplicationKey, ClusterView, ConnectionView, Staleness};

use super::Pipeline;
use crate::application_state::ApplicationState;
use crate::remembered::{RememberedFile, RememberedPlacement};

/// The reason of what is known from before the start alone.
const NOT_HEARD: &str =
    "the cluster was not heard since the start; what was last known before it is shown";

impl Pipeline {
    /// Shows what was last known of applications in the clusters that are expected, marked as stale until these
    /// are heard, and takes over the histories. What is of no expected cluster is forgotten.
    ///
    /// To be called once, after [`Pipeline::expect_cluster`] and before [`Pipeline::load`].
    pub fn remember(&mut self, file: &mut RememberedFile, now_ms: i64) {
        let remembered = file.take();
        let mut others: BTreeMap<ApplicationKey, BTreeSet<ClusterName>> = BTreeMap::new();
        for placement in remembered.placements {
            let key = ApplicationKey::Found(placement.application.clone());
            if self.connections.contains_key(&placement.cluster) {
                let cluster = remembered.clusters.get(&placement.cluster);
                let since_ms = cluster.map_or(now_ms, |it| it.current_until_ms);
                self.remember_placement(&key, placement, since_ms);
            } else {
                others.entry(key).or_default().insert(placement.cluster);
            }
        }
        for (key, history) in remembered.histories {
            if key.context().is_some() || self.states.contains_key(&key) {
                self.publisher.restore_history(&key, history);
                for cluster in others.get(&key).into_iter().flatten() {
                    self.publisher.forget_history(&key, cluster);
                }
            }
        }
        let selectors = remembered.clusters.into_iter();
        self.selectors = selectors.map(|(name, it)| (name, it.selector)).collect();
        for (key, state) in &self.states {
            self.publisher.remember(key, state.view(key));
        }
    }

    fn remember_placement(
        &mut self,
        key: &ApplicationKey,
        placement: RememberedPlacement,
        since_ms: i64,
    ) {
        let RememberedPlacement {
            application,
            app,
            cluster,
            resources,
        } = placement;
        let stale = Staleness {
            since_ms,
            reason: NOT_HEARD.into(),
        };
        let view = ClusterView::remembered(cluster, resources, stale.clone());
        let goal = self.swap.goal();
        let state = self.states.entry(key.clone());
        let state = state.or_insert_with(|| ApplicationState::found(application, goal));
        state.remember(&app, view, stale);
    }

    /// Notes in reports on apps that are known from before the start alone whether the objects of their cluster
    /// were looked for by other labels then: one that is missing may be there all the same.
    pub(super) fn compare_selectors(
        &self,
        cluster: &ClusterName,
        reports: &mut [ApplicationReport],
    ) {
        let Some(before) = self.selectors.get(cluster) else {
            return;
        };
        let connection = self.connections.get(cluster);
        if connection.and_then(ConnectionView::selector) == before.as_ref() {
            return;
        }
        for report in reports {
            let key = ApplicationKey::Found(report.application.clone());
            let known = self.states.get(&key).map(|it| it.remembered_in(cluster));
            report.is_sorted_anew |= known.is_some_and(|it| it.contains(&report.app));
        }
    }

    /// Handles a complete listing of a cluster: it has nothing of what is still known from before the start
    /// alone.
    pub(super) fn forget_remembered(&mut self, cluster: &ClusterName, now_ms: i64) {
        let states = self.states.iter();
        let remembered = states.filter_map(|(key, state)| match key {
            ApplicationKey::Context(_) => None,
            ApplicationKey::Found(name) => Some((name.clone(), state.remembered_in(cluster))),
        });
        let remembered: Vec<_> = remembered.filter(|(_, apps)| !apps.is_empty()).collect();
        for (application, apps) in remembered {
            let apps = apps.into_iter();
            let reports = apps.map(|app| nothing(application.clone(), app));
            self.report_found(cluster, reports.collect(), now_ms);
        }
    }
}

/// The report that nothing is left of an app.
fn nothing(application: kindsight_model::DigName, app: Arc<str>) -> ApplicationReport {
    ApplicationReport {
        application,
        app,
        objects: Vec::new(),
        hooks: BTreeSet::new(),
        rejected: Vec::new(),
        related: Vec::new(),
        taken: Vec::new(),
        is_sorted_anew: false,
        covered: CoveredKinds::partial(),
    }
}
