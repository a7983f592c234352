//! Clusters that several hosts share: this host publishes only the clusters that it owns.

use std::sync::Arc;

use kindsight_leases::{HostId, Ownership};
use kindsight_model::ClusterName;
use kindsight_status::{ApplicationKey, ClusterOwner, Report, Staleness};

use super::Pipeline;
use crate::application_state::ApplicationState;
use crate::placement::Change;
use crate::publisher::SentHistory;
use crate::remembered::RememberedCluster;
use crate::remotes::PreviousPlacement;

/// The reason for a cluster whose lease ended before this host renewed it.
const LEASE_ENDED: &str =
    "this host did not renew its lease of the cluster in time, so another host may watch it";

/// The reason for the state that an earlier source of this host reported.
const EARLIER_SOURCE: &str =
    "this host begins to watch the cluster again and is listing it; the state from before is shown";

/// The reason for the state of a previous owner.
const PREVIOUS_OWNER: &str = "this host has taken the cluster over and is listing it; the last state from its previous owner is shown";

impl Pipeline {
    /// Shares the clusters with other hosts: events of a cluster are used only while this host owns it.
    pub fn share_clusters(&mut self, ownership: Ownership) {
        self.bundles.share_clusters(ownership.clone());
        self.ownership = Some(ownership);
    }

    /// Returns whether this host may publish data of a cluster now. Notes the lease under which it does.
    ///
    /// The lease of a process that was paused has ended. Its events from before the pause wait, and the cluster becomes
    /// stale.
    pub(super) fn may_publish(&mut self, cluster: &ClusterName, now_ms: i64) -> bool {
        let Some(ownership) = &self.ownership else {
            return true;
        };
        let host = Some(Arc::clone(ownership.host().text()));
        let known = self.shared.clusters.get(cluster).connection();
        let known = known.map_or_else(ClusterOwner::default, |it| it.owner.clone());
        let Some(fence) = ownership.number(cluster) else {
            if known.host == host && known.fence > 0 {
                self.unowned(cluster, None, LEASE_ENDED, now_ms);
            }
            return false;
        };
        let owner = ClusterOwner {
            host,
            fence,
            is_remote: false,
        };
        // A source that continued has seen every change, also while another host owned the cluster. The events of a new
        // source wait too if the lease ends before its first event.
        let has_continued = self.withheld.contains_key(cluster);
        let is_new_source =
            self.new_sources.remove(cluster) || (known.fence != owner.fence && !has_continued);
        if known != owner || is_new_source {
            if is_new_source {
                self.take_over_state(cluster, now_ms);
            }
            self.change_connection(cluster, now_ms, |connection| connection.owner = owner);
            if is_new_source {
                self.doubt_own_state(cluster, now_ms);
            }
            self.publish_joined(cluster, now_ms);
        }
        true
    }

    /// Takes over the state that the previous owner of a cluster sent last: the starts of states, the objects that are gone,
    /// and the coverage. This host shows it as stale until it has listed the cluster.
    fn take_over_state(&mut self, cluster: &ClusterName, now_ms: i64) {
        // The new source sends its reports and faults again. It does not withdraw those of an earlier source.
        self.unclaimed.forget(|app| app.cluster == *cluster);
        let state = self.shared.clusters.entry(cluster, now_ms);
        state.set_faults(Arc::default(), now_ms);
        // Before the first facts, the cluster is known from the file of the last-known state.
        let own = state.connection().filter(|own| own.facts.is_some());
        let own = own.cloned();
        let (last, placements) = match self.publisher.remotes().previous_state_in(cluster) {
            Some(previous) => (Some(previous.connection), previous.placements),
            None => (own, Vec::new()),
        };
        let Some(last) = last else {
            return;
        };
        let until_ms = last.heard_ms.unwrap_or(now_ms);
        for placement in placements {
            self.take_over_placement(cluster, placement, until_ms, now_ms);
        }
        let last_known = RememberedCluster::of(&last, until_ms);
        self.last_known.insert(cluster.clone(), last_known);
    }

    /// Shows an app in a cluster as the previous owner did. This host heard the previous owner until then.
    fn take_over_placement(
        &mut self,
        cluster: &ClusterName,
        previous: PreviousPlacement,
        until_ms: i64,
        now_ms: i64,
    ) {
        let PreviousPlacement { key, app, view } = previous;
        let known = view.report().stale();
        let stale = Staleness {
            since_ms: known.map_or(until_ms, |known| known.since_ms.min(until_ms)),
            reason: PREVIOUS_OWNER.into(),
        };
        let ApplicationKey::Found(name) = &key else {
            let change = Change::PreviousOwner {
                view: &view,
                stale: &stale,
            };
            let shared = &self.shared;
            self.applications.update(&key, shared, |state| {
                state.apply((&app, cluster), change, shared, now_ms)
            });
            return;
        };
        let report = Report::Received {
            stale: Some(stale.clone()),
        };
        let view = view.with_report(report, Vec::new());
        self.remember_placement(name.clone(), &app, view, stale);
    }

    /// Marks the state of a cluster that this host showed under an earlier lease as stale until the cluster was listed.
    /// The new source does not know this state, so it does not withdraw what was deleted meanwhile.
    fn doubt_own_state(&mut self, cluster: &ClusterName, now_ms: i64) {
        let connection = self.shared.clusters.get(cluster).connection();
        let heard_ms = connection.and_then(|connection| connection.heard_ms);
        let stale = Staleness {
            since_ms: heard_ms.unwrap_or(now_ms),
            reason: EARLIER_SOURCE.into(),
        };
        self.change_all(cluster, now_ms, || Change::NewSource(&stale));
    }

    /// Handles the end of the ownership of a cluster, another owner of a cluster that this host does not own, and the begin of
    /// a source under a new lease.
    pub(super) fn unowned(
        &mut self,
        cluster: &ClusterName,
        owner: Option<Arc<str>>,
        reason: &str,
        now_ms: i64,
    ) {
        let host = self.ownership.as_ref().map(Ownership::host);
        let host = host.map(HostId::text);
        match &owner {
            None => self.begin_to_withhold(cluster),
            // A new source begins.
            Some(owner) if Some(owner) == host => {
                self.withheld.remove(cluster);
                self.bundles.forget(cluster);
                self.new_sources.insert(cluster.clone());
            }
            Some(_) => {
                self.withheld.remove(cluster);
                self.bundles.forget(cluster);
                self.new_sources.remove(cluster);
            }
        }
        let connection = self.shared.clusters.get(cluster).connection();
        let fence = connection.map_or(0, |connection| connection.owner.fence);
        let owner = ClusterOwner {
            host: owner,
            fence,
            // The last known state of an earlier owner is shown until the next owner has listed the cluster.
            is_remote: fence == 0,
        };
        let state = self.shared.clusters.entry(cluster, now_ms);
        state.change(now_ms, |connection| connection.owner = owner);
        self.stale(cluster, reason, now_ms);
    }

    /// Forgets the data of a cluster that this host owned before, once the next owner has listed the cluster. If this host
    /// gets the cluster again, it lists it from scratch.
    pub(super) fn release(&mut self, cluster: &ClusterName, now_ms: i64) {
        let is_owned = |ownership: &Ownership| ownership.number(cluster).is_some();
        if self.ownership.as_ref().is_none_or(is_owned)
            || !self.publisher.remotes().is_superseded(cluster)
        {
            return;
        }
        // The source may send more before it ends.
        if let Some(withheld) = self.withheld.get_mut(cluster) {
            withheld.drop_events();
        }
        self.change_connection(cluster, now_ms, |connection| {
            connection.owner.fence = 0;
            connection.owner.is_remote = true;
        });
        let applications = self.applications.iter();
        let found =
            applications.filter(|(key, state)| key.context().is_none() && state.is_in(cluster));
        let found: Vec<ApplicationKey> = found.map(|(key, _)| key.clone()).collect();
        for key in found {
            let forget = |state: &mut ApplicationState| {
                state.forget_cluster(cluster);
                state.is_empty()
            };
            if self.applications.update(&key, &self.shared, forget) == Some(true) {
                self.applications.remove(&key);
            }
            self.publish_remote(&key, SentHistory::Nothing, now_ms);
        }
    }
}
