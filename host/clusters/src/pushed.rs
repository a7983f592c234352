//! Clusters whose agents push their reports.
//!
//! ```text
//! agent ─▶ route ─PushedBatch─▶ PushedCluster ─ClusterEvent─▶ pipeline
//! agent ◀─ route ◀─PushedNeeds──────┘
//! ```
//!
//! The crate `kindsight-push` decodes the bodies that an agent sends. This module is the source: it passes the events
//! on, tells the agent what the pipeline needs, and notices an agent that is silent.

mod inlet;
mod run;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kindsight_model::ClusterName;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{ClusterEvent, ClusterSource, ConfiguredApplication, Needs};
pub use inlet::{ConfirmationId, PushInlet, PushedBatch, PushedNeeds};
use run::Run;

/// Time without a batch after which a pushed cluster is stale.
pub const SILENT_MAX: Duration = Duration::from_secs(10);

/// A cluster whose agent pushes its reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushedCluster {
    name: ClusterName,
    /// Applications of the configuration in this cluster. The agent finds them.
    applications: Arc<[ConfiguredApplication]>,
}

impl PushedCluster {
    /// A cluster whose agent pushes its reports.
    pub fn new(name: ClusterName) -> Self {
        Self {
            name,
            applications: Arc::default(),
        }
    }

    /// Name of the cluster.
    pub fn name(&self) -> &ClusterName {
        &self.name
    }

    /// The same cluster with the applications that may be in it.
    #[must_use]
    pub fn with_applications(self, applications: &[ConfiguredApplication]) -> Self {
        let of_cluster = applications
            .iter()
            .filter(|application| application.is_in(&self.name));
        Self {
            applications: of_cluster.cloned().collect(),
            ..self
        }
    }

    /// Sends the events that the agent pushes, until `shutdown` is cancelled or `events` is closed. `configured` has
    /// the configurations of the same cluster, as they change.
    pub async fn run<E: From<ClusterEvent>>(
        self,
        configured: watch::Receiver<ClusterSource>,
        events: Sender<E>,
        needs: Needs,
        shutdown: CancellationToken,
    ) {
        let run = Run::new(self, configured, events, needs);
        // Cancelled, or the channel is closed: the source ends in both cases.
        let _ = shutdown.run_until_cancelled(run.run()).await;
    }
}

/// The pushed clusters whose sources run. Clones share the clusters.
#[derive(Debug, Clone, Default)]
pub struct PushedClusters(Arc<Mutex<HashMap<ClusterName, Arc<PushInlet>>>>);

impl PushedClusters {
    /// The way to the source of a cluster; `None` if no source of this name receives batches. Each start of a source
    /// has another inlet.
    pub fn get(&self, cluster: &ClusterName) -> Option<Arc<PushInlet>> {
        self.lock().get(cluster).map(Arc::clone)
    }

    /// Enters the inlet of a source until the returned value is dropped.
    fn enter(&self, cluster: &ClusterName, inlet: PushInlet) -> Entered {
        self.lock().insert(cluster.clone(), Arc::new(inlet));
        Entered {
            clusters: self.clone(),
            cluster: cluster.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ClusterName, Arc<PushInlet>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry of a running source.
#[derive(Debug)]
struct Entered {
    clusters: PushedClusters,
    cluster: ClusterName,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.clusters.lock().remove(&self.cluster);
    }
}

#[cfg(test)]
mod tests;
