//! Events of clusters whose lease ended, until this host owns the cluster again, or another host does.
//!
//! If the store of the leases does not answer for a while, the sources of this host continue, and their events wait here.
//! Nothing of them is published. If the same host then gets the same cluster, it uses the events, and need not list the
//! cluster from scratch.

use std::sync::Arc;

use kindsight_clusters::ClusterEvent;
use kindsight_leases::{HostId, Ownership};
use kindsight_model::ClusterName;
use kindsight_status::{ConnectionState, ConnectionView};

use super::Pipeline;

/// Maximum number of events that wait for one cluster. If there are more, the cluster is listed from scratch.
pub(crate) const WITHHELD_MAX: usize = 1000;

/// The events of one cluster since its lease ended.
#[derive(Debug)]
pub(super) struct Withheld {
    /// State and reason of the connection before that.
    state: ConnectionState,
    reason: Option<Arc<str>>,
    /// In their order, apart from the last facts.
    events: Vec<ClusterEvent>,
    facts: Option<ClusterEvent>,
    /// True if events were dropped.
    is_over: bool,
}

impl Withheld {
    fn of(connection: &ConnectionView) -> Self {
        Self {
            state: connection.state,
            reason: connection.reason.clone(),
            events: Vec::new(),
            facts: None,
            is_over: false,
        }
    }

    fn add(&mut self, event: ClusterEvent) {
        match event {
            ClusterEvent::Heard { .. } => {}
            ClusterEvent::Facts { .. } => self.facts = Some(event),
            _ if self.events.len() < WITHHELD_MAX && !self.is_over => self.events.push(event),
            _ => self.drop_events(),
        }
    }

    /// Drops the events. All later events of the source are dropped too.
    pub(super) fn drop_events(&mut self) {
        self.is_over = true;
        self.events = Vec::new();
    }
}

impl Pipeline {
    /// Begins to keep the events of a cluster that this host owned until now.
    pub(super) fn begin_to_withhold(&mut self, cluster: &ClusterName) {
        let host = self.ownership.as_ref().map(Ownership::host);
        let connection = self.shared.clusters.get(cluster).connection();
        let owned = connection.filter(|connection| {
            let owner = connection.owner.host.as_ref();
            owner.is_some() && owner == host.map(HostId::text)
        });
        if let Some(connection) = owned {
            let withheld = self.withheld.entry(cluster.clone());
            withheld.or_insert_with(|| Withheld::of(connection));
        }
    }

    /// Returns whether an event of a source may be used now. It waits behind earlier events that wait.
    pub(super) fn may_use(&mut self, cluster: &ClusterName, now_ms: i64) -> bool {
        !self.withheld.contains_key(cluster) && self.may_publish(cluster, now_ms)
    }

    /// Keeps an event of a source that may not be used now. Dropped if this host did not own the cluster before.
    pub(super) fn withhold(&mut self, cluster: &ClusterName, event: ClusterEvent) {
        if let Some(withheld) = self.withheld.get_mut(cluster) {
            withheld.add(event);
        }
    }

    /// Handles that this host owns a cluster again whose source continued. Returns false if events were dropped, or the lease
    /// ends meanwhile: the cluster is then listed from scratch.
    pub(super) fn resume(&mut self, cluster: &ClusterName, now_ms: i64) -> bool {
        let is_complete = self
            .withheld
            .get(cluster)
            .is_some_and(|withheld| !withheld.is_over);
        if !is_complete || !self.may_publish(cluster, now_ms) {
            return false;
        }
        let Some(withheld) = self.withheld.remove(cluster) else {
            return false;
        };
        let mut is_state_known = false;
        for event in withheld.facts.into_iter().chain(withheld.events) {
            is_state_known |= matches!(
                event,
                ClusterEvent::Stale { .. } | ClusterEvent::Synced { .. }
            );
            self.handle_cluster(event, now_ms);
        }
        // If the process was paused in the loop, the last events were not used, and the state of before does not fit.
        if !self.may_use(cluster, now_ms) {
            return false;
        }
        match (is_state_known, withheld.state) {
            (false, ConnectionState::Connected) => self.synced(cluster, now_ms),
            (false, ConnectionState::Stale) => {
                let reason = withheld.reason.unwrap_or_default();
                self.stale(cluster, &reason, now_ms);
            }
            // The first lists have not ended. Their end is the next event.
            (false, ConnectionState::Connecting) | (true, _) => {}
        }
        self.bundles.resume();
        true
    }
}
