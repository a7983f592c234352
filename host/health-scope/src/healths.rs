//! The health of all scopes, for queries and metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use kindsight_api::health_scopes::{ScopeParameters, ScopeRefusal};
use kindsight_model::{ClusterName, DigName, SubjectSet};
use kindsight_status::clipped;

use crate::book::ScopeBook;
use crate::health::Health;
use crate::scope::ScopePlace;

/// The health of all scopes of all clusters. Clones share the state.
#[derive(Debug, Clone, Default)]
pub struct ScopeHealths(Arc<RwLock<BTreeMap<ClusterName, ClusterHealths>>>);

/// The health of the scopes of one cluster, for the follower of the cluster. Answers do not read it after the removal of
/// the cluster, so a step of the follower that ends later has no effect.
#[derive(Debug, Clone, Default)]
pub struct ClusterHealths(Arc<RwLock<BTreeMap<ScopePlace, Health>>>);

/// A scope and its health at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundScope {
    /// The cluster.
    pub cluster: ClusterName,
    /// The place in the cluster.
    pub place: ScopePlace,
    /// The health.
    pub health: Health,
}

impl ClusterHealths {
    /// Replaces the health of the scopes.
    pub fn set(&self, book: &ScopeBook) {
        let healths = book.statuses();
        let healths = healths.map(|(place, status)| (place.clone(), status.health));
        let healths = healths.collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = healths;
    }
}

impl ScopeHealths {
    /// Begins a cluster, without scopes. Replaces an earlier follower of the cluster.
    pub fn begin(&self, cluster: &ClusterName) -> ClusterHealths {
        let healths = ClusterHealths::default();
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(cluster.clone(), healths.clone());
        healths
    }

    /// Forgets a cluster whose scopes are not followed any more.
    pub fn remove(&self, cluster: &ClusterName) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(cluster);
    }

    /// The health of the only scope of a name that a reader may see.
    ///
    /// # Errors
    /// See [`ScopeRefusal`].
    pub fn answer(
        &self,
        name: &str,
        parameters: &ScopeParameters,
        visible: &SubjectSet,
    ) -> Result<Health, ScopeRefusal> {
        let found = self.find(name, parameters, visible);
        match found.as_slice() {
            [] => Err(ScopeRefusal::NotFound(format!(
                "there is no health scope `{}`; the server follows the scopes of its clusters if it runs with `--health-scopes`",
                clipped(name)
            ))),
            [only] => Ok(only.health),
            several => {
                let namespaces = several.iter().map(|it| it.place.namespace.to_string());
                let clusters = several.iter().map(|it| it.cluster.to_string());
                let (namespaces, clusters): (BTreeSet<_>, BTreeSet<_>) =
                    (namespaces.collect(), clusters.collect());
                Err(ScopeRefusal::Several {
                    namespaces: namespaces.into_iter().collect(),
                    clusters: clusters.into_iter().collect(),
                })
            }
        }
    }

    fn find(
        &self,
        name: &str,
        parameters: &ScopeParameters,
        visible: &SubjectSet,
    ) -> Vec<FoundScope> {
        let (namespace, in_cluster) = (&parameters.namespace, &parameters.cluster);
        let all = self.all(|cluster, place| {
            *place.name == *name
                && namespace
                    .as_deref()
                    .is_none_or(|it| *it == *place.namespace)
                && in_cluster
                    .as_deref()
                    .is_none_or(|it| *it == *cluster.to_string())
        });
        let may_see = |scope: &FoundScope| {
            let ScopePlace { name, namespace } = &scope.place;
            // No application can have the name, so only a reader of everything may see the scope.
            DigName::health_scope(name, namespace).map_or_else(
                |_| visible.is_everything(),
                |name| visible.has_application(&name),
            )
        };
        all.into_iter().filter(may_see).collect()
    }

    /// Every scope that is selected, in order of cluster and namespace.
    pub fn all(&self, selects: impl Fn(&ClusterName, &ScopePlace) -> bool) -> Vec<FoundScope> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::new();
        for (cluster, ClusterHealths(healths)) in &*all {
            let healths = healths.read().unwrap_or_else(PoisonError::into_inner);
            let selected = healths.iter().filter(|(place, _)| selects(cluster, place));
            found.extend(selected.map(|(place, health)| FoundScope {
                cluster: cluster.clone(),
                place: place.clone(),
                health: *health,
            }));
        }
        found
    }
}
