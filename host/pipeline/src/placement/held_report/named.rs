//! The Kinds that the objects of a report name, decoded or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{Gvk, KindPattern, ObjectList, Rejected};

/// The Kinds that the objects of a report name. Later versions of the same objects name the same Kinds.
#[derive(Clone)]
pub(in crate::placement) struct NamedKinds {
    /// Positions of the objects of each Kind.
    positions: BTreeMap<Gvk, Vec<usize>>,
    /// Each Kind in each namespace, which is empty for cluster-scoped objects. Items that could not be decoded count.
    pub(in crate::placement) objects: BTreeSet<(Gvk, Arc<str>)>,
    /// The Kinds of owners, in the namespaces of the objects that they own.
    pub(in crate::placement) owners: BTreeSet<(Arc<str>, Arc<str>)>,
}

impl NamedKinds {
    pub(super) fn of(objects: &ObjectList, rejected: &[Rejected]) -> Self {
        let mut named = Self {
            positions: BTreeMap::new(),
            objects: BTreeSet::new(),
            owners: BTreeSet::new(),
        };
        for (position, object) in objects.iter().enumerate() {
            let (gvk, namespace) = (&object.gvk, &object.namespace);
            let positions = named.positions.entry(gvk.clone());
            positions.or_default().push(position);
            named.objects.insert((gvk.clone(), Arc::clone(namespace)));
            for owner in object.owners.iter() {
                let owner = (Arc::clone(&owner.kind), Arc::clone(namespace));
                named.owners.insert(owner);
            }
        }
        for item in rejected.iter().filter_map(|item| item.identity.as_ref()) {
            let (gvk, namespace) = (item.gvk.clone(), Arc::clone(&item.namespace));
            named.objects.insert((gvk, namespace));
        }
        named
    }

    /// Positions of the objects whose Kind a pattern matches.
    pub(super) fn positions_of(&self, pattern: &KindPattern) -> impl Iterator<Item = usize> {
        let kinds = self.positions.iter();
        let kinds = kinds.filter(move |(gvk, _)| gvk.matches(pattern));
        kinds.flat_map(|(_, positions)| positions).copied()
    }
}
