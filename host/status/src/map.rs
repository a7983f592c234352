//! Hash maps that are rebuilt after every change of a cluster's report.

use std::collections::HashMap;

/// Hash map with foldhash, which is cheaper than the standard hasher for short names. Each process has its
/// own random seed, because clusters choose the names.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::quality::RandomState>;

/// Creates a map with capacity for this many entries.
pub(crate) fn map_for<K, V>(entries: usize) -> Map<K, V> {
    Map::with_capacity_and_hasher(entries, foldhash::quality::RandomState::default())
}
