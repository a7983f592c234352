//! Clusters that several hosts share: this host publishes only the clusters that it owns.

use std::sync::Arc;

use kindsight_leases::Ownership;
use kindsight_model::ClusterName;
use kindsight_status::ClusterOwner;

use super::Pipeline;

/// The reason for a cluster whose lease ended before this host renewed it.
const LEASE_ENDED: &str =
    "this host did not renew its lease of the cluster in time, so another host may watch it";

impl Pipeline {
    /// Shares the clusters with other hosts: events of a cluster are used only while this host owns it.
    pub fn share_clusters(&mut self, ownership: Ownership) {
        self.bundles.share_clusters(ownership.clone());
        self.ownership = Some(ownership);
    }

    /// Returns whether this host may publish data of a cluster now. Notes the lease under which it does.
    ///
    /// The lease of a process that was paused has ended. Its events from before the pause are dropped, and the
    /// cluster becomes stale.
    pub(super) fn may_publish(&mut self, cluster: &ClusterName, now_ms: i64) -> bool {
        let Some(ownership) = &self.ownership else {
            return true;
        };
        let host = Arc::clone(ownership.host().text());
        let known = self.shared.clusters.get(cluster).connection();
        let known = known
            .map(|connection| connection.owner.clone())
            .unwrap_or_default();
        let host = Some(host);
        match ownership.number(cluster) {
            Some(fence) => {
                let owner = ClusterOwner {
                    host,
                    fence,
                    is_remote: false,
                };
                if known != owner {
                    self.change_connection(cluster, now_ms, |connection| connection.owner = owner);
                }
                true
            }
            None => {
                if known.host == host {
                    self.unowned(cluster, None, LEASE_ENDED, now_ms);
                }
                false
            }
        }
    }

    /// Handles the end of the ownership of a cluster, and another owner of a cluster that this host does not own.
    pub(super) fn unowned(
        &mut self,
        cluster: &ClusterName,
        owner: Option<(Arc<str>, u64)>,
        reason: &str,
        now_ms: i64,
    ) {
        let owner = owner.map_or_else(ClusterOwner::default, |(host, fence)| ClusterOwner {
            host: Some(host),
            fence,
            is_remote: false,
        });
        let state = self.shared.clusters.entry(cluster, now_ms);
        state.change(now_ms, |connection| connection.owner = owner);
        self.stale(cluster, reason, now_ms);
    }
}
