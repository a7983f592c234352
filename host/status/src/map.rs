//! Maps that are made anew for every change of what a cluster reports.

use std::collections::HashMap;

/// Hashed by foldhash, which takes a third of what the standard hasher takes for names, and is seeded
/// anew in each process.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::quality::RandomState>;

/// One with room for so many.
pub(crate) fn map_for<K, V>(entries: usize) -> Map<K, V> {
    Map::with_capacity_and_hasher(entries, foldhash::quality::RandomState::default())
}
