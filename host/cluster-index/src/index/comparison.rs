//! Comparisons of the index with consistent lists: whether the index has everything that a cluster has.

use std::collections::HashMap;
use std::sync::Arc;

use super::{ClusterIndex, ScopeId};
use crate::decoded::Decoded;
use crate::uid::Uid;

/// The namespace and the name of an object. The namespace of a cluster-scoped object is empty.
pub type ObjectName = (Arc<str>, Arc<str>);

/// A consistent list of a Kind: the versions of all its objects in a scope, or in one namespace of the scope.
#[derive(Debug)]
pub struct ConsistentList {
    /// The Kind in its scope.
    pub scope: ScopeId,
    /// The namespace of the list; `None` for all of the scope.
    pub namespace: Option<Arc<str>>,
    /// The version of the list; 0 if versions have no order.
    pub version: u64,
    /// The objects, by namespace and name.
    objects: HashMap<ObjectName, (Uid, u64)>,
}

impl ConsistentList {
    /// A list without objects.
    pub fn new(scope: ScopeId, namespace: Option<Arc<str>>) -> Self {
        Self {
            scope,
            namespace,
            version: 0,
            objects: HashMap::new(),
        }
    }

    /// Adds an object.
    pub fn add(&mut self, object: Decoded) {
        let Decoded {
            namespace,
            name,
            uid,
            version,
            ..
        } = object;
        self.objects.insert((namespace, name), (uid, version));
    }

    /// Returns whether the list has more objects than this.
    pub fn is_over(&self, max: usize) -> bool {
        self.objects.len() > max
    }

    /// The uid and the version of an object; none if the list does not have it.
    pub(super) fn find(&self, object: &ObjectName) -> Option<(Uid, u64)> {
        self.objects.get(object).copied()
    }

    /// All objects, with uid and version.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ObjectName, (Uid, u64))> {
        self.objects.iter().map(|(name, found)| (name, *found))
    }

    /// Number of objects.
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }
}

impl ClusterIndex {
    /// Returns whether the index has an object of a Kind in a scope. The namespace of a cluster-scoped object is empty.
    pub fn has(&self, scope: ScopeId, namespace: &str, name: &str) -> bool {
        self.objects.find(scope, namespace, name).is_some()
    }

    /// The namespace and the name of an object whose state in the index is older than the list; `None` if the index
    /// has every object of the list in this version or a later one, and no object that was deleted before the list.
    pub fn older_than(&self, list: &ConsistentList) -> Option<ObjectName> {
        let mut objects = list.objects.iter();
        let older = objects.find(|((namespace, name), (uid, version))| {
            let entry = self.objects.find(list.scope, namespace, name);
            let entry = entry.and_then(|id| self.objects.get(id));
            !entry.is_some_and(|entry| {
                let is_recreated = entry.version > list.version;
                if entry.uid == *uid {
                    entry.version >= *version
                } else {
                    is_recreated
                }
            })
        });
        let older = older.map(|((namespace, name), _)| (Arc::clone(namespace), Arc::clone(name)));
        older.or_else(|| self.deleted_before(list))
    }

    /// An object that the index has and the list does not, unless the object is newer than the list.
    fn deleted_before(&self, list: &ConsistentList) -> Option<ObjectName> {
        let all = self.objects.of_scope(list.scope);
        let mut of_list = all.filter(|(_, entry)| {
            let namespace = list.namespace.as_ref();
            namespace.is_none_or(|namespace| namespace == entry.namespace())
        });
        of_list.find_map(|(_, entry)| {
            let name = (Arc::clone(entry.namespace()), Arc::from(&*entry.name));
            let is_deleted = entry.version <= list.version && !list.objects.contains_key(&name);
            is_deleted.then_some(name)
        })
    }
}
