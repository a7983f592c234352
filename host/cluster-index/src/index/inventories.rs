//! The inventories of a cluster: the applications that they name, and the listed resources that do not exist.

mod missing;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kindsight_model::{ClusterName, DigName, Presence, Removal};

use super::ClusterIndex;
use super::entry::Entry;
use super::objects::Id;
use crate::index::ScopeId;
use crate::inventory::{Inventory, ListedResource};
use crate::kind::ApiKind;
use crate::remote_inventory::UncomparedInventories;

/// Maximum number of listed resources of all inventories of a cluster. Further resources are left out, and the
/// applications of their inventories have a fault. The inventories for other clusters have the same limit of their own.
const LISTED_MAX: usize = 200_000;
/// The limit in force; tests have a smaller one.
pub(super) const LISTED: usize = if cfg!(test) { 50 } else { LISTED_MAX };
/// Maximum number of workloads that all health scopes of a cluster list. The users of a cluster write these lists, so they
/// do not use up the limit of the inventories.
const LISTED_BY_SCOPES: usize = LISTED / 4;

/// The inventories of a cluster.
#[derive(Debug, Default)]
pub(super) struct Inventories {
    /// The Kinds whose objects have inventories.
    scopes: BTreeSet<ScopeId>,
    by_object: BTreeMap<InventoryId, Inventory>,
    /// The inventories of an application.
    by_application: HashMap<DigName, BTreeSet<InventoryId>>,
    /// The entries that list a name: the object with the inventory, and the position of the entry.
    by_name: HashMap<Arc<str>, Vec<ListingEntry>>,
    /// Number of all entries of the inventories of this cluster, without health scopes.
    listed: usize,
    /// Number of all entries of the health scopes.
    listed_by_scopes: usize,
    /// Number of health scopes.
    scope_count: usize,
    /// The applications whose missing resources may have changed.
    changed: BTreeMap<DigName, Compared>,
    /// The missing resources that were last taken, for each application with any.
    taken: HashMap<DigName, missing::MissingByIdentity>,
    /// The inventories of all clusters that are compared with no cluster.
    uncompared: Arc<UncomparedInventories>,
}

/// The object with an inventory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum InventoryId {
    /// An object of this cluster.
    Own(Id),
    /// An object of another cluster, as text for readers.
    Received(Arc<ClusterName>, Arc<str>),
}

impl InventoryId {
    /// Returns whether the object is in this cluster.
    fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }
}

/// An entry of an inventory, by its position.
type ListingEntry = (InventoryId, usize);

/// The entries of the inventories of an application that must be compared with the objects again.
#[derive(Debug)]
enum Compared {
    All,
    Entries(BTreeSet<ListingEntry>),
}

impl Inventories {
    /// Returns whether the objects of a Kind have inventories, so that their bodies are needed.
    pub(super) fn are_in(&self, scope: ScopeId) -> bool {
        self.scopes.contains(&scope)
    }

    /// The Kinds whose objects have inventories, each in a scope.
    pub(super) fn scopes(&self) -> impl Iterator<Item = &ScopeId> {
        self.scopes.iter()
    }

    /// Notes a Kind in a scope. `are_scopes_followed` says whether the objects that define health scopes are read.
    pub(super) fn watch(&mut self, scope: ScopeId, kind: &ApiKind, are_scopes_followed: bool) {
        let is_wanted = are_scopes_followed || !Inventory::is_of_scope(&kind.gvk);
        if is_wanted && Inventory::is_in(&kind.gvk) {
            self.scopes.insert(scope);
        }
        self.compare_all();
    }

    /// Forgets a Kind in a scope, which has no objects any more.
    pub(super) fn unwatch(&mut self, scope: ScopeId) {
        self.scopes.remove(&scope);
        self.compare_all();
    }

    /// Notes that the known Kinds changed, so that an entry may name another object.
    fn compare_all(&mut self) {
        let applications = self.by_application.keys();
        let all = applications.map(|application| (application.clone(), Compared::All));
        self.changed.extend(all);
    }

    /// Notes that the resource of an entry of an application may exist now, or may be missing.
    fn compare(&mut self, application: DigName, entry: ListingEntry) {
        let changed = self.changed.entry(application);
        match changed.or_insert_with(|| Compared::Entries(BTreeSet::new())) {
            Compared::All => {}
            Compared::Entries(entries) => {
                entries.insert(entry);
            }
        }
    }

    /// The entries that list an object, with their inventories.
    fn listing<'i>(
        &'i self,
        kind: &'i ApiKind,
        namespace: &'i str,
        name: &str,
    ) -> impl Iterator<Item = ((&'i InventoryId, usize), &'i Inventory)> {
        let entries = self.by_name.get(name).into_iter().flatten();
        entries.filter_map(move |(id, at)| {
            let inventory = self.by_object.get(id)?;
            let is_listed = inventory.listed.get(*at)?.is(kind, namespace);
            is_listed.then_some(((id, *at), inventory))
        })
    }

    /// The resource of an entry, and its inventory as text.
    fn entry(&self, (id, at): &ListingEntry) -> Option<(&ListedResource, &Arc<str>)> {
        let inventory = self.by_object.get(id)?;
        Some((inventory.listed.get(*at)?, &inventory.text))
    }

    /// The entries of all inventories of an application.
    fn entries_of(
        &self,
        application: &DigName,
    ) -> impl Iterator<Item = (&ListedResource, &Arc<str>)> {
        let inventories = self.of(application);
        inventories.flat_map(|inventory| {
            inventory
                .listed
                .iter()
                .map(|listed| (listed, &inventory.text))
        })
    }

    /// Returns whether any inventory lists a resource of this name.
    pub(super) fn name(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns whether there is a health scope.
    pub(super) fn have_scopes(&self) -> bool {
        self.scope_count > 0
    }

    /// Returns whether an application has an inventory.
    pub(super) fn has(&self, application: &DigName) -> bool {
        self.by_application.contains_key(application)
    }

    /// The number of entries of the inventories of this cluster that share a limit with an inventory, and this limit.
    fn listed_with(&mut self, inventory: &Inventory) -> (&mut usize, usize) {
        if inventory.claim.application.is_health_scope() {
            (&mut self.listed_by_scopes, LISTED_BY_SCOPES)
        } else {
            (&mut self.listed, LISTED)
        }
    }

    /// The inventories of an application.
    fn of(&self, application: &DigName) -> impl Iterator<Item = &Inventory> {
        let objects = self.by_application.get(application);
        let objects = objects.into_iter().flatten();
        objects.filter_map(|id| self.by_object.get(id))
    }

    /// The inventories that came from other clusters.
    pub(super) fn received(&self) -> impl Iterator<Item = &InventoryId> {
        self.by_object.keys().filter(|id| !id.is_own())
    }

    /// Sets the inventories that are compared with no cluster. Returns the applications whose inventories changed.
    pub(super) fn set_uncompared(
        &mut self,
        uncompared: &Arc<UncomparedInventories>,
    ) -> HashSet<DigName> {
        let before = std::mem::replace(&mut self.uncompared, Arc::clone(uncompared));
        if Arc::ptr_eq(&before, uncompared) {
            return HashSet::new();
        }
        let applications = before.keys().chain(uncompared.keys());
        let is_changed =
            |application: &&DigName| before.get(*application) != uncompared.get(*application);
        applications.filter(is_changed).cloned().collect()
    }

    /// The faults of an application: its inventories that list more resources than are read, or that are compared
    /// with no cluster.
    pub(super) fn faults(&self, application: &DigName) -> Vec<Arc<str>> {
        let cut = self.of(application).filter(|it| it.is_cut);
        let faults = cut.map(|inventory| {
            let text = &inventory.text;
            format!("{text} lists more resources than kindsight reads; missing ones may be unknown")
        });
        let uncompared = self.uncompared.get(application).into_iter().flatten();
        faults.map(Arc::from).chain(uncompared.cloned()).collect()
    }

    /// Replaces the inventory of an object. Returns the previous one.
    fn replace(&mut self, id: &InventoryId, inventory: Option<Inventory>) -> Option<Inventory> {
        let before = self.by_object.remove(id);
        if let Some(before) = &before {
            let application = &before.claim.application;
            if let Some(objects) = self.by_application.get_mut(application) {
                objects.remove(id);
                if objects.is_empty() {
                    self.by_application.remove(application);
                }
            }
        }
        for listed in before.iter().flat_map(|before| before.listed.iter()) {
            if let Some(entries) = self.by_name.get_mut(&listed.name) {
                entries.retain(|(listing, _)| listing != id);
                if entries.is_empty() {
                    self.by_name.remove(&listed.name);
                }
            }
        }
        if let Some(before) = before.as_ref().filter(|_| id.is_own()) {
            let (listed, _) = self.listed_with(before);
            *listed = listed.saturating_sub(before.listed.len());
        }
        let after = inventory.map(|mut inventory| {
            // The other cluster has cut its inventories.
            if id.is_own() {
                let (listed, max) = self.listed_with(&inventory);
                let left = max.saturating_sub(*listed);
                inventory.cut(left);
            }
            inventory
        });
        self.count_scopes(before.as_ref(), after.as_ref());
        let claims = before.iter().chain(&after).map(|it| &it.claim);
        let changed = claims.map(|claim| (claim.application.clone(), Compared::All));
        self.changed.extend(changed);
        if let Some(after) = after {
            for (at, listed) in after.listed.iter().enumerate() {
                let entries = self.by_name.entry(Arc::clone(&listed.name)).or_default();
                entries.push((id.clone(), at));
            }
            if id.is_own() {
                let (listed, _) = self.listed_with(&after);
                *listed += after.listed.len();
            }
            let application = after.claim.application.clone();
            self.by_application
                .entry(application)
                .or_default()
                .insert(id.clone());
            self.by_object.insert(id.clone(), after);
        }
        before
    }

    /// Counts the health scopes after an inventory replaced another one.
    fn count_scopes(&mut self, before: Option<&Inventory>, after: Option<&Inventory>) {
        let is_scope = |it: Option<&Inventory>| {
            usize::from(it.is_some_and(|it| it.claim.application.is_health_scope()))
        };
        self.scope_count = (self.scope_count + is_scope(after)).saturating_sub(is_scope(before));
    }
}

impl ClusterIndex {
    /// Replaces an inventory. The listed objects may belong to other applications then.
    pub(super) fn replace_inventory(&mut self, id: &InventoryId, inventory: Option<Inventory>) {
        if self.inventories.by_object.get(id) == inventory.as_ref() {
            return;
        }
        let before = self.inventories.replace(id, inventory);
        let after = self.inventories.by_object.get(id);
        let scopes = [before.as_ref(), after].into_iter();
        let labelled: Vec<Id> = scopes
            .flat_map(|it| self.labelled_with_scope_of(it))
            .collect();
        if before.as_ref().is_some_and(|it| it.is_cut) != after.is_some_and(|it| it.is_cut) {
            self.groups.note_all_changed();
        }
        let is_same_claim = before.as_ref().map(|it| &it.claim) == after.map(|it| &it.claim);
        let listed = |inventory: Option<&Inventory>| -> BTreeSet<ListedResource> {
            let listed = inventory
                .into_iter()
                .flat_map(|inventory| inventory.listed.iter());
            listed.cloned().collect()
        };
        let (before, after) = (listed(before.as_ref()), listed(after));
        let changed = if is_same_claim {
            &before ^ &after
        } else {
            &before | &after
        };
        let mut objects: Vec<Id> = changed
            .iter()
            .flat_map(|listed| self.listed_as(listed))
            .collect();
        if !is_same_claim {
            objects.extend(labelled);
        }
        for object in objects {
            self.place(object, Removal::LeftApplication);
            self.place_owned(object, Removal::LeftApplication);
        }
    }

    /// Notes that an object was added or removed: a listed resource that was missing may exist, or the reverse.
    pub(super) fn note_existence(&mut self, id: Id) {
        let Some(entry) = self.objects.get(id) else {
            return;
        };
        let listing = self.entries_listing(entry);
        let listing = listing.map(|((id, at), inventory)| {
            let application = inventory.claim.application.clone();
            (application, (id.clone(), at))
        });
        let listing: Vec<(DigName, ListingEntry)> = listing.collect();
        for (application, at) in listing {
            self.inventories.compare(application, at);
        }
    }

    /// The inventories that list an object.
    pub(super) fn inventories_of<'i>(
        &'i self,
        entry: &'i Entry,
    ) -> impl Iterator<Item = &'i Inventory> {
        self.entries_listing(entry).map(|(_, inventory)| inventory)
    }

    /// The entries that list an object, with their inventories.
    fn entries_listing<'i>(
        &'i self,
        entry: &'i Entry,
    ) -> impl Iterator<Item = ((&'i InventoryId, usize), &'i Inventory)> {
        let is_named = self.inventories.name(&entry.name);
        let scope = is_named.then(|| self.scopes.get(&entry.scope())).flatten();
        scope.into_iter().flat_map(|watched| {
            let namespace = entry.namespace();
            self.inventories
                .listing(&watched.kind, namespace, &entry.name)
        })
    }

    /// Returns whether the body of an object with an inventory was not read and will be read.
    pub(super) fn are_inventories_awaited(&self) -> bool {
        self.inventories.scopes.iter().any(|scope| {
            let coverage = self.coverage_of(*scope);
            let is_listed =
                coverage.is_none_or(|coverage| coverage.state.presence() == Presence::Current);
            is_listed && self.missing.are_any_of(*scope)
        })
    }

    /// Returns whether missing resources were not taken yet.
    pub(super) fn are_inventories_changed(&self) -> bool {
        !self.inventories.changed.is_empty()
    }
}
