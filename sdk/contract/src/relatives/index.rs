//! Index of objects by what relations look for.

use std::hash::{BuildHasher, Hash, RandomState};

use super::Relative;

/// Positions of objects by owner, label and name.
///
/// By hashes: whoever searches compares what was found. Seeded anew for each index, since clusters choose
/// the names.
#[derive(Debug, Default)]
pub(super) struct Index {
    hasher: RandomState,
    by_owner: Positions,
    by_label: Positions,
    by_name: Positions,
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

impl Index {
    pub(super) fn of<R: Relative>(objects: &[R]) -> Self {
        let hasher = RandomState::new();
        let (mut owners, mut labels, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (object, at) in objects.iter().zip(0_u32..) {
            let namespace = object.namespace();
            for (kind, name, uid) in object.owners() {
                if !uid.is_empty() {
                    owners.push((hasher.hash_one(uid), at));
                }
                owners.push((hasher.hash_one((namespace, kind, name)), at));
            }
            for label in object.labels() {
                labels.push((hasher.hash_one((namespace, label)), at));
            }
            names.push((hasher.hash_one((namespace, object.name())), at));
        }
        Self {
            hasher,
            by_owner: Positions::sorted(owners),
            by_label: Positions::sorted(labels),
            by_name: Positions::sorted(names),
        }
    }

    fn hash(&self, key: impl Hash) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Candidates for objects that this one owns; some may come twice.
    pub(super) fn owned_by<R: Relative>(&self, owner: &R) -> impl Iterator<Item = usize> {
        let (_, _, kind) = owner.gvk();
        let by_uid = (!owner.uid().is_empty()).then(|| self.by_owner.of(self.hash(owner.uid())));
        let by_name = self.hash((owner.namespace(), kind, owner.name()));
        by_uid
            .into_iter()
            .flatten()
            .chain(self.by_owner.of(by_name))
    }

    /// Candidates for objects with this label.
    pub(super) fn labelled(
        &self,
        namespace: &str,
        key: &str,
        value: &str,
    ) -> impl ExactSizeIterator<Item = usize> + Clone + use<'_> {
        self.by_label.of(self.hash((namespace, (key, value))))
    }

    /// Candidates for objects of this name.
    pub(super) fn named(
        &self,
        namespace: &str,
        name: &str,
    ) -> impl ExactSizeIterator<Item = usize> + Clone + use<'_> {
        self.by_name.of(self.hash((namespace, name)))
    }
}
