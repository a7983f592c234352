//! Objects of other owners: they are not changed and not deleted.

use kindsight_clusters::ObjectDeletion;
use serde_json::{Value, json};

use super::{NAMESPACE, Sent, Stage, config_map, path_of_map, refused};

/// Checks that an object is kept, and returns the reason.
fn kept(stage: &Stage, sent: &Sent) -> String {
    let before = stage.get(&path_of_map("front"));
    let ObjectDeletion::Kept(why) = stage.delete(sent).unwrap() else {
        panic!("not kept");
    };
    assert_eq!(stage.get(&path_of_map("front")), before);
    why
}

fn other_map(labels: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"colour": "blue"},
        "metadata": {"name": "front", "namespace": NAMESPACE, "labels": labels},
    })
}

#[test]
fn an_object_of_another_application_is_refused_and_kept() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    let mut other = config_map("front", "red");
    other.manifest["metadata"]["labels"]["emco/deployment-id"] = "8-front".into();
    other.deployment = "8-front".parse().unwrap();
    stage.apply(&other).unwrap();
    let before = stage.get(&path_of_map("front"));
    let own = config_map("front", "blue");
    let forced = config_map("front", "blue").forced();
    let expected = "its label `emco/deployment-id` is `8-front`";
    for why in [
        refused(stage.vet(&own)),
        refused(stage.apply(&own)),
        refused(stage.apply(&forced)),
        refused(stage.preview(&own).map(drop)),
        kept(&stage, &own),
    ] {
        assert!(why.contains(expected), "{why}");
    }
    assert_eq!(stage.get(&path_of_map("front")), before);
}

#[test]
fn an_object_that_another_client_created_is_kept() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let mut map = config_map("front", "blue");
    stage.cluster.apply(&other_map(&json!({"a": "b"})));
    let why = kept(&stage, &map);
    assert!(why.contains("does not have the label"), "{why}");
    let label = json!({"emco/deployment-id": "7-front"});
    stage.cluster.apply(&other_map(&label));
    let why = kept(&stage, &map);
    assert!(
        why.contains("the manager `kindsight` owns no field"),
        "{why}"
    );

    // The applied object was deleted and created again.
    map.uid = Some(stage.apply(&map).unwrap());
    stage.cluster.delete(&path_of_map("front"));
    stage.apply(&map).unwrap();
    let why = kept(&stage, &map);
    assert!(why.contains("created a new one"), "{why}");
    map.uid = None;
    stage.delete_eventually(&map);
}
