//! A server that is killed and started again. It shows its last-known state as unconfirmed, and later the changes that
//! happened while it was down.

use std::time::Duration;

use kindsight_cluster::{Cluster, Credentials, Options};
use serde_json::{Value, json};

use crate::history::transitions;
use crate::rights::{binding, role};
use crate::stage::{NAMESPACE, SHOP, Stage, labelled, resources, workload};

fn config(name: &str) -> Value {
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    labelled(config, "front")
}

/// Sets the status of the Deployment, as its controller would.
fn set_status(stage: &Stage, ready: bool) {
    let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/front/status");
    let count = i32::from(ready);
    let status = json!({"status": {
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
        "readyReplicas": count, "availableReplicas": count,
        "conditions": [
            {"type": "Available", "status": if ready { "True" } else { "False" }},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    }});
    stage.clusters[0].patch(&path, "application/merge-patch+json", &status);
}

fn is_fresh(answer: &Value) -> bool {
    answer["stale-since"].is_null()
}

fn admin(cluster: &Cluster) -> Credentials {
    cluster.admin().clone()
}

/// Names and start times of all resources.
fn since(answer: &Value) -> Vec<(String, String)> {
    let list = |of: &Value, name: &str| of[name].as_array().cloned().unwrap_or_default();
    let apps = list(answer, "apps").into_iter();
    let clusters = apps.flat_map(|app| list(&app, "clusters"));
    let all = clusters.flat_map(|cluster| list(&cluster, "resources"));
    all.map(|resource| (resource["name"].to_string(), resource["since"].to_string()))
        .collect()
}

/// Applies a ready Deployment with a child, and two ConfigMaps without an owner; returns the answer about them.
fn deploy(stage: &Stage) -> Value {
    let front = workload("Deployment", "front", &json!({}), &json!({}));
    let made = stage.clusters[0].apply(&front);
    let mut child = config("child");
    child["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "Deployment", "name": "front",
        "uid": made["metadata"]["uid"],
    }]);
    for object in [config("settings"), config("kept"), child] {
        stage.clusters[0].apply(&object);
    }
    set_status(stage, true);
    stage.wait(SHOP, "all of it is ready", |answer| {
        answer["ready-status"] == "Ready" && resources(answer).len() == 4
    })
}

/// Waits until the server has written its state, which it does every two seconds, and ends the server without a stop.
fn kill(stage: &mut Stage) {
    std::thread::sleep(Duration::from_secs(6));
    stage.end_server();
}

#[test]
fn after_a_kill_last_known_state_is_stale_and_only_changes_are_transitions() {
    let stage = Stage::start(&[Options::api_server("edge01")], admin);
    let Some(mut stage) = stage else { return };
    let data = tempfile::tempdir().expect("a folder");
    stage.start_server(data.path(), admin);
    let before = deploy(&stage);
    let known = transitions(&stage);
    kill(&mut stage);

    // The cluster cannot be reached at the start, so the server has only the last-known state.
    stage.clusters[0].pause();
    stage.start_server(data.path(), admin);
    let answer = stage.server.get(SHOP).expect("what was known");
    assert_eq!(resources(&answer), resources(&before));
    assert_eq!(answer["ready-status"], "Ready");
    for level in [
        &answer,
        &answer["apps"][0],
        &answer["apps"][0]["clusters"][0],
    ] {
        assert!(level["stale-since"].is_string(), "{answer:#}");
    }
    assert_eq!(transitions(&stage), known);
    stage.clusters[0].resume();
    let answer = stage.wait(SHOP, "it is heard", is_fresh);
    assert_eq!(resources(&answer), resources(&before));
    assert_eq!(since(&answer), since(&before));
    assert_eq!(transitions(&stage), known);
    kill(&mut stage);

    let maps = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    for name in ["settings", "child"] {
        assert!(stage.clusters[0].delete(&format!("{maps}/{name}")));
    }
    set_status(&stage, false);
    stage.start_server(data.path(), admin);
    let answer = stage.wait(SHOP, "the change is heard", |answer| {
        is_fresh(answer) && answer["ready-status"] == "Pending"
    });
    let lines = resources(&answer);
    let lines = lines.iter().map(|line| line.split(' ').skip(2).take(2));
    let lines: Vec<String> = lines
        .map(|words| words.collect::<Vec<_>>().join(" "))
        .collect();
    let expected = [
        "ConfigMap/kept Present",
        "ConfigMap/settings NotPresent",
        "Deployment/front Pending",
    ];
    assert_eq!(lines, expected);
    let all = transitions(&stage);
    assert_eq!(all[..known.len()], known);
    let mut news = all[known.len()..].to_vec();
    news.sort();
    let expected = [
        "- Ready > Pending",
        "child Present > -",
        "front Ready > Pending",
        "settings Present > NotPresent",
    ];
    assert_eq!(news, expected);
}

#[test]
fn objects_forbidden_since_a_kill_are_unknown_and_not_gone() {
    const TOKEN: &str = "watchertoken";
    let token = |_: &Cluster| Credentials::Token(TOKEN.to_owned());
    let options = [Options::api_server("edge01").user("watcher", &[], TOKEN)];
    let Some(mut stage) = Stage::start(&options, token) else {
        return;
    };
    let data = tempfile::tempdir().expect("a folder");
    stage.start_server(data.path(), token);
    stage.clusters[0].apply(&role(&["configmaps", "services"]));
    stage.clusters[0].apply(&binding());
    stage.clusters[0].apply(&config("settings"));
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
        "spec": {"ports": [{"port": 80}]}});
    stage.clusters[0].apply(&labelled(service, "front"));
    let before = stage.wait(SHOP, "both are seen", |answer| {
        is_fresh(answer) && resources(answer).len() == 2
    });
    let known = transitions(&stage);
    kill(&mut stage);

    stage.clusters[0].apply(&role(&["configmaps"]));
    stage.start_server(data.path(), token);
    let answer = stage.wait(SHOP, "the rest is heard", is_fresh);
    let service = "edge01 front Service/front Unknown NotReported";
    let lines = resources(&answer);
    assert!(
        lines.iter().any(|line| line.ends_with(service)),
        "{lines:?}"
    );
    assert_eq!(answer["ready-status"], "Unknown");

    stage.clusters[0].apply(&role(&["configmaps", "services"]));
    let answer = stage.wait(SHOP, "the permission is used", |answer| {
        answer["ready-status"] != "Unknown"
    });
    assert_eq!(resources(&answer), resources(&before));
    let news = transitions(&stage)[known.len()..].to_vec();
    let of_service: Vec<&String> = news
        .iter()
        .filter(|line| line.starts_with("front"))
        .collect();
    assert_eq!(of_service.len(), 2, "{news:?}");
    assert_eq!(news.len(), 4, "{news:?}");
}
