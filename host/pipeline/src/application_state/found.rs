//! The state of an application that was found in the clusters: it exists as long as they report it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_interpreter::Published;
use kindsight_model::{ClusterName, DigName, Identity, MissingResource, Origin, Report};
use kindsight_status::{ClusterView, ResourceView, Staleness};

use super::app::App;
use super::{ApplicationState, Changes};
use crate::placement::{Change, Placement};
use crate::shared::Shared;

impl ApplicationState {
    /// An application without any report, judged by this set.
    pub(crate) fn found(name: DigName, set: &Arc<Published>) -> Self {
        Self::empty(Some(name), set)
    }

    /// Adds the last-known state of an app in a cluster.
    pub(crate) fn remember(&mut self, app: &Arc<str>, view: ClusterView, stale: Staleness) {
        let cluster = view.cluster().clone();
        if let Some(placement) = self.place(app, &cluster) {
            *placement = Placement::last_known(view, stale);
        }
    }

    /// Apps that show their last-known state in this cluster.
    pub(crate) fn unconfirmed_in(&self, cluster: &ClusterName) -> Vec<Arc<str>> {
        let is_unconfirmed = |app: &&App| {
            let placement = app.placement(cluster);
            placement.is_some_and(Placement::is_unconfirmed)
        };
        let apps = self.apps.iter().filter(is_unconfirmed);
        apps.map(|app| Arc::clone(app.name())).collect()
    }

    /// Applies the report of a cluster on one app. Makes the placement if it does not exist.
    pub(crate) fn report(
        &mut self,
        cluster: &ClusterName,
        app: &Arc<str>,
        report: Report,
        shared: &Shared,
        now_ms: i64,
    ) -> Changes {
        let set = Arc::clone(&self.shown_by);
        let env = shared.environment(cluster, &set, now_ms);
        let mut changes = Changes::default();
        if let Some(placement) = self.place(app, cluster) {
            changes.add(app, cluster, placement.apply(Change::Report(report), env));
        }
        changes
    }

    /// Takes the missing resources of the inventories in a cluster, which replace the previous ones. A resource that
    /// existed belongs to its last app. Any other resource belongs to the app of its name.
    pub(crate) fn miss(
        &mut self,
        cluster: &ClusterName,
        resources: Vec<MissingResource>,
        shared: &Shared,
        now_ms: i64,
    ) -> Changes {
        let mut by_app: BTreeMap<Arc<str>, Vec<MissingResource>> = BTreeMap::new();
        let listed = resources.iter().map(Identity::from).collect();
        let apps = self.apps_of(cluster, &listed);
        for resource in resources {
            let app = apps.get(&Identity::from(&resource));
            let app = app.unwrap_or(&resource.name);
            by_app.entry(Arc::clone(app)).or_default().push(resource);
        }
        for app in by_app.keys() {
            self.place(app, cluster);
        }
        let mut changes = Changes::default();
        for app in &mut self.apps {
            let name = Arc::clone(app.name());
            if let Some(placement) = app.placement_mut(cluster) {
                let change = Change::Missing(by_app.remove(&name).unwrap_or_default());
                let env = shared.environment(cluster, &self.shown_by, now_ms);
                changes.add(&name, cluster, placement.apply(change, env));
            }
        }
        changes
    }

    /// The apps that list these resources in a cluster.
    fn apps_of(
        &self,
        cluster: &ClusterName,
        resources: &BTreeSet<Identity>,
    ) -> BTreeMap<Identity, Arc<str>> {
        let mut apps = BTreeMap::new();
        if resources.is_empty() {
            return apps;
        }
        for app in &self.apps {
            if let Some(view) = app.placement(cluster).and_then(Placement::view) {
                let listed = view.resources().iter().map(ResourceView::identity);
                let listed = listed.filter(|resource| resources.contains(resource));
                apps.extend(listed.map(|resource| (resource, Arc::clone(app.name()))));
            }
        }
        apps
    }

    /// Confirms the placements in a cluster that have missing resources and no report: the cluster has no object of
    /// their apps.
    pub(crate) fn confirm_missing(
        &mut self,
        cluster: &ClusterName,
        shared: &Shared,
        now_ms: i64,
    ) -> Changes {
        let coverage = shared.clusters.get(cluster).coverage().cloned();
        let is_waiting = |placement: &Placement| {
            placement.cluster() == cluster && placement.awaits_first_report()
        };
        let change = || {
            Change::Report(Report {
                coverage: coverage.clone().unwrap_or_default(),
                ..Report::empty(Origin::Found)
            })
        };
        self.apply_all(is_waiting, change, shared, now_ms)
    }

    /// The placement of an app in a cluster. Makes it if it does not exist.
    fn place(&mut self, app: &Arc<str>, cluster: &ClusterName) -> Option<&mut Placement> {
        let at = self.apps.binary_search_by(|known| known.name().cmp(app));
        let at = at.unwrap_or_else(|at| {
            // Most apps are in one cluster, and a placement is large.
            let placements = Vec::with_capacity(1);
            self.apps.insert(at, App::new(Arc::clone(app), placements));
            at
        });
        let placements = self.apps.get_mut(at)?.placements_mut();
        let at = placements.binary_search_by(|placement| placement.cluster().cmp(cluster));
        let at = at.unwrap_or_else(|at| {
            placements.insert(at, Placement::found(cluster.clone()));
            at
        });
        placements.get_mut(at)
    }

    /// Removes the placements that are empty.
    pub(crate) fn remove_empty(&mut self) {
        self.remove_placements(Placement::is_empty);
    }

    /// Forgets everything in a cluster. Returns whether there was anything.
    pub(crate) fn forget_cluster(&mut self, cluster: &ClusterName) -> bool {
        self.remove_placements(|placement| placement.cluster() == cluster)
    }

    /// Forgets the last-known state in a cluster. Returns whether there was any.
    pub(crate) fn forget_unconfirmed(&mut self, cluster: &ClusterName) -> bool {
        self.remove_placements(|placement| {
            placement.cluster() == cluster && placement.is_unconfirmed()
        })
    }

    /// Returns whether nothing is left of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.apps.is_empty()
    }

    /// Removes placements, and the apps that have no others. Returns whether there were any.
    fn remove_placements(&mut self, is_removed: impl Fn(&Placement) -> bool) -> bool {
        let mut is_any = false;
        for app in &mut self.apps {
            if app.placements().iter().any(&is_removed) {
                is_any = true;
                let placements = app.placements_mut();
                placements.retain(|placement| !is_removed(placement));
            }
        }
        self.apps.retain(|app| !app.placements().is_empty());
        is_any
    }
}
