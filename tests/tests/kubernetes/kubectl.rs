//! Comparison of answers with the output of `kubectl get`, object by object. The objects are read from the API servers.

use std::collections::BTreeSet;

use kindsight_cluster::Cluster;
use serde_json::Value;

use crate::stage::{NAMESPACE, SHOP, Stage, resources};

/// Collections in which the application has objects.
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

/// Waits until the answer on `shop` has exactly the objects of the clusters, each in the state that `kubectl get`
/// shows.
pub(crate) fn wait_until_equal(stage: &Stage, step: &str) -> Value {
    stage.wait(SHOP, &format!("{step}: as kubectl has it"), |answer| {
        let lines: BTreeSet<String> = resources(answer).iter().map(|line| shown(line)).collect();
        let clusters = stage.clusters.iter();
        let there: BTreeSet<String> = clusters.flat_map(objects).collect();
        lines == there
    })
}

/// A line of [`resources`] as `cluster Kind/name state`, without its app and its reason. The state is omitted if
/// `kubectl get` shows no state for the Kind.
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

/// The objects of the application in a cluster: the objects with its label, and the objects that they own.
fn objects(cluster: &Cluster) -> Vec<String> {
    let mut all: Vec<(&str, Value)> = Vec::new();
    for (kind, api) in COLLECTIONS {
        let plural = match kind {
            "Ingress" => "ingresses".to_owned(),
            kind => format!("{}s", kind.to_lowercase()),
        };
        let list = cluster.get(&format!("{api}/namespaces/{NAMESPACE}/{plural}"));
        let items = list.map(|mut list| list["items"].take());
        let items = items.as_ref().and_then(Value::as_array);
        all.extend(items.into_iter().flatten().map(|item| (kind, item.clone())));
    }
    let mut uids: BTreeSet<String> = BTreeSet::new();
    loop {
        let belongs = |object: &Value| {
            let metadata = &object["metadata"];
            let mut owners = metadata["ownerReferences"].as_array().into_iter().flatten();
            metadata["labels"]["app.kubernetes.io/instance"] == "shop"
                || owners.any(|owner| uids.contains(owner["uid"].as_str().unwrap_or_default()))
        };
        let mine = all.iter().filter(|(_, object)| belongs(object));
        let found: BTreeSet<String> = mine
            .filter_map(|(_, object)| object["metadata"]["uid"].as_str().map(str::to_owned))
            .collect();
        if found == uids {
            break;
        }
        uids = found;
    }
    let mine = all.iter().filter(|(_, object)| {
        uids.contains(object["metadata"]["uid"].as_str().unwrap_or_default())
    });
    let lines = mine.map(|(kind, object)| {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        format!("{} {kind}/{name} {}", cluster.name(), state(kind, object))
    });
    lines.collect()
}

/// The state that the columns of `kubectl get` show.
fn state(kind: &str, object: &Value) -> &'static str {
    let status = &object["status"];
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let condition = |name: &str| {
        let mut conditions = status["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == name && condition["status"] == "True")
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
