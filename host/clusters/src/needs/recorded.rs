//! The deployments that `AppContext`s send to clusters.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kindsight_model::{ClusterName, DeploymentId};

/// The deployments that `AppContext`s send to each cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded(HashMap<ClusterName, Arc<RecordedDeployments>>);

/// The deployments that `AppContext`s send to one cluster.
pub type RecordedDeployments = BTreeMap<DeploymentId, RecordedDeployment>;

/// One deployment in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedDeployment {
    /// The namespace that it is deployed to; empty where the `AppContext` names none.
    pub namespace: Arc<str>,
    /// A number that no earlier record of the same deployment had. With a new number, earlier reports are
    /// forgotten, and the deployment must be reported again.
    pub number: u64,
}

impl Recorded {
    /// The deployments that are sent to a cluster.
    pub fn of(&self, cluster: &ClusterName) -> Arc<RecordedDeployments> {
        self.0.get(cluster).map(Arc::clone).unwrap_or_default()
    }

    /// Adds a deployment, or replaces it.
    pub fn insert(
        &mut self,
        cluster: &ClusterName,
        deployment: DeploymentId,
        recorded: RecordedDeployment,
    ) {
        let deployments = self.0.entry(cluster.clone()).or_default();
        Arc::make_mut(deployments).insert(deployment, recorded);
    }

    /// Removes a deployment.
    pub fn remove(&mut self, cluster: &ClusterName, deployment: &DeploymentId) {
        let Some(deployments) = self.0.get_mut(cluster) else {
            return;
        };
        Arc::make_mut(deployments).remove(deployment);
        if deployments.is_empty() {
            self.0.remove(cluster);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cluster_has_its_own_deployments() {
        let mut recorded = Recorded::default();
        let (one, other): (ClusterName, ClusterName) =
            ("p+one".parse().unwrap(), "p+other".parse().unwrap());
        let id: DeploymentId = "7-front".parse().unwrap();
        let deployment = RecordedDeployment {
            namespace: "web".into(),
            number: 1,
        };
        recorded.insert(&one, id.clone(), deployment.clone());
        let before = recorded.of(&one);
        assert_eq!(before.get(&id), Some(&deployment));
        assert!(recorded.of(&other).is_empty());
        recorded.remove(&one, &id);
        assert_eq!(recorded, Recorded::default());
        // A receiver of the previous value still sees it.
        assert_eq!(before.len(), 1);
    }
}
