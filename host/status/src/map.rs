//! Maps that are made anew for every change of what a cluster reports.

use std::collections::HashMap;

/// Hashed by foldhash: cheaper than the standard hasher for short names, and seeded anew in each
/// process, since clusters choose the names.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::quality::RandomState>;

/// One with room for so many.
pub(crate) fn map_for<K, V>(entries: usize) -> Map<K, V> {
    Map::with_capacity_and_hasher(entries, foldhash::quality::RandomState::default())
}
