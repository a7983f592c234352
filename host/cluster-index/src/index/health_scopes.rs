//! Health scopes: applications that objects of the Kind `HealthScope` select.
//!
//! An object belongs to one application, and also to each scope that lists it or one of its owners, or that a label of one
//! of them names. A scope takes no object out of an application. It exists as long as its object, so a label alone makes no
//! scope.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use kindsight_model::{DigName, Removal};

use super::entry::Entry;
use super::objects::Id;
use super::{ClusterIndex, GroupId};
use crate::inventory::Inventory;

/// Maximum number of health scopes of one object. The object does not belong to further scopes, in order of their names.
pub(super) const SCOPES_OF_OBJECT_MAX: usize = 8;

/// Objects by the health scope that a label names, whether the scope exists or not.
#[derive(Debug, Default)]
pub(super) struct HealthScopes {
    /// False by default: then objects of the Kind select nothing.
    are_followed: bool,
    labelled: HashMap<DigName, HashSet<Id>>,
}

impl HealthScopes {
    /// Returns whether objects of the Kind `HealthScope` select applications.
    pub(super) fn are_followed(&self) -> bool {
        self.are_followed
    }
}

/// The names of the scopes in the labels of an object. Both parts of such a name are label values.
fn named(entry: &Entry) -> impl Iterator<Item = DigName> {
    let scopes = entry.membership().scopes.iter();
    scopes.filter_map(|scope| DigName::health_scope(scope, entry.namespace()).ok())
}

impl ClusterIndex {
    /// Sets whether objects of the Kind `HealthScope` select applications. A session calls it at its begin, before it
    /// watches Kinds. After a change, the lists of the session bring the scopes and the labels that name them.
    pub fn follow_health_scopes(&mut self, are_followed: bool) {
        let before = std::mem::replace(&mut self.health_scopes.are_followed, are_followed);
        if before == are_followed {
            return;
        }
        let watched = self
            .scopes
            .iter()
            .map(|(id, watched)| (*id, Arc::clone(&watched.kind)));
        let watched: Vec<_> = watched
            .filter(|(_, kind)| Inventory::is_of_scope(&kind.gvk))
            .collect();
        for (scope, kind) in watched {
            if are_followed {
                self.inventories.watch(scope, &kind, true);
            } else {
                self.inventories.unwatch(scope);
                let all: Vec<Id> = self.objects.of_scope(scope).map(|(id, _)| id).collect();
                for id in all {
                    self.take_inventory(id, None);
                }
            }
            self.forget_versions(scope);
        }
    }

    /// Notes the scopes that the labels of an object name.
    pub(super) fn label_scopes(&mut self, id: Id) {
        let names: Vec<DigName> = self.objects.get(id).into_iter().flat_map(named).collect();
        for name in names {
            self.health_scopes
                .labelled
                .entry(name)
                .or_default()
                .insert(id);
        }
    }

    /// Forgets the scopes that the labels of an object named.
    pub(super) fn unlabel_scopes(&mut self, id: Id) {
        let names: Vec<DigName> = self.objects.get(id).into_iter().flat_map(named).collect();
        for name in names {
            if let Some(labelled) = self.health_scopes.labelled.get_mut(&name) {
                labelled.remove(&id);
                if labelled.is_empty() {
                    self.health_scopes.labelled.remove(&name);
                }
            }
        }
    }

    /// The objects whose labels name the scope of an inventory. No inventory of another application has any.
    pub(super) fn labelled_with_scope_of(&self, inventory: Option<&Inventory>) -> Vec<Id> {
        let application = inventory.map(|inventory| &inventory.claim.application);
        let labelled = application.and_then(|name| self.health_scopes.labelled.get(name));
        labelled.into_iter().flatten().copied().collect()
    }

    /// The scopes of an object, each with the app that the object belongs to there. The topmost owner in a scope names the
    /// app. The object of a scope belongs to no scope: its status follows from the scope, and must not decide it.
    pub(super) fn scopes_of(&self, id: Id) -> Box<[Arc<GroupId>]> {
        let watched = |entry: &Entry| self.scopes.get(&entry.scope());
        let is_scope =
            |entry: &Entry| watched(entry).is_some_and(|it| Inventory::is_of_scope(&it.kind.gvk));
        let own = self.objects.get(id).filter(|entry| !is_scope(entry));
        let Some(own) = own.filter(|_| self.inventories.have_scopes()) else {
            return Box::default();
        };
        let mut apps: BTreeMap<DigName, &Entry> = BTreeMap::new();
        for entry in self.with_owners(id) {
            let listed = self.inventories_of(entry).map(|it| &it.claim.application);
            let listed = listed.filter(|name| name.is_health_scope());
            apps.extend(listed.map(|name| (name.clone(), entry)));
            let labelled = named(entry).filter(|name| self.inventories.has(name));
            apps.extend(labelled.map(|name| (name, entry)));
        }
        // The writers of a namespace may not see the state of other objects, also if a scope lists a cluster-scoped one.
        apps.retain(|name, _| name.dig == *own.namespace());
        let apps = apps.into_iter().take(SCOPES_OF_OBJECT_MAX);
        apps.map(|(application, entry)| {
            let app = entry.membership().app.as_ref();
            let app = app.map_or_else(|| Arc::from(&*entry.name), Arc::clone);
            self.groups.known(GroupId::Application { application, app })
        })
        .collect()
    }

    /// Moves an object between scopes. `removal` is the reason if the object leaves a scope.
    pub(super) fn move_scopes(
        &mut self,
        id: Id,
        before: &[Arc<GroupId>],
        after: &[Arc<GroupId>],
        removal: Removal,
    ) {
        let Some(scope) = self.objects.get(id).map(Entry::scope) else {
            return;
        };
        for left in before.iter().filter(|group| !after.contains(group)) {
            self.note_removed(id, left, removal);
            self.groups.leave(Arc::clone(left), (scope, id), false);
        }
        for group in after {
            if before.contains(group) {
                self.groups.note_changed(Arc::clone(group));
                continue;
            }
            if let Some(identity) = self.identity_of(id) {
                self.groups.note_returned(group, &identity);
            }
            self.groups.join(Arc::clone(group), (scope, id), false);
        }
    }
}
