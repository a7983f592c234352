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
struct Positions {
    pairs: Vec<(u64, u32)>,
    /// The first pair of each range of hashes, and the number of pairs. All ranges have the same size, and there are about
    /// as many as pairs. Hashes are uniform, so a range has few of them.
    starts: Vec<u32>,
    /// A hash without its lower bits is the number of its range.
    lower_bits: u32,
}

impl Positions {
    fn sorted(mut pairs: Vec<(u64, u32)>) -> Self {
        pairs.sort_unstable();
        let bits = pairs.len().max(2).ilog2();
        let lower_bits = u64::BITS - bits;
        let (mut starts, mut at) = (Vec::with_capacity((1 << bits) + 1), 0);
        for range in 0..1_u64 << bits {
            let before = |pair: &&(u64, u32)| pair.0 >> lower_bits < range;
            at += pairs.iter().skip(at).take_while(before).count();
            starts.push(u32::try_from(at).unwrap_or(u32::MAX));
        }
        starts.push(u32::try_from(pairs.len()).unwrap_or(u32::MAX));
        Self {
            pairs,
            starts,
            lower_bits,
        }
    }

    fn of(&self, hash: u64) -> impl ExactSizeIterator<Item = usize> + Clone {
        let found = self.range(hash);
        let start = found.partition_point(|pair| pair.0 < hash);
        let rest = found.get(start..).unwrap_or_default();
        let len = rest.partition_point(|pair| pair.0 == hash);
        let found = rest.get(..len).unwrap_or_default();
        found.iter().map(|pair| pair.1 as usize)
    }

    /// The pairs whose hashes are in the range of a hash.
    fn range(&self, hash: u64) -> &[(u64, u32)] {
        let range = usize::try_from(hash >> self.lower_bits).unwrap_or(usize::MAX);
        let bounds = self.starts.get(range..).unwrap_or_default();
        let [start, end, ..] = bounds else {
            return &[];
        };
        let pairs = self.pairs.get(*start as usize..*end as usize);
        pairs.unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positions_of_a_hash_are_all_its_pairs() {
        for count in [0_u32, 1, 2, 3, 100, 5000] {
            // A third of the hashes occur three times, and the extremes occur too.
            let hash = |number: u32| match number % 5 {
                0 => 0,
                1 => u64::MAX,
                _ => u64::from(number / 3).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            };
            let pairs: Vec<(u64, u32)> = (0..count).map(|at| (hash(at), at)).collect();
            let positions = Positions::sorted(pairs.clone());
            for searched in (0..count).map(hash).chain([1, u64::MAX - 1]) {
                let expected = pairs.iter().filter(|pair| pair.0 == searched);
                let expected: Vec<usize> = expected.map(|pair| pair.1 as usize).collect();
                let found: Vec<usize> = positions.of(searched).collect();
                assert_eq!(found, expected, "{count} pairs, {searched}");
            }
        }
        assert_eq!(Positions::default().of(0).len(), 0);
    }
}
