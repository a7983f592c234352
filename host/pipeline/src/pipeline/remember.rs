//! Views and histories that were last known before the start.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{ClusterName, DigName, Origin, Removal, Report};
use kindsight_status::{ApplicationKey, ClusterView, ConnectionView, Staleness};

use super::Pipeline;
use super::found::FoundNews;
use crate::application_state::ApplicationState;
use crate::placement::Placement;
use crate::remembered::{RememberedFile, RememberedPlacement};

/// The reason of a last-known state that no cluster has confirmed since the start.
const NOT_HEARD: &str =
    "the cluster was not heard since the start; what was last known before it is shown";

impl Pipeline {
    /// Shows the last-known state of applications in the clusters that are configured, marked as stale until a
    /// source confirms it, and restores the histories. The state of clusters that are not configured is forgotten.
    ///
    /// To be called once, after [`Pipeline::expect_cluster`] and before [`Pipeline::load`].
    pub fn remember(&mut self, file: &mut RememberedFile, now_ms: i64) {
        let remembered = file.take();
        let mut others: BTreeMap<ApplicationKey, BTreeSet<ClusterName>> = BTreeMap::new();
        for placement in remembered.placements {
            let key = ApplicationKey::Found(placement.application.clone());
            let cluster = self.shared.clusters.get(&placement.cluster);
            if cluster.connection().is_some() {
                let known = remembered.clusters.get(&placement.cluster);
                let since_ms = known.map_or(now_ms, |it| it.current_until_ms);
                let stale = Staleness {
                    since_ms,
                    reason: NOT_HEARD.into(),
                };
                let RememberedPlacement {
                    application,
                    app,
                    cluster,
                    instance,
                    resources,
                } = placement;
                let view = ClusterView::remembered(cluster, resources, stale.clone())
                    .with_last_instance(instance);
                self.remember_placement(application, &app, view, stale);
            } else {
                others.entry(key).or_default().insert(placement.cluster);
            }
        }
        for (key, history) in remembered.histories {
            if key.context().is_some() || self.applications.contains(&key) {
                self.publisher.restore_history(&key, history);
                for cluster in others.get(&key).into_iter().flatten() {
                    self.publisher.forget_history(&key, cluster);
                }
            }
        }
        self.last_statuses = remembered.statuses;
        let expected = remembered.inventories.into_iter();
        let expected = expected
            .filter(|(cluster, _)| self.shared.clusters.get(cluster).connection().is_some());
        self.inventories.restore(expected.collect());
        self.last_known = remembered.clusters.into_iter().collect();
        for (key, state) in self.applications.iter() {
            self.publisher.remember(key, state.view(key));
        }
    }

    /// Adds the last-known state of an app of a found application in a cluster.
    pub(super) fn remember_placement(
        &mut self,
        application: DigName,
        app: &Arc<str>,
        view: ClusterView,
        stale: Staleness,
    ) {
        let key = ApplicationKey::Found(application.clone());
        if !self.applications.contains(&key) {
            let state = ApplicationState::found(application, self.swap.goal());
            self.applications.insert(&key, state, &self.shared);
        }
        let remember = |state: &mut ApplicationState| state.remember(app, view, stale);
        self.applications.update(&key, &self.shared, remember);
    }

    /// Notes in reports on apps that are known from before the start alone whether the objects of their cluster
    /// were looked for by other labels then: one that is missing may be there all the same.
    pub(super) fn compare_selectors(
        &self,
        cluster: &ClusterName,
        key: &ApplicationKey,
        reports: &mut [(Arc<str>, Report)],
    ) {
        let Some(before) = self.last_known.get(cluster) else {
            return;
        };
        let connection = self.shared.clusters.get(cluster).connection();
        if connection.and_then(ConnectionView::selector) == before.selector.as_ref() {
            return;
        }
        let Some(state) = self.applications.get(key) else {
            return;
        };
        for (app, report) in reports {
            let placement = state.placement(app, cluster);
            let known = placement.filter(|placement| placement.is_unconfirmed());
            let known = known.and_then(Placement::view);
            let known = known.iter().flat_map(|view| view.resources().iter());
            let left = known.map(|object| (object.identity(), Removal::LeftApplication));
            report.removed.extend(left);
        }
    }

    /// Handles that a cluster has sent every report: an app that still shows its last-known state has no object
    /// any more, as far as the coverage tells.
    pub(super) fn confirm_last_known(&mut self, cluster: &ClusterName, now_ms: i64) {
        let all = self.applications.iter();
        let unconfirmed = all.filter_map(|(key, state)| match key {
            ApplicationKey::Context(_) => None,
            ApplicationKey::Found(name) => Some((name.clone(), state.unconfirmed_in(cluster))),
        });
        let unconfirmed: Vec<_> = unconfirmed.filter(|(_, apps)| !apps.is_empty()).collect();
        for (application, apps) in unconfirmed {
            let coverage = self.shared.clusters.get(cluster).coverage().cloned();
            let empty = Report {
                coverage: coverage.unwrap_or_default(),
                ..Report::empty(Origin::Found)
            };
            let reports = apps.into_iter().map(|app| (app, empty.clone()));
            let news = FoundNews {
                reports: reports.collect(),
                missing: None,
            };
            self.report_found(cluster, application, news, now_ms);
        }
    }
}
