//! Requirements of the pipeline on the sources of clusters: the relations that interpreters ask for, and the
//! deployments that `AppContext`s send to each cluster.

mod recorded;

use std::sync::Arc;

use kindsight_cluster_index::RelatedRules;
use tokio::sync::watch;

use crate::{
    Absences, Audits, AwaitedClusters, Confirmations, Identities, ListTurns, PushedClusters,
    RemoteInventories,
};

pub use recorded::{Recorded, RecordedDeployment, RecordedDeployments};

/// Requirements of the pipeline on a source of clusters.
#[derive(Debug, Clone)]
pub struct Needs {
    /// The relations that interpreters ask for now. A running source follows changes.
    pub related: watch::Receiver<Arc<RelatedRules>>,
    /// The deployments that `AppContext`s send to clusters now. A running source follows changes.
    pub recorded: watch::Receiver<Arc<Recorded>>,
    /// The names of each cluster, shared by all sources that have a clone of it.
    pub identities: Identities,
    /// Limit on clusters that list at a time, shared by all sources that have a clone of it.
    pub turns: ListTurns,
    /// The way to ask the sources whether everything in their clusters was reported, shared likewise.
    pub confirmations: Confirmations,
    /// The way to ask the sources whether an object is known not to exist, shared likewise.
    pub absences: Absences,
    /// The pace of audits, shared likewise.
    pub audits: Audits,
    /// The clusters that clients wait for, shared likewise.
    pub awaited: AwaitedClusters,
    /// The inventories that list resources of other clusters, shared likewise.
    pub inventories: RemoteInventories,
    /// The pushed clusters whose sources run, shared likewise.
    pub pushed: PushedClusters,
}

impl Default for Needs {
    /// No relations, no deployments and no audits.
    fn default() -> Self {
        Self {
            related: watch::channel(Arc::default()).1,
            recorded: watch::channel(Arc::default()).1,
            identities: Identities::default(),
            turns: ListTurns::default(),
            confirmations: Confirmations::default(),
            absences: Absences::default(),
            audits: Audits::default(),
            awaited: AwaitedClusters::default(),
            inventories: RemoteInventories::default(),
            pushed: PushedClusters::default(),
        }
    }
}
