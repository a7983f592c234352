//! The objects of one cluster, and the applications that they belong to.
//!
//! An owner decides before the objects that it owns: a Pod with the labels of another chart belongs to the
//! application of its Deployment. Recorded deployments of an `AppContext` have the highest precedence, then the
//! applications of the configuration. The index is pure and synchronous. Each call changes one object, and the
//! index collects the changed groups.
//!
//! An object without an application takes about 100 bytes. With an owner, or with labels that relations need, it
//! takes about 270 bytes.

mod audit;
mod claims;
mod comparison;
mod coverage;
mod deployments;
mod descent;
mod entry;
mod groups;
mod health_scopes;
mod inventories;
mod links;
mod missing;
mod objects;
mod place;
mod queries;
mod related;
mod relations;
mod remote_inventories;
mod reports;
mod scopes;
mod slots;
mod texts;
mod update;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::RandomState;
use std::sync::Arc;

use kindsight_model::Subject as GroupId;
use kindsight_model::{DeploymentId, Removal, Report};

use crate::decoded::Decoded;
use crate::related_rules::RelatedRules;
use crate::uid::Uid;

pub use audit::{Difference, ListedPage};
pub use comparison::{ConsistentList, ObjectName};
use groups::Groups;
use health_scopes::HealthScopes;
use inventories::Inventories;
pub use missing::Needed;
use missing::{Missing, NeededOf, ScopeNamespace};
pub(crate) use objects::Id;
use objects::Objects;
use place::GroupPlace;
use queries::Queries;
use relations::Watched;
use remote_inventories::RemoteInventories;
use texts::Texts;

/// Maximum number of objects of one cluster. For most of them, the index has only the identity. Further objects are
/// left out, and [`ClusterIndex::left_out`] reports that.
const OBJECTS_MAX: usize = 2_000_000;

/// The number of a Kind in a scope, valid while the index has this Kind and scope.
pub type ScopeId = usize;

/// A report with the group that it is about.
pub type GroupReport = (GroupId, Report);

/// All objects of one cluster, and the applications that they belong to.
///
/// The index outlives sessions: an object stays until its source deletes it, or until a pass over its Kind and
/// scope ends without it. A session that cannot read a Kind removes nothing.
#[derive(Debug, Default)]
pub struct ClusterIndex {
    objects: Objects,
    /// Objects by the uid of an owner.
    owned: BTreeSet<(Uid, Id)>,
    /// Objects that join the only application of a name, by that name.
    floating: HashMap<Arc<str>, BTreeSet<Id>>,
    groups: Groups,
    inventories: Inventories,
    health_scopes: HealthScopes,
    remote_inventories: RemoteInventories,
    missing: Missing,
    /// Recorded deployments; true if kindsight reports them from their objects.
    deployments: HashMap<DeploymentId, bool>,
    /// True if every deployment that a label names counts as recorded.
    are_labels_records: bool,
    /// Objects by the deployment that their label names, recorded or not.
    labelled: HashMap<DeploymentId, BTreeSet<Id>>,
    scopes: BTreeMap<ScopeId, Watched>,
    /// The number of the next Kind in a scope.
    next_scope: ScopeId,
    /// The relations that interpreters ask for.
    rules: Arc<RelatedRules>,
    queries: Queries,
    /// Number of changes so far.
    changes: u64,
    hasher: RandomState,
    texts: Texts,
    /// True once an object was left out because of [`OBJECTS_MAX`].
    is_over: bool,
}

impl ClusterIndex {
    /// Begins a session, whose lists may have room for objects that were left out.
    pub fn begin_session(&mut self) {
        self.is_over = self.objects.len() >= OBJECTS_MAX;
    }

    /// Begins a pass over a Kind in its scope: the source sends every object that exists, then
    /// [`init_done`](Self::init_done). A second `init` restarts the pass.
    pub fn init(&mut self, scope: ScopeId) {
        self.begin_pass(scope);
    }

    /// Takes an object of a pass.
    pub fn init_apply(&mut self, scope: ScopeId, decoded: Decoded) {
        let id = self.known(scope, &decoded);
        let is_missing = id.is_some_and(|id| self.is_missing(id));
        let pass = self.pass(scope);
        match id.and_then(|id| self.objects.get_mut(id)) {
            Some(entry) if entry.has_all_of(&decoded, is_missing) => entry.pass = pass,
            _ => {
                self.put((scope, id), Some(pass), decoded);
            }
        }
    }

    /// Ends a pass, and removes the objects that it did not contain. If the pass contained an item without a
    /// readable identity, no object is removed: the item may be any of them. Returns false in this case.
    pub fn init_done(&mut self, scope: ScopeId, removal: Removal) -> bool {
        self.missing.want_again(scope);
        let pass = self.pass(scope);
        let unnamed = self.objects.find(scope, "", "");
        let unnamed = unnamed.and_then(|id| self.objects.get(id));
        if unnamed.is_some_and(|entry| entry.pass == pass) {
            return false;
        }
        let all = self.objects.of_scope(scope);
        let old = all.filter(|(_, entry)| entry.pass != pass);
        let old: Vec<Id> = old.map(|(id, _)| id).collect();
        for id in old {
            self.remove_object(id, removal);
        }
        true
    }

    /// Takes an object that was created or changed. The list of a part may have brought a later version already.
    pub fn apply(&mut self, scope: ScopeId, decoded: Decoded) {
        let id = self.known(scope, &decoded);
        let is_missing = id.is_some_and(|id| self.is_missing(id));
        let known = id.and_then(|id| self.objects.get(id));
        let is_old = known.is_some_and(|entry| {
            entry.has_all_of(&decoded, is_missing) || entry.is_newer_than(&decoded)
        });
        if !is_old {
            let pass = self.pass(scope);
            self.put((scope, id), Some(pass), decoded);
        }
    }

    /// Takes an object of the list of a part, which may be older than the events of the watch. An object that the
    /// watch has not sent was deleted since, or the watch will send it.
    pub fn complete(&mut self, scope: ScopeId, decoded: Decoded) {
        let id = self.known(scope, &decoded);
        let is_missing = id.is_some_and(|id| self.is_missing(id));
        let known = id.and_then(|id| self.objects.get(id));
        let is_wanted = known.is_some_and(|entry| {
            let is_new = !entry.has_all_of(&decoded, is_missing) && !entry.is_newer_than(&decoded);
            entry.uid == decoded.uid && is_new
        });
        if is_wanted {
            // Only a list of the complete scope decides which objects exist, so the pass does not change.
            self.put((scope, id), None, decoded);
        }
    }

    /// Removes an object.
    pub fn delete(&mut self, scope: ScopeId, decoded: &Decoded, removal: Removal) {
        if let Some(id) = self.known(scope, decoded) {
            self.remove_object(id, removal);
        }
    }

    /// The object with the name of a decoded object, if the index has it.
    fn known(&self, scope: ScopeId, decoded: &Decoded) -> Option<Id> {
        self.objects.find(scope, &decoded.namespace, &decoded.name)
    }

    /// Puts an object; none if the index is full.
    fn put(
        &mut self,
        (scope, known): (ScopeId, Option<Id>),
        pass: Option<u64>,
        mut decoded: Decoded,
    ) -> Option<Id> {
        if let Some(id) = known
            && self.is_update(id, &decoded)
        {
            self.update(id, pass, decoded);
            return known;
        }
        let known = known.filter(|id| !self.remove_replaced(*id, &decoded));
        if known.is_none() {
            self.leave_old_scope(scope, &decoded);
        }
        if self.objects.len() >= OBJECTS_MAX && known.is_none() {
            self.is_over = true;
            return None;
        }
        self.changes += 1;
        let (is_read, inventory) = (decoded.is_read(), decoded.take_inventory());
        let is_same_owner = |id| Some(self.objects.get(id)?.is_same_owner(&decoded));
        let is_other_owner = known.and_then(is_same_owner) != Some(true);
        if let Some(id) = known.filter(|_| is_other_owner) {
            self.note_descent(id);
        }
        let mut concerned = known.map_or_else(BTreeSet::new, |id| self.take_out(id));
        let id = known.unwrap_or_else(|| {
            let namespace = self.texts.share(&decoded.namespace);
            self.objects.add(scope, &namespace, &decoded.name)
        });
        self.texts.share_texts(&mut decoded);
        if let Some(entry) = self.objects.get_mut(id) {
            entry.pass = pass.unwrap_or(entry.pass);
            entry.replace(decoded, self.changes, &mut self.texts);
            concerned.append(&mut self.queries.take(id, entry));
        }
        self.link(id);
        self.label(id);
        self.place(id, Removal::LeftApplication);
        // The applications of its owned objects may change too. The status of a workload changes with each of its
        // thousands of Pods, but its owner then stays the same.
        if is_other_owner {
            self.place_owned(id, Removal::LeftApplication);
            self.note_descent(id);
        }
        for group in concerned {
            self.groups.note_changed(group);
        }
        if known.is_none() {
            self.note_existence(id);
        }
        if is_read {
            self.take_inventory(id, inventory);
        }
        Some(id)
    }

    /// Removes an object if another one has its name now. Returns whether it was removed.
    fn remove_replaced(&mut self, id: Id, decoded: &Decoded) -> bool {
        let uid = self.objects.get(id).map_or(Uid::NONE, |entry| entry.uid);
        let is_replaced = !uid.is_none() && !decoded.uid.is_none() && uid != decoded.uid;
        if is_replaced {
            self.remove_object(id, Removal::Deleted);
        }
        is_replaced
    }

    /// Removes an object of the same Kind and name from other scopes: the configuration names other namespaces now. The
    /// object is the same, or it replaces the other one.
    fn leave_old_scope(&mut self, scope: ScopeId, decoded: &Decoded) {
        let others = self
            .scopes
            .get(&scope)
            .map(|scope| Arc::clone(&scope.others));
        // Items without a name are not the same object.
        let others = others.filter(|others| !others.is_empty() && !decoded.name.is_empty());
        for other in others.iter().flat_map(|others| others.iter()) {
            if let Some(id) = self.known(*other, decoded) {
                self.remove_object(id, Removal::OutOfScope);
            }
        }
    }

    /// Removes an object from all indexes before it changes or is removed. Returns the groups whose searches found
    /// the object.
    fn take_out(&mut self, id: Id) -> BTreeSet<Arc<GroupId>> {
        let entry = self.objects.get(id);
        let concerned = entry.map(|entry| self.queries.forget(id, entry));
        self.unlink(id);
        self.unfloat(id);
        self.unlabel(id);
        concerned.unwrap_or_default()
    }

    /// The namespaces of scopes with newly needed bodies, and with missing bodies at the end of a pass. Each namespace
    /// is returned once.
    pub fn take_wanted(&mut self) -> BTreeSet<ScopeNamespace> {
        self.missing.take_wanted()
    }

    /// The objects of a scope whose bodies are needed and missing.
    pub fn needed(&self, scope: ScopeId) -> impl Needed {
        NeededOf { index: self, scope }
    }

    /// Returns whether an application has objects of this scope, or needs the content of related ones, or whether they have inventories.
    pub fn is_used(&self, scope: ScopeId) -> bool {
        let has_inventories = self.inventories.are_in(scope) && self.objects.count_of(scope) > 0;
        has_inventories
            || self.groups.members_of(scope) > 0
            || self.queries.need_content_of_any(scope)
    }

    /// The objects that are left out, as text for readers.
    pub fn left_out(&self) -> Option<Arc<str>> {
        let text = || format!("objects over the limit of {OBJECTS_MAX}").into();
        self.is_over.then(text)
    }

    /// Number of objects of applications. Counts an object again for each of its health scopes.
    pub fn members(&self) -> usize {
        self.groups.members()
    }

    fn remove_object(&mut self, id: Id, removal: Removal) {
        self.note_descent(id);
        for group in self.take_out(id) {
            self.groups.note_changed(group);
        }
        self.take_inventory(id, None);
        self.note_existence(id);
        let Some(entry) = self.objects.get_mut(id) else {
            return;
        };
        self.missing.remove(id, entry);
        let uid = entry.uid;
        let GroupPlace {
            group,
            is_anchor,
            scopes,
            ..
        } = entry.set_place(GroupPlace::default());
        if let Some(group) = &group {
            self.note_removed(id, group, removal);
        }
        self.move_scopes(id, &scopes, &[], removal);
        self.move_to(id, group, None, is_anchor);
        self.objects.remove(id);
        // Kubernetes deletes the objects that a deleted object owned.
        for owned in self.owned_by(uid) {
            self.place(owned, removal);
            self.place_owned(owned, removal);
        }
    }
}

#[cfg(test)]
mod tests;
