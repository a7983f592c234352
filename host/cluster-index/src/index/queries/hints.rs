//! Hints: hashes of a property that all results of a search have. If two hints have the same hash, an object is
//! compared with a search without a result.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};

use super::{Query, QueryId};
use crate::index::ScopeId;
use crate::index::entry::Entry;
use crate::uid::Uid;

/// The hash of a hint.
pub(super) type HintHash = u64;

/// Maximum number of searches that are counted under one hint. More searches count as this number.
const COUNTED_MAX: usize = 256;

/// A property of all objects that a query may find.
#[derive(Hash)]
enum Hint<'h> {
    Named(ScopeId, &'h str, &'h str),
    Uid(ScopeId, Uid),
    OwnedBy(ScopeId, Uid),
    Label(ScopeId, &'h str, &'h str, &'h str),
    Namespace(ScopeId, &'h str),
}

impl Query {
    /// Sets of hints. Each result of the search has one hint of each set.
    pub(super) fn hints(&self, hasher: &RandomState) -> Vec<Vec<HintHash>> {
        let one = |hint: Hint<'_>| vec![vec![hasher.hash_one(hint)]];
        match self {
            Self::Named(scope, namespace, name) | Self::Exists(scope, namespace, name) => {
                one(Hint::Named(*scope, namespace, name))
            }
            Self::Uid(scope, uid) => one(Hint::Uid(*scope, *uid)),
            Self::OwnedBy(scope, uid) => one(Hint::OwnedBy(*scope, *uid)),
            Self::Selected(scope, namespace, selector) => {
                let sets = selector.one_of_each().map(|(key, values)| {
                    let hints = values
                        .iter()
                        .map(|value| hasher.hash_one(Hint::Label(*scope, namespace, key, value)));
                    hints.collect()
                });
                let sets: Vec<Vec<HintHash>> = sets.collect();
                if sets.is_empty() {
                    return one(Hint::Namespace(*scope, namespace));
                }
                sets
            }
        }
    }
}

/// The hints of an object, each once.
pub(super) fn hints_of(entry: &Entry, hasher: &RandomState) -> BTreeSet<HintHash> {
    let (scope, namespace) = (entry.scope(), &**entry.namespace());
    let hints = [
        Hint::Named(scope, namespace, &entry.name),
        Hint::Uid(scope, entry.uid),
        Hint::Namespace(scope, namespace),
    ];
    let owners = entry.owners().iter();
    let owners = owners.map(|uid| Hint::OwnedBy(scope, *uid));
    let labels = entry.labels().iter();
    let labels = labels.map(|(key, value)| Hint::Label(scope, namespace, key, value));
    let hints = hints.into_iter().chain(owners).chain(labels);
    hints.map(|hint| hasher.hash_one(hint)).collect()
}

/// The searches that are registered under a hint.
pub(super) fn waiting(
    all: &BTreeSet<(HintHash, QueryId)>,
    hint: HintHash,
) -> impl Iterator<Item = QueryId> {
    let of_hint = all.range((hint, QueryId::FIRST)..=(hint, QueryId::LAST));
    of_hint.map(|(_, id)| *id)
}

/// Number of searches that are registered under a hint, up to [`COUNTED_MAX`].
pub(super) fn count(all: &BTreeSet<(HintHash, QueryId)>, hint: HintHash) -> usize {
    waiting(all, hint).take(COUNTED_MAX).count()
}
