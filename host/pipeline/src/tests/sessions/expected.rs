//! A simple model of the index: the objects that were sent of each scope, and the applications they belong to.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_cluster_index::ScopeId;
use kindsight_model::{Identity, Removal};

use super::server::{GROUP, Name, Stored};

/// The members of each application, by Kind and name.
pub(super) type Members = BTreeMap<&'static str, BTreeMap<Member, Stored>>;

/// A Kind, and the namespace and name of an object.
pub(super) type Member = (&'static str, Name);

pub(super) fn identity((kind, (namespace, name)): Member) -> Identity {
    Identity {
        group: GROUP.into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: name.into(),
    }
}

/// An object that the index must know.
#[derive(Debug, Clone, Copy)]
struct Known {
    stored: Stored,
    /// The application that its metadata named by the rules when it was sent.
    claim: Option<&'static str>,
}

/// The objects of one scope.
#[derive(Debug, Default)]
struct Scope {
    kind: &'static str,
    objects: BTreeMap<Name, Known>,
    /// The objects of the pass.
    seen: BTreeSet<Name>,
    /// True if the pass has an item without identity.
    has_unnamed: bool,
}

/// Everything that the index must know.
#[derive(Debug, Default)]
pub(super) struct Expected {
    scopes: BTreeMap<ScopeId, Scope>,
    pub(super) members: Members,
    /// The reason why a former member is none, by application.
    pub(super) reasons: BTreeMap<(&'static str, Member), Removal>,
}

impl Expected {
    pub(super) fn watch(&mut self, scope: ScopeId, kind: &'static str) {
        self.scopes.entry(scope).or_default().kind = kind;
    }

    pub(super) fn init(&mut self, scope: ScopeId) {
        let scope = self.scope(scope);
        scope.seen.clear();
        scope.has_unnamed = false;
    }

    pub(super) fn unnamed(&mut self, scope: ScopeId) {
        self.scope(scope).has_unnamed = true;
    }

    pub(super) fn init_apply(
        &mut self,
        scope: ScopeId,
        name: Name,
        stored: Stored,
        claim: Option<&'static str>,
    ) {
        self.scope(scope).seen.insert(name);
        self.put(scope, name, Known { stored, claim });
    }

    pub(super) fn init_done(&mut self, id: ScopeId, removal: Removal) {
        let scope = self.scope(id);
        if !scope.has_unnamed {
            let Scope { objects, seen, .. } = scope;
            objects.retain(|name, _| seen.contains(name));
            self.settle(removal);
        }
    }

    pub(super) fn apply(
        &mut self,
        scope: ScopeId,
        name: Name,
        stored: Stored,
        claim: Option<&'static str>,
    ) {
        let known = self.scope(scope).objects.get(&name);
        let is_old = known.is_some_and(|known| {
            known.stored.uid == stored.uid && known.stored.version > stored.version
        });
        if !is_old {
            self.init_apply(scope, name, stored, claim);
        }
    }

    /// An object of the list of a part: it changes a known object, and never adds one.
    pub(super) fn complete(
        &mut self,
        scope: ScopeId,
        name: Name,
        stored: Stored,
        claim: Option<&'static str>,
    ) {
        let known = self.scope(scope).objects.get(&name);
        let is_newer = known.is_some_and(|known| {
            known.stored.uid == stored.uid && known.stored.version <= stored.version
        });
        if is_newer {
            self.put(scope, name, Known { stored, claim });
        }
    }

    pub(super) fn delete(&mut self, scope: ScopeId, name: Name, removal: Removal) {
        self.scope(scope).objects.remove(&name);
        self.settle(removal);
    }

    pub(super) fn remove_kind(&mut self, scope: ScopeId) {
        self.scope(scope).objects.clear();
        self.settle(Removal::KindRemoved);
    }

    pub(super) fn retain(&mut self, is_watched: impl Fn(ScopeId) -> bool) {
        self.scopes.retain(|scope, _| is_watched(*scope));
        self.settle(Removal::OutOfScope);
    }

    fn scope(&mut self, scope: ScopeId) -> &mut Scope {
        self.scopes.get_mut(&scope).unwrap()
    }

    fn put(&mut self, id: ScopeId, name: Name, known: Known) {
        let before = self.scope(id).objects.get(&name).copied();
        if before.is_some_and(|before| before.stored.uid != known.stored.uid) {
            self.delete(id, name, Removal::Deleted);
        }
        let is_new = !self.scope(id).objects.contains_key(&name);
        let kind = self.scope(id).kind;
        if is_new {
            // The configuration names other scopes now, and the object is the same.
            for (_, scope) in self.scopes.iter_mut().filter(|(other, _)| **other != id) {
                if scope.kind == kind {
                    scope.objects.remove(&name);
                }
            }
            self.settle(Removal::OutOfScope);
        }
        self.scope(id).objects.insert(name, known);
        self.settle(Removal::LeftApplication);
    }

    /// Finds the members again. Former members have this reason.
    fn settle(&mut self, removal: Removal) {
        let mut members = Members::new();
        for scope in self.scopes.values() {
            for (name, known) in &scope.objects {
                let owner = known.stored.owner;
                let owner = owner.and_then(|uid| self.with_uid(uid));
                let claim = owner.and_then(|owner| owner.claim).or(known.claim);
                if let Some(application) = claim {
                    let of_it = members.entry(application).or_default();
                    of_it.insert((scope.kind, *name), known.stored);
                }
            }
        }
        for (application, before) in &self.members {
            for member in before.keys() {
                self.reasons.insert((*application, *member), removal);
            }
        }
        for (application, now) in &members {
            for member in now.keys() {
                self.reasons.remove(&(*application, *member));
            }
        }
        self.members = members;
    }

    fn with_uid(&self, uid: u64) -> Option<&Known> {
        let mut all = self
            .scopes
            .values()
            .flat_map(|scope| scope.objects.values());
        all.find(|known| known.stored.uid == uid)
    }
}
