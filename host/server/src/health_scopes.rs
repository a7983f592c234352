//! Health scopes: the objects of watched clusters are followed, and their status is written.
//!
//! ```text
//! API server ─▶ ObjectWatch ─▶ ScopeBook ─▶ Sender ─▶ API server
//!                read-model ──────┘ └─▶ ScopeHealths ─▶ rest, metrics
//! ```
//!
//! Hosts that share clusters all follow the scopes of every cluster, because any host answers any query. Only the owner
//! of a cluster writes.

mod follower;
mod install;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use kindsight_api::health_scopes::{ScopeParameters, ScopeRefusal};
use kindsight_clusters::{ClusterSource, KubernetesCluster};
use kindsight_health_scope::ScopeHealths;
use kindsight_leases::Ownership;
use kindsight_lifecycle::Sender;
use kindsight_model::{ClusterName, SubjectSet};
use kindsight_read_model::ReadModel;
use kindsight_rest::ReadHealthScopes;
use tokio_util::sync::CancellationToken;

use crate::cluster_changes::next_clusters;
use crate::settings::{ClusterChanges, Settings};
use crate::tasks::Tasks;
use follower::Follower;
pub use install::{InstallDefinitionError, install_health_scopes};
pub use kindsight_lifecycle::InstalledDefinition;

/// The health of scopes, for the REST API.
pub(crate) struct HealthScopeApi(pub(crate) ScopeHealths);

impl ReadHealthScopes for HealthScopeApi {
    fn health(
        &self,
        name: &str,
        parameters: &ScopeParameters,
        visible: &SubjectSet,
    ) -> Result<&'static str, ScopeRefusal> {
        let health = self.0.answer(name, parameters, visible)?;
        Ok(health.as_str())
    }
}

/// The followers of the clusters whose options ask for it.
struct Followers {
    tasks: Tasks,
    healths: ScopeHealths,
    sender: Arc<dyn Sender>,
    read_model: ReadModel,
    ownership: Option<Ownership>,
    running: BTreeMap<ClusterName, (KubernetesCluster, CancellationToken)>,
}

/// Begins to follow the health scopes of the clusters with the option. Writes go through `sender`,
/// which the lifecycle uses too. A host that shares clusters writes only in the clusters of its `ownership`. Returns the
/// health of the scopes, for queries and metrics.
pub(crate) fn begin(
    tasks: &Tasks,
    settings: &Settings,
    read_model: &ReadModel,
    sender: &Arc<dyn Sender>,
    ownership: Option<&Ownership>,
) -> ScopeHealths {
    let healths = ScopeHealths::default();
    let mut followers = Followers {
        tasks: tasks.clone(),
        healths: healths.clone(),
        sender: Arc::clone(sender),
        read_model: read_model.clone(),
        ownership: ownership.cloned(),
        running: BTreeMap::new(),
    };
    followers.take(&settings.clusters);
    if let Some(changes) = settings.cluster_changes.clone() {
        let following = followers.follow(changes);
        tasks.spawn("follower of clusters with health scopes", following);
    }
    healths
}

impl Followers {
    /// Follows the configuration until the stop.
    async fn follow(mut self, mut changes: ClusterChanges) -> Result<(), Infallible> {
        let shutdown = self.tasks.shutdown();
        let following = async {
            loop {
                let clusters = next_clusters(&mut changes).await;
                self.take(&clusters);
            }
        };
        // None at the stop.
        let _: Option<Infallible> = shutdown.run_until_cancelled(following).await;
        Ok(())
    }

    /// Ends the followers of clusters that are not in the list or that differ, and begins the missing ones.
    fn take(&mut self, clusters: &[ClusterSource]) {
        let watched = clusters.iter().filter_map(|source| match source {
            ClusterSource::Kubernetes(cluster) if cluster.has_health_scopes() => Some(&**cluster),
            _ => None,
        });
        let watched: BTreeMap<&ClusterName, &KubernetesCluster> =
            watched.map(|cluster| (cluster.name(), cluster)).collect();
        let healths = &self.healths;
        self.running.retain(|name, (cluster, stop)| {
            let is_same = watched.get(name) == Some(&&*cluster);
            if !is_same {
                stop.cancel();
                healths.remove(name);
            }
            is_same
        });
        for (name, cluster) in watched {
            if !self.running.contains_key(name) {
                let stop = self.begin(cluster);
                self.running.insert(name.clone(), (cluster.clone(), stop));
            }
        }
    }

    fn begin(&self, cluster: &KubernetesCluster) -> CancellationToken {
        let stop = self.tasks.shutdown().child_token();
        let follower = Follower::new(
            cluster,
            self.read_model.clone(),
            self.healths.begin(cluster.name()),
            Arc::clone(&self.sender),
            self.ownership.clone(),
        );
        let run = follower.run(cluster.clone(), stop.clone());
        self.tasks
            .spawn_until(&stop, "follower of health scopes", run);
        stop
    }
}
