//! What `kubectl get` says of an application: read from the API servers, and compared with the answer object
//! by object.

use std::collections::BTreeSet;

use kindsight_cluster::Cluster;
use serde_json::Value;

use crate::stage::{NAMESPACE, SHOP, Stage, resources};

/// Collections of the namespace that the application has objects in.
const COLLECTIONS: [(&str, &str); 14] = [
    ("ConfigMap", "/api/v1"),
    ("ControllerRevision", "/apis/apps/v1"),
    ("CronJob", "/apis/batch/v1"),
    ("DaemonSet", "/apis/apps/v1"),
    ("Deployment", "/apis/apps/v1"),
    ("EndpointSlice", "/apis/discovery.k8s.io/v1"),
    ("Job", "/apis/batch/v1"),
    ("PersistentVolumeClaim", "/api/v1"),
    ("Pod", "/api/v1"),
    ("ReplicaSet", "/apis/apps/v1"),
    ("Secret", "/api/v1"),
    ("Service", "/api/v1"),
    ("StatefulSet", "/apis/apps/v1"),
    ("Ingress", "/apis/networking.k8s.io/v1"),
];

/// Waits until the answer on `shop` has the objects that the clusters have, each in the state that `kubectl
/// get` shows, and nothing else.
pub(crate) fn wait_until_equal(stage: &Stage, step: &str) -> Value {
    stage.wait(SHOP, &format!("{step}: as kubectl has it"), |answer| {
        let told: BTreeSet<String> = resources(answer).iter().map(|it| shown(it)).collect();
        let clusters = stage.clusters.iter();
        let there: BTreeSet<String> = clusters.flat_map(objects).collect();
        told == there
    })
}

/// A line of [`resources`] as `cluster Kind/name state`, without its app and its reason. The states of Kinds
/// of which `kubectl get` shows none are left out.
fn shown(line: &str) -> String {
    let mut words = line.split(' ');
    let cluster = words.next().unwrap_or_default();
    let object = words.nth(1).unwrap_or_default();
    let state = words.next().unwrap_or_default();
    let kind = object.split('/').next().unwrap_or_default();
    let state = match (kind, state) {
        (_, "NotPresent") => state,
        (
            "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "Pod" | "PersistentVolumeClaim",
            state,
        ) => match state {
            "Ready" | "Succeeded" => state,
            _ => "not ready",
        },
        _ => "there",
    };
    format!("{cluster} {object} {state}")
}

/// The objects of the application in a cluster: those with its label, and what they own.
fn objects(cluster: &Cluster) -> Vec<String> {
    let mut all: Vec<(&str, Value)> = Vec::new();
    for (kind, api) in COLLECTIONS {
        let plural = match kind {
            "Ingress" => "ingresses".to_owned(),
            kind => format!("{}s", kind.to_lowercase()),
        };
        let list = cluster.get(&format!("{api}/namespaces/{NAMESPACE}/{plural}"));
        let items = list.map(|mut it| it["items"].take());
        let items = items.as_ref().and_then(Value::as_array);
        all.extend(items.into_iter().flatten().map(|it| (kind, it.clone())));
    }
    let mut uids: BTreeSet<String> = BTreeSet::new();
    loop {
        let belongs = |it: &Value| {
            let metadata = &it["metadata"];
            let mut owners = metadata["ownerReferences"].as_array().into_iter().flatten();
            metadata["labels"]["app.kubernetes.io/instance"] == "shop"
                || owners.any(|owner| uids.contains(owner["uid"].as_str().unwrap_or_default()))
        };
        let mine = all.iter().filter(|(_, it)| belongs(it));
        let found: BTreeSet<String> = mine
            .filter_map(|(_, it)| it["metadata"]["uid"].as_str().map(str::to_owned))
            .collect();
        if found == uids {
            break;
        }
        uids = found;
    }
    let mine = all
        .iter()
        .filter(|(_, it)| uids.contains(it["metadata"]["uid"].as_str().unwrap_or_default()));
    let told = mine.map(|(kind, it)| {
        let name = it["metadata"]["name"].as_str().unwrap_or_default();
        format!("{} {kind}/{name} {}", cluster.name(), state(kind, it))
    });
    told.collect()
}

/// The state that the columns of `kubectl get` show.
fn state(kind: &str, object: &Value) -> &'static str {
    let status = &object["status"];
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let condition = |name: &str| {
        let mut conditions = status["conditions"].as_array().into_iter().flatten();
        conditions.any(|it| it["type"] == name && it["status"] == "True")
    };
    let is_observed = status["observedGeneration"] == object["metadata"]["generation"];
    let wanted = number(&object["spec"]["replicas"]);
    let is_ready = match kind {
        "Deployment" => {
            is_observed
                && number(&status["updatedReplicas"]) == wanted
                && number(&status["replicas"]) == wanted
                && number(&status["availableReplicas"]) == wanted
        }
        "StatefulSet" => is_observed && number(&status["readyReplicas"]) == wanted,
        "DaemonSet" => {
            is_observed
                && number(&status["numberAvailable"]) == number(&status["desiredNumberScheduled"])
        }
        "Job" if condition("Complete") => return "Succeeded",
        "Pod" if status["phase"] == "Succeeded" => return "Succeeded",
        "Pod" => status["phase"] == "Running" && condition("Ready"),
        "PersistentVolumeClaim" => status["phase"] == "Bound",
        "Job" => false,
        _ => return "there",
    };
    if is_ready { "Ready" } else { "not ready" }
}
