//! The inventories that list resources of another cluster than their own.

use std::collections::{BTreeMap, HashMap};
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
    fn of(cluster: &ClusterName, inventory: &RemoteInventory) -> Self {
        Self {
            cluster: cluster.to_string(),
            inventory: inventory.clone(),
        }
    }

    /// The inventory; none if the name of its cluster is invalid.
    pub(super) fn read(self) -> Option<(Arc<ClusterName>, RemoteInventory)> {
        Some((Arc::new(self.cluster.parse().ok()?), self.inventory))
    }
}

/// The inventories in the file, by cluster.
#[derive(Default)]
pub(super) struct WrittenInventories(BTreeMap<Arc<ClusterName>, Arc<[RemoteInventory]>>);

impl WrittenInventories {
    /// Adds the changes since these inventories to `pending`. If none were written, it deletes all other values of the
    /// file. Returns the inventories in the file once the changes are written.
    pub(super) fn changes(
        &self,
        inventories: &RemoteInventories,
        pending: &mut Pending<'_>,
    ) -> Self {
        let now = inventories.by_cluster();
        let is_changed = |cluster: &Arc<ClusterName>| match (self.0.get(cluster), now.get(cluster))
        {
            (Some(before), Some(now)) => !Arc::ptr_eq(before, now),
            _ => true,
        };
        for (cluster, all) in now.iter().filter(|(cluster, _)| is_changed(cluster)) {
            let before = self.0.get(cluster).into_iter().flat_map(|all| &**all);
            let before: HashMap<&str, &RemoteInventory> = before
                .map(|inventory| (&**inventory.object(), inventory))
                .collect();
            for inventory in &**all {
                if before.get(&**inventory.object()) != Some(&inventory) {
                    let key = keys::inventory(cluster, inventory.object());
                    pending.put(key, written(&StoredInventory::of(cluster, inventory)));
                }
            }
        }
        if self.0.is_empty() {
            let kept = now.iter().flat_map(|(cluster, all)| keys_of(cluster, all));
            pending.retain(keys::INVENTORIES, &kept.collect());
        }
        for cluster in self.0.keys().filter(|cluster| is_changed(cluster)) {
            let all = now.get(cluster).into_iter();
            let kept = all.flat_map(|all| keys_of(cluster, all));
            pending.retain(&keys::inventories(cluster), &kept.collect());
        }
        Self(now)
    }
}

/// The keys of the inventories of a cluster.
fn keys_of(cluster: &ClusterName, all: &[RemoteInventory]) -> impl Iterator<Item = String> {
    let all = all.iter();
    all.map(|inventory| keys::inventory(cluster, inventory.object()))
}
