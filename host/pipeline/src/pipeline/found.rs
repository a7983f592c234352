//! Applications that are found in the clusters, and clusters that the configuration no longer names.

use std::sync::Arc;

use kindsight_model::{ClusterName, DigName, MissingResource, Report};
use kindsight_status::ApplicationKey;

use super::Pipeline;
use crate::application_state::{ApplicationState, Changes};
use crate::placement::{Change, Placement};

/// The news of a cluster about an application that no `AppContext` records, observed at one moment.
#[derive(Debug, Default)]
pub(super) struct FoundNews {
    /// Reports by app.
    pub(super) reports: Vec<(Arc<str>, Report)>,
    /// The missing resources of inventories; none if they did not change.
    pub(super) missing: Option<Vec<MissingResource>>,
}

impl FoundNews {
    /// Returns whether the cluster has no object of the application and misses none.
    fn is_empty(&self) -> bool {
        let is_missing = self
            .missing
            .as_ref()
            .is_some_and(|missing| !missing.is_empty());
        !is_missing && self.reports.iter().all(|(_, report)| report.is_empty())
    }
}

impl Pipeline {
    /// Applies the news of a cluster about an application that no `AppContext` records, and publishes it once.
    pub(super) fn report_found(
        &mut self,
        cluster: &ClusterName,
        name: DigName,
        mut news: FoundNews,
        now_ms: i64,
    ) {
        let key = ApplicationKey::Found(name.clone());
        self.compare_selectors(cluster, &key, &mut news.reports);
        let is_known = self.applications.contains(&key);
        if !is_known && news.is_empty() {
            return;
        }
        if !is_known {
            self.warn_of_recorded(&name);
            let state = ApplicationState::found(name, self.swap.goal());
            self.applications.insert(&key, state, &self.shared);
        }
        let shared = &self.shared;
        let changes = self.applications.update(&key, shared, |state| {
            let mut changes = Changes::default();
            let is_missing_changed = news.missing.is_some();
            if let Some(missing) = news.missing {
                changes.merge(state.miss(cluster, missing, shared, now_ms));
            }
            for (app, report) in news.reports {
                changes.merge(state.report(cluster, &app, report, shared, now_ms));
            }
            if is_missing_changed {
                changes.merge(state.confirm_missing(cluster, shared, now_ms));
            }
            state.remove_empty();
            changes
        });
        let changes = changes.unwrap_or_default();
        self.note_report(&key, changes.is_set_back);
        self.publish_changes(&key, &changes, now_ms);
    }

    fn warn_of_recorded(&self, name: &DigName) {
        let read_model = self.publisher.read_model();
        if read_model.inspect(|snapshot| snapshot.is_recorded(&name.into())) {
            tracing::warn!(application = %name, "an application of the configuration has the name of a deployment intent group, which is answered instead; give it another name");
        }
    }

    /// Handles the objects that are due to be forgotten, or to count as gone.
    pub(super) fn expire(&mut self, now_ms: i64) {
        for key in self.applications.expired(now_ms) {
            self.change_application(&key, |_| true, || Change::Time, now_ms);
        }
    }

    /// Applies a change to placements of an application, and publishes it if it changed.
    pub(super) fn change_application<'c>(
        &mut self,
        key: &ApplicationKey,
        selects: impl Fn(&Placement) -> bool,
        change: impl Fn() -> Change<'c>,
        now_ms: i64,
    ) {
        let shared = &self.shared;
        let changes = self.applications.update(key, shared, |state| {
            let changes = state.apply_all(selects, change, shared, now_ms);
            if matches!(key, ApplicationKey::Found(_)) {
                state.remove_empty();
            }
            changes
        });
        if let Some(changes) = changes.filter(|changes| changes.is_any) {
            self.publish_changes(key, &changes, now_ms);
        }
    }

    /// Forgets everything about a cluster that the configuration no longer names. Resources that were sent to it
    /// stay in their applications, with the last report marked as stale.
    pub(super) fn forget_cluster(&mut self, cluster: &ClusterName, now_ms: i64) {
        tracing::info!(%cluster, "cluster is no longer configured");
        let state = self.shared.clusters.get_mut(cluster);
        let is_known = state.is_some_and(|state| state.forget(now_ms));
        self.withheld.remove(cluster);
        self.new_sources.remove(cluster);
        self.inventories.forget_restored(cluster);
        self.unclaimed.forget(|app| app.cluster == *cluster);
        self.forget_found(cluster, ApplicationState::forget_cluster, now_ms);
        self.change_all(cluster, now_ms, || Change::Cluster);
        if is_known {
            self.publisher.publish_connection(cluster, None);
        }
    }

    /// Forgets the last-known state of a cluster, which is of another cluster with the same name.
    pub(super) fn forget_last_known(&mut self, cluster: &ClusterName, now_ms: i64) {
        self.last_known.remove(cluster);
        self.inventories.forget_restored(cluster);
        self.forget_found(cluster, ApplicationState::forget_unconfirmed, now_ms);
    }

    /// Forgets placements of found applications in a cluster, with their histories.
    fn forget_found(
        &mut self,
        cluster: &ClusterName,
        forget: impl Fn(&mut ApplicationState, &ClusterName) -> bool,
        now_ms: i64,
    ) {
        let keys = self.applications.keys();
        let found: Vec<ApplicationKey> = keys
            .filter(|key| key.context().is_none())
            .cloned()
            .collect();
        for key in found {
            let shared = &self.shared;
            let update = |state: &mut ApplicationState| forget(state, cluster);
            if self.applications.update(&key, shared, update) == Some(true) {
                self.publish_changes(&key, &Changes::default(), now_ms);
                self.publisher.forget_history(&key, cluster);
            }
        }
    }

    /// Publishes an application, or forgets it if nothing is left of it.
    pub(super) fn publish_changes(&mut self, key: &ApplicationKey, changes: &Changes, now_ms: i64) {
        let Some(state) = self.applications.get(key) else {
            return;
        };
        if matches!(key, ApplicationKey::Found(_)) && state.is_empty() {
            self.applications.remove(key);
            self.publisher.remove(key, now_ms);
        } else {
            let view = state.view(key);
            self.publisher.publish(key, view, &changes.left, now_ms);
        }
    }
}
