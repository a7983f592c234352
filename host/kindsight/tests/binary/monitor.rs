//! Monitors of two generations: the form in which each one reports the objects of an app.

use serde_json::{Value, json};

/// The annotation of `kubectl apply`, which contains the complete manifest.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Members of the metadata of an item that the later definition of ResourceBundleState keeps.
const KEPT: [&str; 5] = ["annotations", "finalizers", "labels", "name", "namespace"];

/// The list of objects of any Kind. Its items have the complete objects.
const ANY_KIND: &str = "resourceStatuses";

/// A generation of monitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Monitor {
    /// ONAP of October 2020: the type, the metadata and the status of the objects of ten Kinds.
    Onap,
    /// emco-base v22.09: objects of any Kind. The items of the lists of one Kind have no type, a part of their
    /// metadata, and the spec that the monitor saw first.
    V22,
}

impl Monitor {
    pub(crate) const ALL: [Self; 2] = [Self::Onap, Self::V22];

    /// The status that this monitor writes into its ResourceBundleState. `objects` has the same lists with the complete
    /// objects of the cluster.
    pub(crate) fn status(self, objects: &Value) -> Value {
        let mut status = json!({"ready": false, "resourceCount": 0});
        let lists = objects.as_object().unwrap().iter();
        for (list, items) in lists.filter(|(list, _)| self.writes(list)) {
            let mut items = items.clone();
            if list != ANY_KIND {
                items
                    .as_array_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(|item| self.reduce(item));
            }
            status[list] = items;
        }
        status
    }

    /// The document that this monitor writes about the app with this label.
    pub(crate) fn bundle(self, deployment: &str, objects: &Value) -> Value {
        let label = json!({"emco/deployment-id": deployment});
        json!({
            "apiVersion": "k8splugin.io/v1alpha1",
            "kind": "ResourceBundleState",
            "metadata": {"name": deployment, "namespace": "default", "labels": label},
            "spec": {"selector": {"matchLabels": label}},
            "status": self.status(objects),
        })
    }

    fn writes(self, list: &str) -> bool {
        match self {
            Self::Onap => list != ANY_KIND,
            Self::V22 => !matches!(list, "secretStatuses" | "ingressStatuses"),
        }
    }

    fn reduce(self, item: &mut Value) {
        let members = item.as_object_mut().unwrap();
        match self {
            Self::Onap => members.retain(|member, _| {
                matches!(
                    member.as_str(),
                    "apiVersion" | "kind" | "metadata" | "status"
                )
            }),
            Self::V22 => {
                members.retain(|member, _| !matches!(member.as_str(), "apiVersion" | "kind"));
                let metadata = members["metadata"].as_object_mut().unwrap();
                metadata.retain(|member, _| KEPT.contains(&member.as_str()));
                let annotations = metadata.get_mut("annotations");
                if let Some(applied) =
                    annotations.and_then(|annotations| annotations.get_mut(LAST_APPLIED))
                {
                    *applied = "".into();
                }
            }
        }
    }
}

/// A Deployment in a cluster with this number of ready replicas, after the rollout of its template.
pub(crate) fn deployment(name: &str, replicas: u32, ready: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "uid": format!("{name}-uid"), "generation": 1},
        "spec": {"replicas": replicas, "strategy": {"type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}},
        "status": {"observedGeneration": 1, "replicas": replicas, "updatedReplicas": replicas,
            "readyReplicas": ready, "availableReplicas": ready,
            "conditions": [
                {"type": "Available", "status": if ready > 0 { "True" } else { "False" }},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
            ]},
    })
}
