//! The inventories of a cluster: the applications that they name, and the listed resources that do not exist.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::{DigName, Identity, MissingResource, MissingResources, Presence, Removal};

use super::ClusterIndex;
use super::entry::Entry;
use super::objects::Id;
use crate::index::ScopeId;
use crate::inventory::{Inventory, ListedResource};
use crate::kind::ApiKind;

/// Maximum number of listed resources of all inventories of a cluster. Further resources are left out, and the
/// applications of their inventories have a fault.
const LISTED_MAX: usize = 200_000;
/// The limit in force; tests have a smaller one.
const LISTED: usize = if cfg!(test) { 50 } else { LISTED_MAX };

/// The inventories of a cluster.
#[derive(Debug, Default)]
pub(super) struct Inventories {
    /// The Kinds whose objects have inventories.
    scopes: BTreeSet<ScopeId>,
    by_object: BTreeMap<Id, Inventory>,
    /// The objects with the inventories of an application.
    by_application: HashMap<DigName, BTreeSet<Id>>,
    /// The entries that list a name: the object with the inventory, and the position of the entry.
    by_name: HashMap<Arc<str>, Vec<(Id, usize)>>,
    /// Number of all entries.
    listed: usize,
    /// The applications whose missing resources may have changed.
    changed: BTreeMap<DigName, Compared>,
    /// The missing resources that were last taken, for each application with any.
    taken: HashMap<DigName, MissingByIdentity>,
}

/// The missing resources of one application.
type MissingByIdentity = BTreeMap<Identity, MissingResource>;

/// The entries of the inventories of an application that must be compared with the objects again.
#[derive(Debug)]
enum Compared {
    All,
    /// The entries of these resources, each as the object with the inventory and the position of the entry.
    Entries(BTreeSet<(Id, usize)>),
}

impl Inventories {
    /// Returns whether the objects of a Kind have inventories, so that their bodies are needed.
    pub(super) fn are_in(&self, scope: ScopeId) -> bool {
        self.scopes.contains(&scope)
    }

    /// Notes a Kind in a scope.
    pub(super) fn watch(&mut self, scope: ScopeId, kind: &ApiKind) {
        if Inventory::is_in(&kind.gvk) {
            self.scopes.insert(scope);
        }
        self.compare_all();
    }

    /// Forgets a Kind in a scope, which has no objects any more.
    pub(super) fn unwatch(&mut self, scope: ScopeId) {
        self.scopes.remove(&scope);
        self.compare_all();
    }

    /// Notes that the Kinds changed by which the entries name objects.
    fn compare_all(&mut self) {
        let applications = self.by_application.keys();
        let all = applications.map(|application| (application.clone(), Compared::All));
        self.changed.extend(all);
    }

    /// Notes that the resource of an entry of an application may exist now, or may be missing.
    fn compare(&mut self, application: DigName, entry: (Id, usize)) {
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
    ) -> impl Iterator<Item = ((Id, usize), &'i Inventory)> {
        let entries = self.by_name.get(name).into_iter().flatten();
        entries.filter_map(move |(id, at)| {
            let inventory = self.by_object.get(id)?;
            let is_listed = inventory.listed.get(*at)?.is(kind, namespace);
            is_listed.then_some(((*id, *at), inventory))
        })
    }

    /// The resource of an entry, and its inventory as text.
    fn entry(&self, (id, at): (Id, usize)) -> Option<(&ListedResource, &Arc<str>)> {
        let inventory = self.by_object.get(&id)?;
        Some((inventory.listed.get(at)?, &inventory.text))
    }

    /// The entries of all inventories of an application.
    fn entries_of(
        &self,
        application: &DigName,
    ) -> impl Iterator<Item = (&ListedResource, &Arc<str>)> {
        let inventories = self.of(application);
        inventories.flat_map(|it| it.listed.iter().map(|listed| (listed, &it.text)))
    }

    /// Returns whether any inventory lists a resource of this name.
    pub(super) fn name(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The inventories of an application.
    fn of(&self, application: &DigName) -> impl Iterator<Item = &Inventory> {
        let objects = self.by_application.get(application);
        let objects = objects.into_iter().flatten();
        objects.filter_map(|id| self.by_object.get(id))
    }

    /// The faults of an application: the inventories that list more resources than are read.
    pub(super) fn faults(&self, application: &DigName) -> Vec<Arc<str>> {
        let cut = self.of(application).filter(|it| it.is_cut);
        let faults = cut.map(|inventory| {
            let text = &inventory.text;
            format!("{text} lists more resources than kindsight reads; missing ones may be unknown")
        });
        faults.map(Arc::from).collect()
    }

    /// Replaces the inventory of an object. Returns the previous one.
    fn replace(&mut self, id: Id, inventory: Option<Inventory>) -> Option<Inventory> {
        let before = self.by_object.remove(&id);
        if let Some(before) = &before {
            let application = &before.claim.application;
            if let Some(objects) = self.by_application.get_mut(application) {
                objects.remove(&id);
                if objects.is_empty() {
                    self.by_application.remove(application);
                }
            }
        }
        for listed in before.iter().flat_map(|before| &before.listed) {
            if let Some(entries) = self.by_name.get_mut(&listed.name) {
                entries.retain(|(listing, _)| *listing != id);
                if entries.is_empty() {
                    self.by_name.remove(&listed.name);
                }
            }
            self.listed = self.listed.saturating_sub(1);
        }
        let after = inventory.map(|mut inventory| {
            inventory.cut(LISTED.saturating_sub(self.listed));
            inventory
        });
        let claims = before.iter().chain(&after).map(|it| &it.claim);
        let changed = claims.map(|claim| (claim.application.clone(), Compared::All));
        self.changed.extend(changed);
        if let Some(after) = after {
            for (at, listed) in after.listed.iter().enumerate() {
                let entries = self.by_name.entry(Arc::clone(&listed.name)).or_default();
                entries.push((id, at));
            }
            self.listed += after.listed.len();
            let application = after.claim.application.clone();
            self.by_application
                .entry(application)
                .or_default()
                .insert(id);
            self.by_object.insert(id, after);
        }
        before
    }
}

impl ClusterIndex {
    /// Takes the inventory of an object, which replaces the previous inventory of this object. The listed objects may
    /// belong to other applications then.
    pub(super) fn take_inventory(&mut self, id: Id, inventory: Option<Inventory>) {
        if self.inventories.by_object.get(&id) == inventory.as_ref() {
            return;
        }
        let before = self.inventories.replace(id, inventory);
        let after = self.inventories.by_object.get(&id);
        if before.as_ref().is_some_and(|it| it.is_cut) != after.is_some_and(|it| it.is_cut) {
            self.groups.note_all_changed();
        }
        let is_same_claim = before.as_ref().map(|it| &it.claim) == after.map(|it| &it.claim);
        let listed = |inventory: Option<&Inventory>| -> BTreeSet<ListedResource> {
            let listed = inventory.into_iter().flat_map(|it| &it.listed);
            listed.cloned().collect()
        };
        let (before, after) = (listed(before.as_ref()), listed(after));
        let changed = if is_same_claim {
            &before ^ &after
        } else {
            &before | &after
        };
        let objects: Vec<Id> = changed.iter().flat_map(|it| self.listed_as(it)).collect();
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
        let listing = listing.map(|(at, inventory)| (inventory.claim.application.clone(), at));
        let listing: Vec<(DigName, (Id, usize))> = listing.collect();
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
    ) -> impl Iterator<Item = ((Id, usize), &'i Inventory)> {
        let is_named = self.inventories.name(&entry.name);
        let scope = is_named.then(|| self.scopes.get(&entry.scope())).flatten();
        scope.into_iter().flat_map(|watched| {
            let namespace = entry.namespace();
            self.inventories
                .listing(&watched.kind, namespace, &entry.name)
        })
    }

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
                    entries.iter().filter_map(|at| self.inventories.entry(*at))
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

    /// Returns whether the body of an object with an inventory was not read and will be read.
    pub(super) fn are_inventories_awaited(&self) -> bool {
        self.inventories.scopes.iter().any(|scope| {
            let coverage = self.coverage_of(*scope);
            let is_listed = coverage.is_none_or(|it| it.state.presence() == Presence::Current);
            is_listed && self.missing.are_any_of(*scope)
        })
    }

    /// Returns whether missing resources were not taken yet.
    pub(super) fn are_inventories_changed(&self) -> bool {
        !self.inventories.changed.is_empty()
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
    fn listed_as(&self, listed: &ListedResource) -> impl Iterator<Item = Id> {
        let scopes = self.scopes.iter();
        let scopes = scopes.filter(|(_, watched)| listed.is_of(&watched.kind));
        scopes.filter_map(|(scope, watched)| {
            let namespace = watched.kind.is_namespaced.then_some(&*listed.namespace);
            let namespace = namespace.unwrap_or_default();
            self.objects.find(*scope, namespace, &listed.name)
        })
    }
}
