//! The life of an application, from its first object to its deletion.

use kindsight_cluster::{BEHAVIOUR_LABEL, Behaviour, Cluster, Options};
use serde_json::{Value, json};

use crate::kubectl::wait_until_equal;
use crate::stage::{AGGREGATED, NAMESPACE, SHOP, Stage, labelled, resources, workload};

/// All objects of the application `shop`.
fn shop() -> Vec<Value> {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "seed"}, "spec": {
        "template": {
            "metadata": {"labels": {"app": "seed"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]},
        },
    }});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
        "spec": {"selector": {"app": "front"}, "ports": [{"port": 80}]}});
    let nightly = json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 3 1 1 *", "jobTemplate": {"spec": job["spec"]}}});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
    "spec": {
        "storageClassName": "", "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }});
    let backend = json!({"service": {"name": "front", "port": {"number": 80}}});
    let ingress = json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": {"name": "front"}, "spec": {"defaultBackend": backend}});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"},
        "stringData": {"password": "not to be seen"}});
    vec![
        front(2, &json!({})),
        workload(
            "StatefulSet",
            "base",
            &json!({}),
            &json!({"replicas": 1, "serviceName": "base"}),
        ),
        workload("DaemonSet", "agent", &json!({}), &json!({})),
        labelled(job, "seed"),
        labelled(service, "front"),
        labelled(nightly, "nightly"),
        labelled(claim, "base"),
        labelled(ingress, "front"),
        settings_of_front(),
        labelled(secret, "front"),
    ]
}

#[test]
fn an_application_is_found_rolls_out_fails_and_is_deleted() {
    let Some(stage) = Stage::two() else { return };
    for object in shop() {
        stage.apply(&object);
    }
    for cluster in &stage.clusters {
        give_an_address(cluster);
    }
    stage.wait_for_state("Ready");
    let ready = wait_until_equal(&stage, "rolled out");
    assert!(resources(&ready).len() >= 30, "{ready:#}");
    assert!(!ready.to_string().contains("not to be seen"));

    stage.clusters[1].apply(&front(3, &json!({})));
    let scaled = wait_until_equal(&stage, "scaled");
    let lines = resources(&scaled);
    let pods = lines
        .iter()
        .filter(|line| line.starts_with("edge02 front Pod/"));
    assert_eq!(pods.count(), 3, "{lines:#?}");

    // An image that cannot be pulled: the Deployment has the reason of its Pod.
    let fails = json!({BEHAVIOUR_LABEL: Behaviour::ImagePullFails.label()});
    stage.clusters[0].apply(&front(2, &fails));
    let bad = stage.wait(SHOP, "the image fails", |answer| {
        let lines = resources(answer);
        let mut lines = lines.iter();
        let front = lines.find(|line| line.starts_with("edge01 front Deployment/front"));
        front.is_some_and(|line| line.contains("ImagePullBackOff"))
    });
    assert_ne!(bad["ready-status"], "Ready");
    wait_until_equal(&stage, "failing");
    stage.clusters[0].apply(&front(2, &json!({})));
    stage.wait_for_state("Ready");
    wait_until_equal(&stage, "mended");

    // A deleted object is listed for some time, but does not count. When it is created again, its old state returns.
    let settings = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/settings");
    stage.clusters[1].delete(&settings);
    let gone = stage.wait(SHOP, "the deletion is shown", |answer| {
        let lines = resources(answer);
        let mut lines = lines.iter();
        lines.any(|line| line.contains("ConfigMap/settings NotPresent Gone"))
    });
    assert_eq!(gone["ready-status"], "Ready");
    stage.clusters[1].apply(&settings_of_front());
    wait_until_equal(&stage, "put back");
    stage.clusters[0].delete(&settings);
    wait_until_equal(&stage, "the deletion is forgotten");

    // Removes a label, then a namespace, then all objects.
    let unlabel = json!({"metadata": {"labels": null}});
    let base = format!("/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/base");
    for cluster in &stage.clusters {
        cluster.patch(&base, "application/merge-patch+json", &unlabel);
    }
    wait_until_equal(&stage, "without the app whose label was removed");
    stage.clusters[1].delete(&format!("/api/v1/namespaces/{NAMESPACE}"));
    stage.wait(SHOP, "the objects of the namespace disappear", |answer| {
        let lines = resources(answer);
        !lines.iter().any(|line| line.starts_with("edge02"))
    });
    wait_until_equal(&stage, "without a namespace");
    for object in shop() {
        let path = stage.clusters[0].client().path(&object);
        stage.clusters[0].delete(&path);
    }
    stage.wait("/v2/applications", "the application disappears", |answer| {
        answer["applications"].as_array().is_some_and(Vec::is_empty)
    });
}

/// The Deployment of the app `front`.
fn front(replicas: u32, pod_labels: &Value) -> Value {
    workload(
        "Deployment",
        "front",
        pod_labels,
        &json!({"replicas": replicas}),
    )
}

fn settings_of_front() -> Value {
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"a": "b"}});
    labelled(config, "front")
}

/// Gives the Ingress its address, as its controller would, and the claim its volume, as a provisioner would.
fn give_an_address(cluster: &Cluster) {
    cluster.client().apply_status(&json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": {"name": "front", "namespace": NAMESPACE},
        "status": {"loadBalancer": {"ingress": [{"ip": "10.1.1.1"}]}},
    }));
    cluster.apply(&json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "data"},
        "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "hostPath": {"path": "/data"}, "persistentVolumeReclaimPolicy": "Retain",
        },
    }));
}

#[test]
fn applications_of_other_tools_are_found_by_their_marks() {
    let options = [Options::api_server("edge01")];
    let stage = Stage::start(&options, |cluster| cluster.admin().clone());
    let Some(stage) = stage else { return };
    let marked = |name: &str, labels: Value, annotations: Value| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
            "name": name, "namespace": NAMESPACE, "labels": labels, "annotations": annotations,
        }})
    };
    // The marks of each tool, with the instance label that all charts have.
    let instance = json!({"app.kubernetes.io/instance": "chart"});
    stage.apply(&marked(
        "by-helm",
        instance.clone(),
        json!({"meta.helm.sh/release-name": "helmed", "meta.helm.sh/release-namespace": "web"}),
    ));
    stage.apply(&marked(
        "by-flux",
        json!({"app.kubernetes.io/instance": "chart", "kustomize.toolkit.fluxcd.io/name": "fluxed",
            "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}),
        json!({}),
    ));
    stage.apply(&marked(
        "by-argo-cd",
        instance.clone(),
        json!({"argocd.argoproj.io/tracking-id": "argoed:/ConfigMap:web/by-argo-cd"}),
    ));
    stage.apply(&marked("by-kubectl", instance, json!({})));
    let names = ["argoed", "chart", "fluxed", "helmed"];
    stage.wait(
        "/v2/applications",
        "each is found by its own mark",
        |answer| {
            let applications = answer["applications"].as_array().into_iter().flatten();
            let found: Vec<&str> = applications
                .filter_map(|application| application["composite-app-name"].as_str())
                .collect();
            found == names
        },
    );
}

#[test]
fn a_kind_is_watched_from_its_installation_to_its_removal() {
    let Some(stage) = Stage::two() else { return };
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}});
    stage.apply(&labelled(config, "front"));
    stage.wait_for_state("Present");
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "cranes.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "cranes", "singular": "crane", "kind": "Crane"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}],
        },
    });
    stage.apply(&definition);
    stage.apply(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "kindsight-cranes", "labels": {AGGREGATED: "true"}},
        "rules": [{"apiGroups": ["example.com"], "resources": ["cranes"], "verbs": ["get", "list", "watch"]}],
    }));
    let crane = json!({"apiVersion": "example.com/v1", "kind": "Crane", "metadata": {"name": "big"},
        "status": {"phase": "Draining", "conditions": [{"type": "Ready", "status": "False", "reason": "Rusty"}]}});
    let crane = labelled(crane, "yard");
    for cluster in &stage.clusters {
        let path = "/apis/example.com/v1/namespaces/web/cranes";
        cluster
            .client()
            .wait_for_status(path, 200, std::time::Duration::from_secs(30));
        cluster.apply(&crane);
    }
    let answer = stage.wait(SHOP, "the crane is watched", |answer| {
        resources(answer)
            .iter()
            .filter(|line| line.contains(" yard Crane/big "))
            .count()
            == 2
    });
    assert_ne!(answer["ready-status"], "Present");
    // An interpreter for the Kind is added.
    stage.drop_interpreter("crane");
    stage.wait(SHOP, "the crane is judged by its own rule", |answer| {
        let lines = resources(answer);
        let mut cranes = lines.iter().filter(|line| line.contains(" Crane/big "));
        cranes.all(|crane| crane.ends_with(" Crane/big Draining Draining"))
    });
    // The server prefers a newer version of the Kind. The crane is never shown as absent.
    let mut newer = definition.clone();
    let mut version = newer["spec"]["versions"][0].clone();
    version["name"] = "v2".into();
    version["storage"] = false.into();
    let versions = newer["spec"]["versions"].as_array_mut();
    versions.expect("versions").push(version);
    stage.apply(&newer);
    stage.wait(SHOP, "the crane is watched in its new version", |answer| {
        let lines = resources(answer);
        let cranes = lines
            .iter()
            .filter(|line| line.contains(" yard Crane/big Draining"));
        assert_eq!(cranes.count(), 2, "{lines:#?}");
        versions_of_cranes(answer) == ["v2", "v2"]
    });
    for cluster in &stage.clusters {
        cluster
            .delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cranes.example.com");
    }
    stage.wait(SHOP, "the crane disappears with its Kind", |answer| {
        !resources(answer)
            .iter()
            .any(|line| line.contains("Crane/big"))
    });
    stage.wait_for_state("Present");
}

/// The version of each crane, as the answer names it.
fn versions_of_cranes(answer: &Value) -> Vec<&str> {
    let clusters = answer["apps"].as_array().into_iter().flatten();
    let clusters = clusters.flat_map(|app| app["clusters"].as_array().into_iter().flatten());
    let resources = clusters.filter_map(|cluster| cluster["resources"].as_array());
    let kinds = resources.flatten().map(|resource| &resource["GVK"]);
    let cranes = kinds.filter(|kind| kind["Kind"] == "Crane");
    cranes.filter_map(|kind| kind["Version"].as_str()).collect()
}
