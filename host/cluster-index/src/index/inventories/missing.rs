//! The listed resources that do not exist.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{DigName, Identity, MissingResource, MissingResources};

use super::Compared;
use crate::index::ClusterIndex;
use crate::index::objects::Id;
use crate::inventory::ListedResource;

/// The missing resources of one application.
pub(super) type MissingByIdentity = BTreeMap<Identity, MissingResource>;

impl ClusterIndex {
    /// The applications whose missing resources changed since the last call. Returns none while the body of an object
    /// with an inventory is awaited.
    pub fn take_missing(&mut self) -> Vec<MissingResources> {
        if self.are_inventories_awaited() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for (application, compared) in std::mem::take(&mut self.inventories.changed) {
            let taken = self.inventories.taken.remove(&application);
            let mut missing = taken.unwrap_or_default();
            if self.compare(&application, &compared, &mut missing) {
                all.push(MissingResources {
                    application: application.clone(),
                    resources: missing.values().cloned().collect(),
                });
            }
            if !missing.is_empty() {
                self.inventories.taken.insert(application, missing);
            }
        }
        all
    }

    /// Compares entries of the inventories of an application with the objects. Returns whether the missing resources
    /// changed.
    fn compare(
        &self,
        application: &DigName,
        compared: &Compared,
        missing: &mut MissingByIdentity,
    ) -> bool {
        match compared {
            Compared::All => {
                let before = std::mem::take(missing);
                for (listed, inventory) in self.inventories.entries_of(application) {
                    self.compare_entry(listed, inventory, missing);
                }
                *missing != before
            }
            Compared::Entries(entries) => {
                let mut is_changed = false;
                for (listed, inventory) in
                    entries.iter().filter_map(|at| self.inventories.entry(at))
                {
                    is_changed |= self.compare_entry(listed, inventory, missing);
                }
                is_changed
            }
        }
    }

    /// Adds a listed resource to the missing resources, or removes it. Returns whether they changed. A namespaced
    /// resource whose entry lacks the namespace may be any object.
    fn compare_entry(
        &self,
        listed: &ListedResource,
        inventory: &Arc<str>,
        missing: &mut MissingByIdentity,
    ) -> bool {
        let Some(resource) = self.resource_of(listed, inventory) else {
            return false;
        };
        let identity = Identity::from(&resource);
        if self.listed_as(listed).next().is_some() {
            return missing.remove(&identity).is_some();
        }
        let is_new = !missing.contains_key(&identity);
        missing.entry(identity).or_insert(resource);
        is_new
    }

    /// A listed resource as a missing one; none if its entry lacks the namespace.
    fn resource_of(
        &self,
        listed: &ListedResource,
        inventory: &Arc<str>,
    ) -> Option<MissingResource> {
        let mut kinds = self.scopes.values().map(|watched| &watched.kind);
        let kind = kinds.find(|kind| listed.is_of(kind));
        let is_namespaced = kind.map(|kind| kind.is_namespaced);
        if is_namespaced == Some(true) && listed.namespace.is_empty() {
            return None;
        }
        let namespace = match is_namespaced {
            Some(false) => Arc::default(),
            Some(true) | None => Arc::clone(&listed.namespace),
        };
        Some(MissingResource {
            gvk: kind.map_or_else(|| listed.gvk.clone(), |kind| kind.gvk.clone()),
            namespace,
            name: Arc::clone(&listed.name),
            inventory: Arc::clone(inventory),
        })
    }

    /// The objects with the identity of a listed resource.
    pub(super) fn listed_as(&self, listed: &ListedResource) -> impl Iterator<Item = Id> {
        let scopes = self.scopes.iter();
        let scopes = scopes.filter(|(_, watched)| listed.is_of(&watched.kind));
        scopes.filter_map(|(scope, watched)| {
            let namespace = watched.kind.is_namespaced.then_some(&*listed.namespace);
            let namespace = namespace.unwrap_or_default();
            self.objects.find(*scope, namespace, &listed.name)
        })
    }
}
