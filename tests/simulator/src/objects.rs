//! The objects of a cluster, each made from the seed, its number and its state.
//!
//! The numbers of a Kind are in the order of the keys, which is namespace and name.

use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::history::{ObjectId, State};
use crate::kinds::{Content, Kind, KindId};
use crate::seed::{PODS_PER_UNIT, Seed, UNITS_PER_NAMESPACE, namespace};

/// Namespaces of each cluster, in order. They sort before the namespaces of applications.
const SYSTEM: [&str; SYSTEM_COUNT as usize] =
    ["default", "kube-node-lease", "kube-public", "kube-system"];
const SYSTEM_COUNT: u32 = 4;
/// The time at which every object was created.
const CREATED: &str = "2026-01-01T00:00:00Z";
/// The hash of the templates of Pods.
const HASH: &str = "7d9c5b6f4d";

/// Number of objects of a Kind if no object is deleted.
pub(crate) fn count(seed: &Seed, kind: KindId) -> u32 {
    match kind.kind().content {
        Content::Empty => 0,
        Content::Namespaces => SYSTEM_COUNT + seed.namespaces(),
        Content::Pods => seed.units * PODS_PER_UNIT,
        _ => seed.units,
    }
}

/// The numbers of the objects of a Kind in a namespace.
pub(crate) fn of_namespace(seed: &Seed, kind: KindId, namespace: &str) -> Range<u32> {
    let number = namespace.strip_prefix("team-");
    let number = number.and_then(|number| number.parse::<u32>().ok());
    let Some(number) = number.filter(|number| *number < seed.namespaces()) else {
        return 0..0;
    };
    let each = objects_per_unit(kind) * UNITS_PER_NAMESPACE;
    let begin = (number * each).min(count(seed, kind));
    begin..(begin + each).min(count(seed, kind))
}

/// The namespace, empty for a cluster-scoped object, and the name of an object.
pub(crate) fn key(seed: &Seed, id: ObjectId) -> (String, String) {
    let ObjectId { kind, number } = id;
    let content = kind.kind().content;
    if content == Content::Namespaces {
        let own = number.checked_sub(SYSTEM_COUNT);
        let system = SYSTEM.get(number as usize).map(|&name| name.to_owned());
        return (
            String::new(),
            own.map_or(system.unwrap_or_default(), namespace),
        );
    }
    let unit = number / objects_per_unit(kind);
    let base = base(unit);
    let name = match content {
        Content::ReplicaSets => format!("{base}-{HASH}"),
        Content::Pods => format!("{base}-{HASH}-p{:04}", number % PODS_PER_UNIT),
        Content::EndpointSlices => format!("{base}-slice"),
        Content::ConfigMaps => format!("{base}-settings"),
        _ => base,
    };
    (seed.namespace(unit), name)
}

/// The number of the object with this key; none if no object ever has it.
pub(crate) fn find(seed: &Seed, kind: KindId, namespace: &str, name: &str) -> Option<u32> {
    let mut numbers = if kind.kind().is_namespaced {
        of_namespace(seed, kind, namespace)
    } else {
        0..count(seed, kind)
    };
    numbers.find(|number| {
        let id = ObjectId {
            kind,
            number: *number,
        };
        key(seed, id).1 == name
    })
}

/// The unit of an object.
pub(crate) fn unit(id: ObjectId) -> u32 {
    id.number / objects_per_unit(id.kind)
}

/// Labels of an object.
pub(crate) fn labels(seed: &Seed, id: ObjectId) -> Vec<(&'static str, String)> {
    if id.kind.kind().content == Content::Namespaces {
        return vec![("kubernetes.io/metadata.name", key(seed, id).1)];
    }
    let base = base(unit(id));
    let mut labels = vec![
        ("app", base.clone()),
        ("app.kubernetes.io/component", base.clone()),
        ("app.kubernetes.io/part-of", seed.application(unit(id))),
    ];
    match id.kind.kind().content {
        Content::ReplicaSets | Content::Pods => {
            labels.push(("pod-template-hash", HASH.to_owned()));
        }
        Content::EndpointSlices => {
            labels.push(("kubernetes.io/service-name", base));
        }
        _ => {}
    }
    labels
}

/// Returns whether an object with this state is healthy. The status of a Deployment and of a Pod is healthy after an
/// even number of changes.
pub(crate) fn is_healthy(id: ObjectId, state: State) -> bool {
    let changes = crate::history::CHANGING.contains(&id.kind.kind().content);
    !changes || state.revision.is_multiple_of(2)
}

/// An object without its Kind, as an item of a list.
pub(crate) fn item(seed: &Seed, id: ObjectId, state: State) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("metadata".to_owned(), metadata(seed, id, state));
    let is_healthy = is_healthy(id, state);
    let base = base(unit(id));
    let parts = match id.kind.kind().content {
        Content::Empty => json!({}),
        Content::Namespaces => {
            json!({"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})
        }
        Content::Deployments => {
            json!({"spec": deployment_spec(&base), "status": deployment_status(is_healthy)})
        }
        Content::ReplicaSets => json!({"spec": replica_set_spec(&base), "status": {
            "replicas": PODS_PER_UNIT, "fullyLabeledReplicas": PODS_PER_UNIT, "readyReplicas": PODS_PER_UNIT,
            "availableReplicas": PODS_PER_UNIT, "observedGeneration": 1,
        }}),
        Content::Pods => json!({"spec": pod_spec(), "status": pod_status(is_healthy)}),
        Content::Services => json!({"spec": {
            "type": "ClusterIP", "clusterIP": "10.0.0.10", "clusterIPs": ["10.0.0.10"], "selector": {"app": base},
            "ports": [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}],
            "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "sessionAffinity": "None",
            "internalTrafficPolicy": "Cluster",
        }, "status": {"loadBalancer": {}}}),
        Content::EndpointSlices => json!({
            "addressType": "IPv4", "endpoints": [{"addresses": ["10.244.0.7"], "conditions": {
                "ready": true, "serving": true, "terminating": false,
            }}], "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        }),
        Content::ConfigMaps => json!({"data": {"settings": "level: info\n".repeat(40)}}),
        Content::Widgets => json!({"spec": {"size": 3, "name": base}, "status": {
            "observedGeneration": 1,
            "conditions": [condition("Ready", true, "Made")],
        }}),
    };
    if let Value::Object(parts) = parts {
        object.extend(parts);
    }
    object
}

/// An object with its Kind.
pub(crate) fn whole(kind: &Kind, item: Map<String, Value>) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("kind".to_owned(), kind.kind.into());
    object.insert("apiVersion".to_owned(), kind.api_version().into());
    object.extend(item);
    object
}

fn metadata(seed: &Seed, id: ObjectId, state: State) -> Value {
    let (namespace, name) = key(seed, id);
    let content = id.kind.kind().content;
    let labels = labels(seed, id).into_iter();
    let labels = labels.map(|(key, value)| (key.to_owned(), Value::from(value)));
    let mut metadata = json!({
        "name": name, "uid": uid(seed, id, state.incarnation), "resourceVersion": state.version.to_string(),
        "creationTimestamp": CREATED, "labels": Value::Object(labels.collect()),
        "managedFields": managed_fields(id.kind.kind()),
    });
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    let has_generation = [
        Content::Deployments,
        Content::ReplicaSets,
        Content::Pods,
        Content::Widgets,
    ];
    if has_generation.contains(&content) {
        metadata["generation"] = 1.into();
    }
    let owner = match content {
        Content::ReplicaSets => Some(Content::Deployments),
        Content::Pods => Some(Content::ReplicaSets),
        Content::EndpointSlices => Some(Content::Services),
        _ => None,
    };
    if let Some(owner) = owner {
        let kind = KindId::of(owner);
        let owner = ObjectId {
            kind,
            number: unit(id),
        };
        metadata["ownerReferences"] = json!([{
            "apiVersion": kind.kind().api_version(), "kind": kind.kind().kind, "name": key(seed, owner).1,
            "uid": uid(seed, owner, state.incarnation), "controller": true, "blockOwnerDeletion": true,
        }]);
    }
    metadata
}

/// The entries that an API server keeps for each writer. They are a large part of real objects.
fn managed_fields(kind: &Kind) -> Value {
    json!([{
        "manager": "simulator", "operation": "Update", "apiVersion": kind.api_version(), "time": CREATED,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:labels": {
            ".": {}, "f:app": {}, "f:app.kubernetes.io/component": {}, "f:app.kubernetes.io/part-of": {},
        }}, "f:spec": {"f:replicas": {}, "f:selector": {}, "f:template": {"f:metadata": {"f:labels": {
            ".": {}, "f:app": {},
        }}}}},
    }])
}

fn uid(seed: &Seed, id: ObjectId, incarnation: u16) -> String {
    let ObjectId { kind, number } = id;
    format!(
        "{:08x}-{:04x}-4000-8{:03x}-{number:012x}",
        seed.number,
        kind.0,
        incarnation % 0x1000
    )
}

fn base(unit: u32) -> String {
    format!("web-{unit:06}")
}

fn objects_per_unit(kind: KindId) -> u32 {
    match kind.kind().content {
        Content::Pods => PODS_PER_UNIT,
        _ => 1,
    }
}

fn condition(kind: &str, is_true: bool, reason: &str) -> Value {
    let status = if is_true { "True" } else { "False" };
    json!({"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": CREATED})
}

fn deployment_spec(base: &str) -> Value {
    json!({
        "replicas": PODS_PER_UNIT, "selector": {"matchLabels": {"app": base}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
        "template": {"metadata": {"labels": {"app": base}}, "spec": pod_template()},
    })
}

fn deployment_status(is_healthy: bool) -> Value {
    let ready = PODS_PER_UNIT - u32::from(!is_healthy);
    let mut status = json!({
        "observedGeneration": 1, "replicas": PODS_PER_UNIT, "updatedReplicas": PODS_PER_UNIT,
        "readyReplicas": ready, "availableReplicas": ready,
        "conditions": [
            condition("Available", is_healthy, "MinimumReplicasAvailable"),
            condition("Progressing", true, "NewReplicaSetAvailable"),
        ],
    });
    if !is_healthy {
        status["unavailableReplicas"] = 1.into();
    }
    status
}

fn replica_set_spec(base: &str) -> Value {
    let labels = json!({"app": base, "pod-template-hash": HASH});
    json!({
        "replicas": PODS_PER_UNIT, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod_template()},
    })
}

fn pod_template() -> Value {
    json!({
        "containers": [{
            "name": "main", "image": "example.org/web:1", "imagePullPolicy": "IfNotPresent",
            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            "env": [{"name": "LEVEL", "value": "info"}, {"name": "REGION", "value": "one"}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        }],
        "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
        "securityContext": {}, "schedulerName": "default-scheduler",
    })
}

fn pod_spec() -> Value {
    let mut spec = pod_template();
    spec["nodeName"] = "node-1".into();
    spec["tolerations"] = json!([
        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
    ]);
    spec
}

fn pod_status(is_healthy: bool) -> Value {
    let reason = if is_healthy { "" } else { "ContainersNotReady" };
    json!({
        "phase": "Running", "hostIP": "10.10.0.1", "podIP": "10.244.0.7", "startTime": CREATED, "qosClass": "Burstable",
        "conditions": [
            condition("Initialized", true, ""), condition("Ready", is_healthy, reason),
            condition("ContainersReady", is_healthy, reason), condition("PodScheduled", true, ""),
        ],
        "containerStatuses": [{
            "name": "main", "image": "example.org/web:1", "imageID": "example.org/web@sha256:0", "ready": is_healthy,
            "started": true, "restartCount": 0, "state": {"running": {"startedAt": CREATED}}, "lastState": {},
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::KINDS;

    #[test]
    fn objects_are_numbered_in_the_order_of_their_keys_and_are_found_by_them() {
        let seed = Seed::new(3, 60);
        for place in 0..KINDS.len() {
            let kind = KindId(place);
            let keys: Vec<_> = (0..count(&seed, kind))
                .map(|number| key(&seed, ObjectId { kind, number }))
                .collect();
            assert!(keys.is_sorted(), "{kind:?}");
            for (number, (namespace, name)) in keys.iter().enumerate() {
                let found = find(&seed, kind, namespace, name);
                assert_eq!(found, u32::try_from(number).ok(), "{namespace}/{name}");
            }
        }
    }

    #[test]
    fn an_owner_has_the_uid_in_the_reference() {
        let seed = Seed::new(3, 60);
        let state = State {
            version: 1,
            revision: 0,
            incarnation: 0,
            is_deleted: false,
        };
        let of = |content, number| {
            let kind = KindId::of(content);
            item(&seed, ObjectId { kind, number }, state)
        };
        let pod = of(Content::Pods, 51);
        let replica_set = of(Content::ReplicaSets, 25);
        let owner = &pod["metadata"]["ownerReferences"][0];
        assert_eq!(owner["uid"], replica_set["metadata"]["uid"]);
        assert_eq!(owner["name"], replica_set["metadata"]["name"]);
    }
}
