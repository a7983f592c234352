//! The inventories that list resources of another cluster than their own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_clusters::{RemoteInventories, RemoteInventory};
use kindsight_model::ClusterName;
use serde::{Deserialize, Serialize};

use super::format::written;
use super::keys;
use super::pending::Pending;

/// One inventory, with the cluster of its object.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredInventory {
    cluster: String,
    inventory: RemoteInventory,
}

impl StoredInventory {
    /// The inventory; none if the name of its cluster is invalid.
    pub(super) fn read(self) -> Option<(Arc<ClusterName>, RemoteInventory)> {
        Some((Arc::new(self.cluster.parse().ok()?), self.inventory))
    }
}

/// The inventories that were written last.
#[derive(Default)]
pub(super) struct WrittenInventories(BTreeMap<Arc<ClusterName>, Arc<[RemoteInventory]>>);

impl WrittenInventories {
    /// Adds the changes since the last call. The first call deletes the inventories that no watched cluster has.
    /// Returns the value of the next call, which replaces this one once the changes are written.
    pub(super) fn follow(
        &self,
        inventories: &RemoteInventories,
        is_all: bool,
        pending: &mut Pending<'_>,
    ) -> Self {
        let now = inventories.by_cluster();
        let is_written = |cluster: &Arc<ClusterName>, all: &Arc<[RemoteInventory]>| {
            let written = self.0.get(cluster);
            !is_all && written.is_some_and(|written| Arc::ptr_eq(written, all))
        };
        for (cluster, all) in &now {
            if is_written(cluster, all) {
                continue;
            }
            for inventory in &**all {
                let stored = StoredInventory {
                    cluster: cluster.to_string(),
                    inventory: inventory.clone(),
                };
                pending.put(
                    keys::inventory(cluster, inventory.object_text()),
                    written(&stored),
                );
            }
        }
        if is_all || now.len() != self.0.len() || now.iter().any(|(it, all)| !is_written(it, all)) {
            let kept = now.iter().flat_map(|(cluster, all)| {
                let all = all.iter();
                all.map(move |inventory| keys::inventory(cluster, inventory.object_text()))
            });
            let kept: BTreeSet<String> = kept.collect();
            for key in pending.keys(keys::INVENTORIES) {
                if !kept.contains(key) {
                    pending.delete(key.clone());
                }
            }
        }
        Self(now)
    }
}
