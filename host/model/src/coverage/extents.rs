//! The states of one Kind by scope.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{KindCoverage, KindState, Scope};

/// The state of one Kind in the cluster scope, in some namespaces, or in both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Extents {
    cluster: Option<KindCoverage>,
    namespaces: BTreeMap<Arc<str>, KindCoverage>,
}

impl Extents {
    pub(super) fn set(&mut self, scope: Scope<'_>, coverage: KindCoverage) {
        match scope {
            Scope::Cluster => self.cluster = Some(coverage),
            Scope::Namespace(namespace) => {
                self.namespaces.insert(namespace.into(), coverage);
            }
        }
    }

    /// The state in a scope; none before any was set.
    pub(super) fn of(&self, scope: Scope<'_>) -> Option<KindCoverage> {
        let within = match scope {
            Scope::Cluster => self.of_all_namespaces(),
            Scope::Namespace(namespace) => self.namespaces.get(namespace).cloned(),
        };
        let known = self.cluster.iter().cloned().chain(within);
        let best = known.min_by_key(|coverage| coverage.state);
        match scope {
            Scope::Namespace(namespace) if best.is_none() && !self.namespaces.is_empty() => {
                let cause = format!("the cluster is not watched in namespace {namespace}");
                Some(KindCoverage::caused(KindState::NotRequested, cause))
            }
            _ => best,
        }
    }

    /// The state in the cluster scope, derived from the states in single namespaces. At best it is
    /// incomplete, because other namespaces may exist.
    fn of_all_namespaces(&self) -> Option<KindCoverage> {
        let states = self.namespaces.values();
        let worst = states.max_by_key(|coverage| coverage.state)?;
        if !worst.state.is_covered() {
            return Some(worst.clone());
        }
        let names: Vec<&str> = self.namespaces.keys().map(AsRef::as_ref).collect();
        let cause = format!(
            "the cluster is watched in these namespaces only: {}",
            names.join(", ")
        );
        Some(KindCoverage {
            since_ms: worst.since_ms,
            ..KindCoverage::caused(KindState::Incomplete, cause)
        })
    }

    /// Returns whether every scope is covered.
    pub(super) fn is_covered(&self) -> bool {
        self.iter().all(|(_, coverage)| coverage.state.is_covered())
    }

    /// Each scope with its state; the cluster scope has no namespace.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Option<&str>, &KindCoverage)> {
        let cluster = self.cluster.iter().map(|coverage| (None, coverage));
        let namespaces = self.namespaces.iter();
        cluster.chain(namespaces.map(|(name, coverage)| (Some(&**name), coverage)))
    }

    pub(super) fn date(&mut self, before: Option<&Self>, now_ms: i64) {
        if let Some(cluster) = &mut self.cluster {
            cluster.date(before.and_then(|before| before.cluster.as_ref()), now_ms);
        }
        for (name, coverage) in &mut self.namespaces {
            coverage.date(
                before.and_then(|before| before.namespaces.get(name)),
                now_ms,
            );
        }
    }
}
