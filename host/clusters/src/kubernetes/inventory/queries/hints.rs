//! Hints: what every object has that a search may find, as a hash. Of two that are taken for one, an object is
//! compared with a search in vain.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};

use super::{Query, QueryId};
use crate::kubernetes::inventory::entry::Entry;
use crate::kubernetes::news::WatchId;
use crate::kubernetes::uid::Uid;

/// The hash of a hint.
pub(super) type HintHash = u64;

/// Maximum number of searches under one hint that are counted; it does not matter how many more there are.
const COUNTED_MAX: usize = 256;

/// A part of each object that a query may find.
#[derive(Hash)]
enum Hint<'h> {
    Named(WatchId, &'h str, &'h str),
    Uid(WatchId, Uid),
    OwnedBy(WatchId, Uid),
    Label(WatchId, &'h str, &'h str, &'h str),
    Namespace(WatchId, &'h str),
}

impl Query {
    /// Sets of hints; each object that it finds has one of each set.
    pub(super) fn hints(&self, hasher: &RandomState) -> Vec<Vec<HintHash>> {
        let one = |hint: Hint<'_>| vec![vec![hasher.hash_one(hint)]];
        match self {
            Self::Named(watch, namespace, name) => one(Hint::Named(*watch, namespace, name)),
            Self::Uid(watch, uid) => one(Hint::Uid(*watch, *uid)),
            Self::OwnedBy(watch, uid) => one(Hint::OwnedBy(*watch, *uid)),
            Self::Selected(watch, namespace, selector) => {
                let sets = selector.one_of_each().into_iter().map(|labels| {
                    let labels = labels.iter();
                    let hints = labels.map(|(key, value)| {
                        hasher.hash_one(Hint::Label(*watch, namespace, key, value))
                    });
                    hints.collect()
                });
                let sets: Vec<Vec<HintHash>> = sets.collect();
                if sets.is_empty() {
                    return one(Hint::Namespace(*watch, namespace));
                }
                sets
            }
        }
    }
}

/// The hints of an object, each once.
pub(super) fn hints_of(entry: &Entry, hasher: &RandomState) -> BTreeSet<HintHash> {
    let (watch, namespace) = (entry.watch(), &**entry.namespace());
    let hints = [
        Hint::Named(watch, namespace, &entry.name),
        Hint::Uid(watch, entry.uid),
        Hint::Namespace(watch, namespace),
    ];
    let owners = entry.owners().iter();
    let owners = owners.map(|uid| Hint::OwnedBy(watch, *uid));
    let labels = entry.labels().iter();
    let labels = labels.map(|(key, value)| Hint::Label(watch, namespace, key, value));
    let hints = hints.into_iter().chain(owners).chain(labels);
    hints.map(|hint| hasher.hash_one(hint)).collect()
}

/// The searches that wait under a hint.
pub(super) fn waiting(
    all: &BTreeSet<(HintHash, QueryId)>,
    hint: HintHash,
) -> impl Iterator<Item = QueryId> {
    let of_hint = all.range((hint, QueryId::FIRST)..=(hint, QueryId::LAST));
    of_hint.map(|(_, id)| *id)
}

/// Number of searches that wait under a hint, as far as they are counted.
pub(super) fn count(all: &BTreeSet<(HintHash, QueryId)>, hint: HintHash) -> usize {
    waiting(all, hint).take(COUNTED_MAX).count()
}
