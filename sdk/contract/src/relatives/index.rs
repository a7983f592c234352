//! An index of objects by the properties that relations search for.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::OnceLock;

use super::{Relative, RelativeList};

/// Positions of objects by owner, label and name. Each table is built at its first use, so a report
/// without searches for related objects costs nothing.
///
/// The tables contain hashes, so a search must compare the objects that it finds. Each index uses a
/// new random seed, because clusters choose the names.
#[derive(Debug, Default)]
pub(super) struct Index {
    hasher: RandomState,
    by_owner: OnceLock<Positions>,
    by_label: OnceLock<Positions>,
    by_name: OnceLock<Positions>,
}

/// Pairs of a hash and a position, in order.
#[derive(Debug, Default)]
struct Positions(Vec<(u64, u32)>);

impl Positions {
    fn sorted(mut pairs: Vec<(u64, u32)>) -> Self {
        pairs.sort_unstable();
        Self(pairs)
    }

    fn of(&self, hash: u64) -> impl ExactSizeIterator<Item = usize> + Clone {
        let start = self.0.partition_point(|pair| pair.0 < hash);
        let rest = self.0.get(start..).unwrap_or_default();
        let len = rest.partition_point(|pair| pair.0 == hash);
        let found = rest.get(..len).unwrap_or_default();
        found.iter().map(|pair| pair.1 as usize)
    }
}

/// The objects with their positions. Positions over `u32` are left out.
fn positioned<L: RelativeList>(objects: &L) -> impl Iterator<Item = (&L::Relative, u32)> {
    let positions = 0..u32::try_from(objects.len()).unwrap_or(u32::MAX);
    positions.filter_map(|at| Some((objects.get(at as usize)?, at)))
}

impl Index {
    fn by_owner<L: RelativeList>(&self, objects: &L) -> &Positions {
        self.by_owner.get_or_init(|| {
            let mut owners = Vec::new();
            for (object, at) in positioned(objects) {
                for (kind, name, uid) in object.owners() {
                    if !uid.is_empty() {
                        owners.push((self.hash(uid), at));
                    }
                    owners.push((self.hash((object.namespace(), kind, name)), at));
                }
            }
            Positions::sorted(owners)
        })
    }

    fn by_label<L: RelativeList>(&self, objects: &L) -> &Positions {
        self.by_label.get_or_init(|| {
            let mut labels = Vec::new();
            for (object, at) in positioned(objects) {
                let namespace = object.namespace();
                let hashes = object.labels().map(|label| self.hash((namespace, label)));
                labels.extend(hashes.map(|hash| (hash, at)));
            }
            Positions::sorted(labels)
        })
    }

    fn by_name<L: RelativeList>(&self, objects: &L) -> &Positions {
        self.by_name.get_or_init(|| {
            let names = positioned(objects);
            let names =
                names.map(|(object, at)| (self.hash((object.namespace(), object.name())), at));
            Positions::sorted(names.collect())
        })
    }

    fn hash(&self, key: impl Hash) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Candidates for objects that this one owns. The same candidate may occur twice.
    pub(super) fn owned_by<L: RelativeList>(
        &self,
        objects: &L,
        owner: &L::Relative,
    ) -> impl Iterator<Item = usize> {
        let by_owner = self.by_owner(objects);
        let (_, _, kind) = owner.gvk();
        let by_uid = (!owner.uid().is_empty()).then(|| by_owner.of(self.hash(owner.uid())));
        let by_name = self.hash((owner.namespace(), kind, owner.name()));
        by_uid.into_iter().flatten().chain(by_owner.of(by_name))
    }

    /// Candidates for objects with this label.
    pub(super) fn labelled<L: RelativeList>(
        &self,
        objects: &L,
        namespace: &str,
        key: &str,
        value: &str,
    ) -> impl ExactSizeIterator<Item = usize> + Clone + use<'_, L> {
        let by_label = self.by_label(objects);
        by_label.of(self.hash((namespace, (key, value))))
    }

    /// Candidates for objects with this name.
    pub(super) fn named<L: RelativeList>(
        &self,
        objects: &L,
        namespace: &str,
        name: &str,
    ) -> impl ExactSizeIterator<Item = usize> + Clone + use<'_, L> {
        self.by_name(objects).of(self.hash((namespace, name)))
    }
}
