//! Inventories that this cluster has for other clusters, and inventories of other clusters for this one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::ClusterName;

use super::ClusterIndex;
use super::inventories::{InventoryId, LISTED};
use super::objects::Id;
use crate::inventory::Inventory;
use crate::remote_inventory::{RemoteInventory, UncomparedInventories};

/// The inventories of objects of this cluster that list resources of another one.
#[derive(Debug, Default)]
pub(super) struct RemoteInventories {
    by_object: BTreeMap<Id, RemoteInventory>,
    /// Number of all entries.
    listed: usize,
    /// True if they changed since they were last taken.
    is_changed: bool,
}

impl RemoteInventories {
    /// Replaces the inventory of an object.
    fn replace(&mut self, object: Id, inventory: Option<Inventory>) {
        let before = self.by_object.remove(&object);
        let entries = |it: &RemoteInventory| it.inventory.listed.len();
        self.listed = self
            .listed
            .saturating_sub(before.as_ref().map_or(0, entries));
        let after = inventory.map(|mut inventory| {
            inventory.cut(LISTED.saturating_sub(self.listed));
            RemoteInventory { object, inventory }
        });
        self.is_changed |= before != after;
        if let Some(after) = after {
            self.listed += entries(&after);
            self.by_object.insert(object, after);
        }
    }
}

impl ClusterIndex {
    /// Takes the inventory of an object, which replaces the previous inventory of this object. An inventory of
    /// resources in another cluster waits until it is taken.
    pub(super) fn take_inventory(&mut self, object: Id, inventory: Option<Inventory>) {
        let is_remote = inventory.as_ref().is_some_and(Inventory::is_remote);
        let (remote, own) = if is_remote {
            (inventory, None)
        } else {
            (None, inventory)
        };
        self.remote_inventories.replace(object, remote);
        self.replace_inventory(&InventoryId::own(object), own);
    }

    /// The inventories of this cluster that list resources of other clusters; none if they did not change since the
    /// last call, or while the body of an object with an inventory is awaited.
    pub fn take_remote_inventories(&mut self) -> Option<Arc<[RemoteInventory]>> {
        let is_due = self.remote_inventories.is_changed && !self.are_inventories_awaited();
        is_due.then(|| {
            self.remote_inventories.is_changed = false;
            let inventories = self.remote_inventories.by_object.values();
            inventories.cloned().collect()
        })
    }

    /// Sets the inventories of other clusters that list resources of this cluster, each with the cluster of the
    /// inventory, and the inventories that are compared with no cluster.
    pub fn set_remote_inventories(
        &mut self,
        inventories: &[(Arc<ClusterName>, RemoteInventory)],
        uncompared: &Arc<UncomparedInventories>,
    ) {
        let received = inventories.iter().map(|(cluster, remote)| {
            let id = InventoryId::of(cluster, remote.object);
            (id, remote.received_from(cluster))
        });
        let received: BTreeMap<InventoryId, Inventory> = received.collect();
        let old: BTreeSet<InventoryId> = self.inventories.received().cloned().collect();
        for id in old.into_iter().filter(|id| !received.contains_key(id)) {
            self.replace_inventory(&id, None);
        }
        for (id, inventory) in received {
            self.replace_inventory(&id, Some(inventory));
        }
        let changed = self.inventories.set_uncompared(uncompared);
        self.groups.note_applications_changed(&changed);
    }
}
