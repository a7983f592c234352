//! Inventories that this cluster has for other clusters, and inventories of other clusters for this one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{ClusterName, Presence};

use super::ClusterIndex;
use super::inventories::{InventoryId, LISTED};
use super::objects::Id;
use crate::inventory::Inventory;
use crate::remote_inventory::{OutgoingInventories, RemoteInventory, UncomparedInventories};

/// The inventories of objects of this cluster that list resources of another one.
#[derive(Debug, Default)]
pub(super) struct RemoteInventories {
    by_object: BTreeMap<Id, RemoteInventory>,
    /// Number of all entries.
    listed: usize,
    /// True if they changed since they were last taken.
    is_changed: bool,
    /// The Kinds that could not be read when they were last taken; none before.
    unread: Option<BTreeSet<Arc<str>>>,
}

impl RemoteInventories {
    /// Replaces the inventory of an object.
    fn replace(&mut self, object: Id, inventory: Option<Inventory>) {
        let before = self.by_object.remove(&object);
        let entries = |remote: &RemoteInventory| remote.inventory.listed.len();
        self.listed = self
            .listed
            .saturating_sub(before.as_ref().map_or(0, entries));
        let after = inventory.map(|mut inventory| {
            inventory.cut(LISTED.saturating_sub(self.listed));
            RemoteInventory { inventory }
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
        self.replace_inventory(&InventoryId::Own(object), own);
    }

    /// The inventories of this cluster that list resources of other clusters; none if they did not change since the
    /// last call, or while the body of an object with an inventory is awaited. The first call must follow the lists of
    /// all Kinds.
    pub fn take_remote_inventories(&mut self) -> Option<OutgoingInventories> {
        if self.are_inventories_awaited() {
            return None;
        }
        let unread = self.unread_inventory_kinds();
        let remote = &mut self.remote_inventories;
        if !remote.is_changed && remote.unread.as_ref() == Some(&unread) {
            return None;
        }
        remote.is_changed = false;
        remote.unread = Some(unread.clone());
        Some(OutgoingInventories {
            inventories: remote.by_object.values().cloned().collect(),
            unread,
        })
    }

    /// The Kinds whose objects have inventories, and whose objects are not known completely.
    fn unread_inventory_kinds(&self) -> BTreeSet<Arc<str>> {
        let scopes = self.inventories.scopes();
        let unread = scopes.filter(|scope| {
            let coverage = self.coverage_of(**scope);
            coverage.is_none_or(|coverage| coverage.state.presence() != Presence::Current)
        });
        let kinds = unread.filter_map(|scope| self.scopes.get(scope));
        kinds
            .map(|watched| Arc::clone(&watched.kind.gvk.kind))
            .collect()
    }

    /// Sets the inventories of other clusters that list resources of this cluster, each with the cluster of the
    /// inventory, and the inventories that are compared with no cluster.
    pub fn set_remote_inventories(
        &mut self,
        inventories: &[(Arc<ClusterName>, RemoteInventory)],
        uncompared: &Arc<UncomparedInventories>,
    ) {
        let received = inventories.iter().map(|(cluster, remote)| {
            let id = InventoryId::Received(Arc::clone(cluster), Arc::clone(remote.object()));
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
