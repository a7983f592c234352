//! The state of an application that was found in the clusters: it comes and goes with what they report.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::ApplicationReport;
use kindsight_interpreter::{Interpreters, Published};
use kindsight_model::{ClusterName, DigName};
use kindsight_status::{ClusterView, ConnectionView, Staleness};

use super::ApplicationState;
use crate::judge::Judge;
use crate::placement::{Placement, Uncovered};

impl ApplicationState {
    /// An application of which nothing was reported yet, judged by this set.
    pub(crate) fn found(name: DigName, set: &Arc<Published>) -> Self {
        Self::empty(Some(name), set)
    }

    /// Adds what was last known of an app in a cluster before the start.
    pub(crate) fn remember(&mut self, app: &Arc<str>, view: ClusterView, stale: Staleness) {
        let cluster = view.cluster().clone();
        if let Some(placement) = self.place(app, &cluster) {
            *placement = Placement::remembered(view, stale);
        }
    }

    /// Apps that are shown in this cluster as they were before the start.
    pub(crate) fn remembered_in(&self, cluster: &ClusterName) -> Vec<Arc<str>> {
        let is_remembered = |it: &Placement| it.cluster() == cluster && it.is_remembered();
        let apps = self.apps.iter();
        let apps = apps.filter(|(_, placements)| placements.iter().any(is_remembered));
        apps.map(|(app, _)| Arc::clone(app)).collect()
    }

    /// Handles the report of a cluster on one app, and judges it. Returns whether verdicts of the next set on
    /// the previous report were discarded.
    pub(crate) fn report(
        &mut self,
        cluster: &ClusterName,
        report: ApplicationReport,
        interpreters: &Interpreters,
        absence: (Duration, Uncovered<'_>),
        now_ms: i64,
    ) -> bool {
        let app = Arc::clone(&report.app);
        let set = Arc::clone(&self.shown_by);
        let set = &set;
        let judge = Judge { interpreters, set };
        let placement = self.place(&app, cluster);
        let is_set_back =
            placement.is_some_and(|it| it.report_found(report, judge, absence, now_ms));
        self.remove_placements(Placement::is_empty);
        is_set_back
    }

    /// The placement of an app in a cluster, which is made where there is none.
    fn place(&mut self, app: &Arc<str>, cluster: &ClusterName) -> Option<&mut Placement> {
        let at = self.apps.binary_search_by(|(name, _)| name.cmp(app));
        let at = at.unwrap_or_else(|at| {
            // Most apps are in one cluster, and a placement is large.
            self.apps
                .insert(at, (Arc::clone(app), Vec::with_capacity(1)));
            at
        });
        let (_, placements) = self.apps.get_mut(at)?;
        let at = placements.binary_search_by(|it| it.cluster().cmp(cluster));
        let at = at.unwrap_or_else(|at| {
            placements.insert(at, Placement::found(cluster.clone()));
            at
        });
        placements.get_mut(at)
    }

    /// Forgets what is gone for long enough. Returns whether there was any.
    pub(crate) fn forget_gone(
        &mut self,
        gone_for: Duration,
        connections: &HashMap<ClusterName, ConnectionView>,
        now_ms: i64,
    ) -> bool {
        let forgotten = self.placements().map(|it| {
            let uncovered = Uncovered::of(connections.get(it.cluster()));
            it.forget_gone(gone_for, uncovered, now_ms)
        });
        let is_any = forgotten.filter(|&did| did).count() > 0;
        self.remove_placements(Placement::is_empty);
        is_any
    }

    /// The time at which something that is gone is to be forgotten, in Unix milliseconds.
    pub(crate) fn forget_at_ms(&self, gone_for: Duration) -> Option<i64> {
        let placements = self.apps.iter().flat_map(|(_, placements)| placements);
        placements.filter_map(|it| it.forget_at_ms(gone_for)).min()
    }

    /// Forgets everything in a cluster. Returns whether there was any.
    pub(crate) fn forget_cluster(&mut self, cluster: &ClusterName) -> bool {
        self.remove_placements(|it| it.cluster() == cluster)
    }

    /// Returns whether nothing is left of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.apps.is_empty()
    }

    /// Removes placements, and the apps that have no others. Returns whether there were any.
    fn remove_placements(&mut self, is_removed: impl Fn(&Placement) -> bool) -> bool {
        let mut is_any = false;
        for (_, placements) in &mut self.apps {
            let before = placements.len();
            placements.retain(|it| !is_removed(it));
            is_any |= placements.len() < before;
        }
        self.apps.retain(|(_, placements)| !placements.is_empty());
        is_any
    }
}
