//! The life of objects that no other client changes.

use kindsight_clusters::ObjectDeletion;
use serde_json::{Value, json};

use super::{NAMESPACE, Sent, Stage, config_map, path_of_map, refused, unreachable};
use crate::monitor;

#[test]
fn an_object_is_previewed_applied_changed_and_deleted() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let map = config_map("front", "blue");
    let preview = stage.preview(&map).unwrap();
    assert!(preview.before.is_none());
    assert_eq!(preview.after["data"]["colour"], "blue");
    assert!(stage.get(&path_of_map("front")).is_none());

    stage.vet(&map).unwrap();
    let uid = stage.apply(&map).unwrap();
    let object = stage.get(&path_of_map("front")).unwrap();
    assert_eq!(object["metadata"]["uid"], uid);
    assert_eq!(
        object["metadata"]["labels"]["emco/deployment-id"],
        "7-front"
    );
    assert_eq!(
        object["metadata"]["managedFields"][0]["manager"],
        "kindsight"
    );
    let preview = stage.preview(&map).unwrap();
    assert_eq!(preview.before, Some(preview.after));

    // A removed field is removed, and the object remains the same.
    let mut changed = config_map("front", "red");
    changed.manifest["data"] = json!({"size": "big"});
    let preview = stage.preview(&changed).unwrap();
    assert_eq!(preview.before.unwrap()["data"], json!({"colour": "blue"}));
    assert_eq!(preview.after["data"], json!({"size": "big"}));
    let object = stage.get(&path_of_map("front")).unwrap();
    assert_eq!(object["data"], json!({"colour": "blue"}));
    assert_eq!(stage.apply(&changed).unwrap(), uid);
    let object = stage.get(&path_of_map("front")).unwrap();
    assert_eq!(object["data"], json!({"size": "big"}));

    stage.delete_eventually(&map);
    assert!(stage.get(&path_of_map("front")).is_none());
    assert_eq!(stage.delete(&map).unwrap(), ObjectDeletion::Deleted);

    // Without a namespace, the object is in `default`.
    let mut map = config_map("front", "blue");
    map.manifest["metadata"]["namespace"] = Value::Null;
    stage.apply(&map).unwrap();
    let path = "/api/v1/namespaces/default/configmaps/front";
    assert!(stage.get(path).is_some());
}

#[test]
fn the_dependents_of_an_object_are_deleted_first() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let deployment = Sent::new(json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "front", "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": {"app": "front"}},
            "template": {
                "metadata": {"labels": {"app": "front"}},
                "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]},
            },
        },
    }));
    let applied = stage.apply_object(&deployment).unwrap();
    assert_eq!(applied.generation, Some(1));
    let sets = format!("/apis/apps/v1/namespaces/{NAMESPACE}/replicasets");
    let count = |list: &Value| list["items"].as_array().map_or(0, Vec::len);
    stage
        .cluster
        .wait(&sets, |list| count(list) == 1, crate::stage::PATIENCE);
    stage.delete_eventually(&deployment);
    assert_eq!(count(&stage.get(&sets).unwrap()), 0);
}

#[test]
fn a_deletion_names_the_finalizers_that_it_waits_for() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let mut map = config_map("front", "blue");
    map.manifest["metadata"]["finalizers"] = json!(["example.com/hold"]);
    stage.apply(&map).unwrap();
    for _ in 0..2 {
        let ObjectDeletion::Deleting(why) = stage.delete(&map).unwrap() else {
            panic!("the object is gone");
        };
        assert!(why.contains("`example.com/hold`"), "{why}");
    }
    let why = unreachable(stage.apply(&map));
    assert!(why.contains("is being deleted"), "{why}");
    let released = json!({"metadata": {"finalizers": null}});
    let path = path_of_map("front");
    stage
        .cluster
        .patch(&path, "application/merge-patch+json", &released);
    stage.delete_eventually(&map);
}

#[test]
fn a_monitor_is_asked_for_reports_if_the_cluster_serves_its_kind() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let deployment = "7-front".parse().unwrap();
    let announce = || stage.runtime.block_on(stage.sender.announce(&deployment));
    let withdraw = || stage.runtime.block_on(stage.sender.withdraw(&deployment));
    announce().unwrap();
    withdraw().unwrap();
    monitor::install(&stage.cluster);
    let path = "/apis/k8splugin.io/v1alpha1/namespaces/default/resourcebundlestates/7-front";
    for _ in 0..2 {
        announce().unwrap();
        let state = stage.get(path).unwrap();
        let label = json!({"emco/deployment-id": "7-front"});
        assert_eq!(state["metadata"]["labels"], label);
        assert_eq!(state["spec"]["selector"]["matchLabels"], label);
    }
    for _ in 0..2 {
        withdraw().unwrap();
        assert!(stage.get(path).is_none());
    }
}

#[test]
fn a_live_object_is_read_without_the_fields_of_its_managers() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let map = config_map("read", "blue");
    assert!(refused(stage.read(&map)).contains("does not exist"));
    let uid = stage.apply(&map).unwrap();
    let live = stage.read(&map).unwrap();
    assert_eq!(live["metadata"]["uid"], uid);
    assert_eq!(live["data"], map.manifest["data"]);
    assert!(live["metadata"].get("managedFields").is_none());
}
