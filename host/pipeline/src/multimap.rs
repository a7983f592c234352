//! A map of keys to sets of values, without empty sets.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

/// Sets of values by their keys.
pub(crate) struct MultiMap<K, V> {
    sets: HashMap<K, BTreeSet<V>>,
}

impl<K, V> Default for MultiMap<K, V> {
    fn default() -> Self {
        Self {
            sets: HashMap::new(),
        }
    }
}

impl<K: Eq + Hash, V: Ord> MultiMap<K, V> {
    /// Adds a value to a key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        self.sets.entry(key).or_default().insert(value);
    }

    /// Removes a value from a key.
    pub(crate) fn remove(&mut self, key: &K, value: &V) {
        if let Some(values) = self.sets.get_mut(key) {
            values.remove(value);
            if values.is_empty() {
                self.sets.remove(key);
            }
        }
    }

    /// The values of a key, in their order.
    pub(crate) fn get(&self, key: &K) -> impl Iterator<Item = &V> + use<'_, K, V> {
        self.sets.get(key).into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_without_values_is_not_kept() {
        let mut map: MultiMap<char, u8> = MultiMap::default();
        map.insert('a', 2);
        map.insert('a', 1);
        assert_eq!(map.get(&'a').collect::<Vec<_>>(), [&1, &2]);
        map.remove(&'a', &2);
        map.remove(&'b', &1);
        assert_eq!(map.get(&'a').collect::<Vec<_>>(), [&1]);
        map.remove(&'a', &1);
        assert_eq!(map.get(&'a').count(), 0);
        assert!(map.sets.is_empty());
    }
}
