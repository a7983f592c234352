//! An application from nothing to Ready, and what becomes of it.

use kindsight_cluster::{BEHAVIOUR_LABEL, Behaviour};
use serde_json::{Value, json};

use crate::stage::{AGGREGATED, NAMESPACE, SHOP, Stage, labelled, resources, workload};

/// Everything of the application `shop`.
fn shop() -> Vec<Value> {
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "seed"}, "spec": {
        "template": {
            "metadata": {"labels": {"app": "seed"}},
            "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x"}]},
        },
    }});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
        "spec": {"selector": {"app": "front"}, "ports": [{"port": 80}]}});
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"a": "b"}});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"},
        "stringData": {"password": "not to be seen"}});
    vec![
        workload("Deployment", "front", &json!({}), &json!({"replicas": 2})),
        workload(
            "StatefulSet",
            "base",
            &json!({}),
            &json!({"replicas": 1, "serviceName": "base"}),
        ),
        workload("DaemonSet", "agent", &json!({}), &json!({})),
        labelled(job, "seed"),
        labelled(service, "front"),
        labelled(config, "front"),
        labelled(secret, "front"),
    ]
}

#[test]
fn an_application_is_found_rolls_out_fails_and_goes() {
    let Some(stage) = Stage::two() else { return };
    for object in shop() {
        stage.apply(&object);
    }
    let ready = stage.wait(SHOP, "all is rolled out", |it| {
        it["ready-status"] == "Ready" && resources(it).len() >= 30
    });
    let told = resources(&ready);
    for expected in [
        "edge01 agent DaemonSet/agent Ready ",
        "edge02 base StatefulSet/base Ready ",
        "edge02 seed Job/seed Succeeded Completed",
    ] {
        let is_told = told.iter().any(|it| it.starts_with(expected.trim_end()));
        assert!(is_told, "{expected} in {told:#?}");
    }
    assert!(!ready.to_string().contains("not to be seen"));
    the_answer_has_what_kubectl_has(&stage, &ready);

    // An image that cannot be pulled: the Deployment says what its Pod says.
    let fails = json!({BEHAVIOUR_LABEL: Behaviour::ImagePullFails.label()});
    let failing = workload("Deployment", "front", &fails, &json!({"replicas": 2}));
    stage.clusters[0].apply(&failing);
    let bad = stage.wait(SHOP, "the image fails", |it| {
        let told = resources(it);
        let front = told
            .iter()
            .find(|it| it.starts_with("edge01 front Deployment/front"));
        front.is_some_and(|it| it.contains("ImagePullBackOff"))
    });
    assert_ne!(bad["ready-status"], "Ready");
    stage.clusters[0].apply(&workload(
        "Deployment",
        "front",
        &json!({}),
        &json!({"replicas": 2}),
    ));
    stage.wait_for_state("Ready");

    // Deleted: told for a while, and no longer counted.
    let settings = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/settings");
    stage.clusters[1].delete(&settings);
    let gone = stage.wait(SHOP, "the deletion is told", |it| {
        resources(it)
            .iter()
            .any(|it| it.contains("ConfigMap/settings NotPresent Gone"))
    });
    assert_eq!(gone["ready-status"], "Ready");
    stage.wait(SHOP, "the deletion is forgotten", |it| {
        !resources(it).iter().any(|it| it.contains("Gone"))
    });

    // A label that is taken away, then everything.
    let unlabel = json!({"metadata": {"labels": null}});
    let base = format!("/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/base");
    for cluster in &stage.clusters {
        cluster.patch(&base, "application/merge-patch+json", &unlabel);
    }
    stage.wait(SHOP, "the app without its label goes", |it| {
        !resources(it)
            .iter()
            .any(|it| it.contains("StatefulSet/base"))
    });
    for cluster in &stage.clusters {
        for object in shop() {
            let path = cluster.client().path(&object);
            cluster.delete(&path);
        }
    }
    stage.wait("/v2/applications", "the application goes", |it| {
        it["applications"].as_array().is_some_and(Vec::is_empty)
    });
}

/// Compares the answer with each cluster's own list of the Kinds of the application.
fn the_answer_has_what_kubectl_has(stage: &Stage, answer: &Value) {
    let told = resources(answer);
    for cluster in &stage.clusters {
        for (kind, path) in [
            ("Deployment", "/apis/apps/v1/namespaces/web/deployments"),
            ("ReplicaSet", "/apis/apps/v1/namespaces/web/replicasets"),
            ("StatefulSet", "/apis/apps/v1/namespaces/web/statefulsets"),
            ("Pod", "/api/v1/namespaces/web/pods"),
            ("Service", "/api/v1/namespaces/web/services"),
            ("Secret", "/api/v1/namespaces/web/secrets"),
            (
                "EndpointSlice",
                "/apis/discovery.k8s.io/v1/namespaces/web/endpointslices",
            ),
        ] {
            let list = cluster.get(path).expect("a list");
            let items = list["items"].as_array().expect("items");
            assert!(!items.is_empty(), "{kind}");
            for item in items {
                let name = item["metadata"]["name"].as_str().expect("a name");
                let line = format!(" {kind}/{name} ");
                let at = format!("{} ", cluster.name());
                let is_told = told
                    .iter()
                    .any(|it| it.starts_with(&at) && it.contains(&line));
                assert!(is_told, "{line} of {at} in {told:#?}");
            }
        }
    }
}

#[test]
fn a_kind_that_is_installed_later_is_watched_and_goes_with_its_definition() {
    let Some(stage) = Stage::two() else { return };
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}});
    stage.apply(&labelled(config, "front"));
    stage.wait_for_state("Present");
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "cranes.example.org"},
        "spec": {
            "group": "example.org", "scope": "Namespaced",
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
        "rules": [{"apiGroups": ["example.org"], "resources": ["cranes"], "verbs": ["get", "list", "watch"]}],
    }));
    let crane = json!({"apiVersion": "example.org/v1", "kind": "Crane", "metadata": {"name": "big"},
        "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "Rusty"}]}});
    let crane = labelled(crane, "yard");
    for cluster in &stage.clusters {
        let path = "/apis/example.org/v1/namespaces/web/cranes";
        cluster
            .client()
            .wait_for_status(path, 200, std::time::Duration::from_secs(30));
        cluster.apply(&crane);
    }
    let told = stage.wait(SHOP, "the crane is watched", |it| {
        resources(it)
            .iter()
            .filter(|it| it.contains(" yard Crane/big "))
            .count()
            == 2
    });
    assert_ne!(told["ready-status"], "Present");
    for cluster in &stage.clusters {
        cluster
            .delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cranes.example.org");
    }
    stage.wait(SHOP, "the crane goes with its Kind", |it| {
        !resources(it).iter().any(|it| it.contains("Crane/big"))
    });
    stage.wait_for_state("Present");
}
