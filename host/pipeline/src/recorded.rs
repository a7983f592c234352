//! The deployments that `AppContext`s send to clusters, for the sources of those.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_clusters::{Recorded, RecordedDeployment};
use kindsight_model::{ClusterName, ContextId, DeploymentId};
use tokio::sync::watch;

/// The apps of a context by cluster, and the namespace they are deployed to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ContextDeployments {
    /// The context whose id is in their labels; none where there are none.
    pub(crate) context: Option<ContextId>,
    pub(crate) namespace: Arc<str>,
    pub(crate) apps: BTreeSet<(ClusterName, Arc<str>)>,
}

impl ContextDeployments {
    /// The deployments by cluster and label, with their namespace. A negative id is in no label, because a label
    /// could not separate the id from the app.
    fn labelled(&self) -> BTreeMap<(ClusterName, DeploymentId), Arc<str>> {
        let context = self
            .context
            .as_ref()
            .filter(|context| !context.is_negative());
        let apps = context.into_iter().flat_map(|context| {
            let apps = self.apps.iter();
            apps.map(|(cluster, app)| {
                let deployment = DeploymentId {
                    context: context.clone(),
                    app: Arc::clone(app),
                };
                let namespace = Arc::clone(&self.namespace);
                ((cluster.clone(), deployment), namespace)
            })
        });
        apps.collect()
    }

    fn labels(&self, cluster: &ClusterName, deployment: &DeploymentId) -> bool {
        self.context.as_ref() == Some(&deployment.context)
            && self
                .apps
                .contains(&(cluster.clone(), Arc::clone(&deployment.app)))
    }
}

/// The deployments of all contexts.
pub(crate) struct RecordedApps {
    by_context: BTreeMap<ContextId, ContextDeployments>,
    recorded: Arc<Recorded>,
    published: watch::Sender<Arc<Recorded>>,
    is_changed: bool,
    /// The number of the last deployment that came.
    last: u64,
}

impl Default for RecordedApps {
    fn default() -> Self {
        Self {
            by_context: BTreeMap::new(),
            recorded: Arc::default(),
            published: watch::Sender::new(Arc::default()),
            is_changed: false,
            last: 0,
        }
    }
}

impl RecordedApps {
    /// Follows them as they change.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Arc<Recorded>> {
        self.published.subscribe()
    }

    /// Replaces the deployments of a context; none if it was deleted. Those that it had before keep their
    /// number, since what was reported on them is still there.
    pub(crate) fn set(&mut self, id: &ContextId, deployments: Option<ContextDeployments>) {
        let before = self.by_context.get(id).cloned().unwrap_or_default();
        let after = deployments.clone().unwrap_or_default();
        match deployments {
            Some(deployments) => self.by_context.insert(id.clone(), deployments),
            None => self.by_context.remove(id),
        };
        if before == after {
            return;
        }
        self.is_changed = true;
        let (before, after) = (before.labelled(), after.labelled());
        for (cluster, deployment) in before.keys().filter(|key| !after.contains_key(key)) {
            // Instances of one group share their labels.
            let mut others = self.by_context.values();
            if !others.any(|other| other.labels(cluster, deployment)) {
                Arc::make_mut(&mut self.recorded).remove(cluster, deployment);
            }
        }
        for ((cluster, deployment), namespace) in after {
            let known = self.recorded.of(&cluster);
            let known = known.get(&deployment).map(|it| it.number);
            let number = known.unwrap_or_else(|| {
                self.last += 1;
                self.last
            });
            let recorded = RecordedDeployment { namespace, number };
            Arc::make_mut(&mut self.recorded).insert(&cluster, deployment, recorded);
        }
    }

    /// Tells the sources, where anything changed since the last call.
    pub(crate) fn publish(&mut self) {
        if std::mem::take(&mut self.is_changed) {
            self.published.send_replace(Arc::clone(&self.recorded));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployments(apps: &[(&str, &str)]) -> ContextDeployments {
        let apps = apps.iter();
        ContextDeployments {
            context: "7".parse().ok(),
            namespace: "web".into(),
            apps: apps
                .map(|(cluster, app)| (cluster.parse().unwrap(), Arc::from(*app)))
                .collect(),
        }
    }

    #[test]
    fn a_deployment_that_comes_again_has_another_number() {
        let mut apps = RecordedApps::default();
        let mut told = apps.subscribe();
        let id: ContextId = "7".parse().unwrap();
        let mut numbers = |deployments| {
            apps.set(&id, deployments);
            apps.publish();
            let is_told = told.has_changed().unwrap();
            let recorded = told.borrow_and_update().of(&"p+a".parse().unwrap());
            let numbers = recorded.iter();
            let numbers: Vec<String> = numbers
                .map(|(id, deployment)| {
                    format!("{id} {} {}", deployment.namespace, deployment.number)
                })
                .collect();
            (is_told, numbers.join(", "))
        };
        let one = deployments(&[("p+a", "front"), ("p+b", "front")]);
        let told = |text: &str| (true, text.to_owned());
        assert_eq!(numbers(Some(one.clone())), told("7-front web 1"));
        assert!(!numbers(Some(one.clone())).0);
        let more = deployments(&[("p+a", "back"), ("p+a", "front"), ("p+b", "front")]);
        assert_eq!(numbers(Some(more)), told("7-back web 3, 7-front web 1"));
        assert_eq!(numbers(None), told(""));
        assert_eq!(numbers(Some(one)), told("7-front web 4"));
    }
}
