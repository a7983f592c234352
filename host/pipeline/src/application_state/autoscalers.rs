//! Autoscalers of one app whose targets belong to another app of the application.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::ClusterName;

use super::app::App;
use super::{ApplicationState, Changes};
use crate::placement::{Autoscalers, Change, Placement};
use crate::shared::Shared;

impl ApplicationState {
    /// Passes the autoscalers of all apps in each cluster to the apps in that cluster. Called after a
    /// change of autoscalers or of the apps; the cost is one comparison for each placement.
    pub(super) fn share_autoscalers(&mut self, shared: &Shared, now_ms: i64) -> Changes {
        let mut by_cluster: BTreeMap<ClusterName, Autoscalers> = BTreeMap::new();
        for placement in self.apps.iter().flat_map(App::placements) {
            for own in placement.own_autoscalers() {
                let all = by_cluster.entry(placement.cluster().clone());
                all.or_default().extend(own);
            }
        }
        let none = Arc::new(Autoscalers::default());
        let by_cluster = by_cluster.into_iter();
        let by_cluster: BTreeMap<_, _> = by_cluster
            .map(|(name, all)| (name, Arc::new(all)))
            .collect();
        let mut changes = Changes::default();
        let autoscalers =
            |placement: &Placement| by_cluster.get(placement.cluster()).unwrap_or(&none);
        let differs = |placement: &Placement| !placement.knows_autoscalers(autoscalers(placement));
        for app in &mut self.apps {
            let name = Arc::clone(app.name());
            for placement in app.selected_mut(differs) {
                let cluster = placement.cluster().clone();
                let env = shared.environment(&cluster, &self.shown_by, now_ms);
                let autoscalers = autoscalers(placement);
                let applied = placement.apply(Change::Autoscalers(autoscalers), env);
                changes.add(&name, &cluster, applied);
            }
        }
        changes
    }
}
