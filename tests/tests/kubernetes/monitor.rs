//! Simulated monitors: they report the objects of an app in their cluster in a ResourceBundleState, as the original
//! monitors do, or as kindsight's does.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kindsight_cluster::Cluster;
use kindsight_model::{
    BundleDialect, BundleFormat, BundleWrite, Coverage, EncodedBundle, KindCoverage, KindState,
    Object, Origin, PART_LABEL, Report, Scope, StoredBundle, encode_bundle, status_digest,
};
use serde_json::{Value, json};

use crate::stage::{NAMESPACE, PATIENCE};

/// Lists of one Kind in a ResourceBundleState, and their paths.
const LISTS: [(&str, &str); 7] = [
    ("podStatuses", "/api/v1/namespaces/web/pods"),
    ("serviceStatuses", "/api/v1/namespaces/web/services"),
    (
        "deploymentStatuses",
        "/apis/apps/v1/namespaces/web/deployments",
    ),
    ("configMapStatuses", "/api/v1/namespaces/web/configmaps"),
    (
        "daemonSetStatuses",
        "/apis/apps/v1/namespaces/web/daemonsets",
    ),
    ("jobStatuses", "/apis/batch/v1/namespaces/web/jobs"),
    (
        "statefulSetStatuses",
        "/apis/apps/v1/namespaces/web/statefulsets",
    ),
];

/// Other Kinds: group, Kind and path.
const OTHERS: [(&str, &str, &str); 3] = [
    (
        "apps",
        "ReplicaSet",
        "/apis/apps/v1/namespaces/web/replicasets",
    ),
    ("", "Secret", "/api/v1/namespaces/web/secrets"),
    (
        "discovery.k8s.io",
        "EndpointSlice",
        "/apis/discovery.k8s.io/v1/namespaces/web/endpointslices",
    ),
];

const STATES: &str = "/apis/k8splugin.io/v1alpha1/namespaces/web/resourcebundlestates";
const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/resourcebundlestates.k8splugin.io";

/// Installs the definition of the Kind ResourceBundleState, and waits until it is served.
pub(crate) fn install(cluster: &Cluster) {
    cluster.apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "resourcebundlestates.k8splugin.io"},
        "spec": {
            "group": "k8splugin.io", "scope": "Namespaced",
            "names": {"plural": "resourcebundlestates", "singular": "resourcebundlestate",
                "kind": "ResourceBundleState"},
            "versions": [{
                "name": "v1alpha1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    }));
    cluster.client().wait_for_status(STATES, 200, PATIENCE);
}

/// Installs kindsight's definition of the Kind, and waits until it is served.
pub(crate) fn install_own(cluster: &Cluster) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/monitor-crd.yaml");
    let text = std::fs::read_to_string(path).expect("deploy/monitor-crd.yaml");
    cluster.apply(&serde_saphyr::from_str(&text).expect("a definition"));
    cluster.client().wait_for_status(STATES, 200, PATIENCE);
}

/// Removes the definition, and thereby the reports of the monitor.
pub(crate) fn uninstall(cluster: &Cluster) {
    assert!(cluster.delete(DEFINITION));
}

/// Makes the ResourceBundleState of a deployment, without a status.
pub(crate) fn begin(cluster: &Cluster, deployment: &str) {
    cluster.apply(&json!({
        "apiVersion": "k8splugin.io/v1alpha1", "kind": "ResourceBundleState",
        "metadata": {"name": deployment, "namespace": NAMESPACE,
            "labels": {"emco/deployment-id": deployment}},
        "spec": {"selector": {"matchLabels": {"emco/deployment-id": deployment}}},
    }));
}

/// Writes a status.
pub(crate) fn report(cluster: &Cluster, deployment: &str, status: &Value) {
    let path = format!("{STATES}/{deployment}/status");
    // The patch replaces complete lists.
    cluster.patch(
        &path,
        "application/merge-patch+json",
        &json!({"status": null}),
    );
    cluster.patch(
        &path,
        "application/merge-patch+json",
        &json!({"status": status}),
    );
}

/// All objects of a deployment in the cluster, complete, in the lists of a report.
fn objects(cluster: &Cluster, deployment: &str) -> Value {
    let mut status = json!({"ready": false, "resourceCount": 0});
    for (list, path) in LISTS {
        status[list] = items(cluster, path, deployment).into();
    }
    let mut others = Vec::new();
    for (group, kind, path) in OTHERS {
        for mut item in items(cluster, path, deployment) {
            let version = if group.is_empty() {
                "v1".to_owned()
            } else {
                format!("{group}/v1")
            };
            item["apiVersion"] = version.into();
            item["kind"] = kind.into();
            others.push(json!({
                "group": group, "version": "v1", "kind": kind, "namespace": NAMESPACE,
                "name": item["metadata"]["name"], "res": BASE64_STANDARD.encode(item.to_string()),
            }));
        }
    }
    status["resourceStatuses"] = others.into();
    status
}

/// All objects of a deployment in the cluster, as a monitor of the first generation reports them: the lists of one Kind
/// have the type, the metadata and the status of each object. The list of any Kind is one of later monitors; it has the
/// owners of Pods.
pub(crate) fn everything(cluster: &Cluster, deployment: &str) -> Value {
    let mut status = objects(cluster, deployment);
    for item in items_of_one_kind(&mut status) {
        let members = item.as_object_mut().expect("an object");
        members.retain(|key, _| ["apiVersion", "kind", "metadata", "status"].contains(&&**key));
    }
    status
}

/// All objects of a deployment in the cluster, as the later definition of the Kind keeps them: it removes members of
/// metadata. Later monitors never update a spec, so here the specs of Deployments request no replicas.
pub(crate) fn pruned(cluster: &Cluster, deployment: &str) -> Value {
    let mut status = objects(cluster, deployment);
    for item in items_of_one_kind(&mut status) {
        let metadata = item["metadata"].as_object_mut().expect("metadata");
        metadata.retain(|key, _| {
            ["annotations", "finalizers", "labels", "name", "namespace"].contains(&&**key)
        });
    }
    let deployments = status["deploymentStatuses"].as_array_mut();
    for item in deployments.expect("a list") {
        item["spec"]["replicas"] = 0.into();
    }
    status
}

fn items_of_one_kind(status: &mut Value) -> impl Iterator<Item = &mut Value> {
    let lists = status.as_object_mut().expect("a status").iter_mut();
    let lists = lists.filter(|(list, _)| LISTS.iter().any(|(known, _)| list == known));
    lists.flat_map(|(_, items)| items.as_array_mut().expect("a list"))
}

/// The report of kindsight's monitor on all objects of a deployment in the cluster. It may not read the Kinds of
/// `forbidden`.
pub(crate) fn encoded(
    cluster: &Cluster,
    deployment: &str,
    dialect: BundleDialect,
    forbidden: &[&str],
) -> EncodedBundle {
    let all = objects(cluster, deployment);
    let entries = all["resourceStatuses"].as_array().expect("a list").iter();
    let entries = entries.map(|entry| {
        let res = BASE64_STANDARD.decode(entry["res"].as_str().expect("an object"));
        String::from_utf8(res.expect("base64")).expect("text")
    });
    let typed = LISTS.iter().flat_map(|(list, path)| {
        let group = path
            .strip_prefix("/apis/")
            .and_then(|path| path.split_once('/'));
        let version = group.map_or("v1".to_owned(), |(group, _)| format!("{group}/v1"));
        let kind = kind_of(list);
        let items = all[*list].as_array().expect("a list").iter().cloned();
        items.map(move |mut item| {
            item["apiVersion"] = version.clone().into();
            item["kind"] = kind.into();
            item.to_string()
        })
    });
    let objects = typed
        .chain(entries)
        .map(|json| Object::from_json(json).expect("an object"));
    let objects = objects.filter(|object| !forbidden.contains(&&*object.gvk.kind));
    let mut report = Report {
        objects: objects.collect(),
        coverage: Coverage::nothing(),
        ..Report::empty(Origin::Direct)
    };
    let typed = LISTS.iter().map(|(list, path)| {
        let group = path
            .strip_prefix("/apis/")
            .and_then(|path| path.split_once('/'));
        (group.map_or("", |(group, _)| group), kind_of(list))
    });
    for (group, kind) in typed.chain(OTHERS.iter().map(|(group, kind, _)| (*group, *kind))) {
        let state = if forbidden.contains(&kind) {
            KindState::Forbidden
        } else {
            KindState::Complete
        };
        report
            .coverage
            .set(group, kind, Scope::Cluster, KindCoverage::new(state));
    }
    let format = BundleFormat {
        dialect,
        ..BundleFormat::default()
    };
    encode_bundle(&deployment.parse().expect("a deployment"), &report, &format)
}

fn kind_of(list: &str) -> &str {
    match list {
        "podStatuses" => "Pod",
        "serviceStatuses" => "Service",
        "deploymentStatuses" => "Deployment",
        "configMapStatuses" => "ConfigMap",
        "daemonSetStatuses" => "DaemonSet",
        "jobStatuses" => "Job",
        _ => "StatefulSet",
    }
}

/// Writes a report of kindsight's monitor.
pub(crate) fn write(cluster: &Cluster, encoded: &EncodedBundle) {
    let client = cluster.client();
    let path = format!("{STATES}/{}", encoded.first.name);
    let annotate = |annotations: &BTreeMap<String, String>| {
        let patch = json!({"metadata": {"annotations": annotations}});
        client.patch(&path, "application/merge-patch+json", &patch);
    };
    let first = client.get(&path).expect("the ResourceBundleState");
    let further = client.get(&format!("{STATES}?labelSelector={PART_LABEL}"));
    let further = further.expect("a list")["items"].as_array().cloned();
    let names = further.into_iter().flatten();
    let names = names.filter_map(|part| Some(part["metadata"]["name"].as_str()?.to_owned()));
    let annotations = first["metadata"]["annotations"].clone();
    let stored = StoredBundle {
        annotations: serde_json::from_value(annotations).unwrap_or_default(),
        parts: names.collect(),
        ..StoredBundle::default()
    };
    let mut digest = None;
    for write in encoded.writes(&stored) {
        match write {
            BundleWrite::Part(part) => {
                client.create(STATES, &part.manifest(NAMESPACE));
                let status = serde_json::from_str(&part.status).expect("a status");
                report(cluster, &part.name, &status);
            }
            BundleWrite::Annotations(annotations) => annotate(&annotations),
            BundleWrite::Status(status) => {
                let status: Value = serde_json::from_str(status).expect("a status");
                let patch = json!([{"op": "add", "path": "/status", "value": status}]);
                let path = format!("{path}/status");
                let stored = client.patch(&path, "application/json-patch+json", &patch);
                digest = Some(status_digest(&stored["status"].to_string()));
            }
            BundleWrite::AnnotationsOfStatus => annotate(&encoded.annotations(digest.as_ref())),
            BundleWrite::Delete(name) => drop(client.delete(&format!("{STATES}/{name}"))),
        }
    }
}

fn items(cluster: &Cluster, path: &str, deployment: &str) -> Vec<Value> {
    let path = format!("{path}?labelSelector=emco/deployment-id%3D{deployment}");
    let list = cluster.get(&path).expect("a list");
    list["items"].as_array().expect("items").clone()
}
