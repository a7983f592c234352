//! The clusters that clients wait for, for the REST API.

use std::any::Any;
use std::collections::BTreeSet;

use kindsight_clusters::AwaitedClusters;
use kindsight_model::ClusterName;
use kindsight_rest::ClusterWaits;

/// The sources of clusters for the REST API, whose crate does not depend on them.
pub(crate) struct WaitApi(pub(crate) AwaitedClusters);

impl ClusterWaits for WaitApi {
    fn begin(&self, clusters: BTreeSet<ClusterName>) -> Box<dyn Any + Send + Sync> {
        Box::new(self.0.begin(clusters))
    }
}
