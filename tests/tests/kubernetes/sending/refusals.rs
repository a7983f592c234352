//! Manifests that the API server refuses, and the texts about them.

use kindsight_clusters::ObjectError;
use serde_json::{Value, json};

use super::{NAMESPACE, Sent, Stage, config_map, path_of_map, refused, unreachable};

/// The content of Secrets, which no text may contain.
const CONTENT: &str = "hunter2hunter2";

fn secret(members: &Value) -> Sent {
    let mut manifest = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": NAMESPACE},
    });
    for (name, value) in members.as_object().unwrap() {
        manifest[name] = value.clone();
    }
    Sent::new(manifest)
}

#[test]
fn no_text_contains_the_content_of_a_secret() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    let without_content = |error: ObjectError| {
        let text = format!("{error:?} {error}");
        assert!(!text.contains(CONTENT), "{text}");
        assert!(!text.contains("aHVudGVy"), "{text}");
        text
    };
    let wrong = [
        json!({"stringData": {"a": {"b": CONTENT}}}),
        json!({"data": {"a": [CONTENT]}}),
        json!({"data": {"a": format!("{CONTENT}!")}}),
        json!({"data": CONTENT}),
        json!({"type": [CONTENT]}),
        json!({"type": "kubernetes.io/tls", "stringData": {"tls.crt": CONTENT}}),
        json!({"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": CONTENT}}),
        json!({"stringData": {format!("{CONTENT}/ /"): "a"}, CONTENT: {"a": "b"}}),
    ];
    for members in &wrong {
        let sent = secret(members);
        let why = without_content(stage.apply(&sent).unwrap_err());
        assert!(why.contains("Refused"), "{why}");
        without_content(stage.preview(&sent).map(drop).unwrap_err());
    }
    // A conflict, and a change of an immutable Secret.
    stage
        .cluster
        .apply(&secret(&json!({"data": {"a": "aHVudGVyMmh1bnRlcjI="}})).manifest);
    let other = secret(&json!({"data": {"a": "aHVudGVyMw=="}}));
    let why = without_content(stage.apply(&other).unwrap_err());
    assert!(why.contains(".data.a"), "{why}");
    let immutable = secret(&json!({"data": {"a": "aHVudGVyMg=="}, "immutable": true}));
    stage.apply(&immutable.forced()).unwrap();
    let why = without_content(stage.apply(&other.forced()).unwrap_err());
    assert!(
        why.contains("422 Invalid: ") && why.contains("data FieldValueForbidden"),
        "{why}"
    );
}

#[test]
fn hostile_manifests_are_refused_without_another_attempt() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    let map = |path: &str, value: Value| {
        let mut map = config_map("front", "blue");
        *map.manifest.pointer_mut(path).unwrap() = value;
        map
    };
    let mut deep = json!({"a": 1});
    for _ in 0..100 {
        deep = json!({"a": deep});
    }
    let long = "a".repeat(3 * 1024 * 1024);
    let hostile = [
        map("/metadata/name", "../secrets/front".into()),
        map("/metadata/name", "..".into()),
        map("/metadata/name", "a%2fb".into()),
        map("/metadata/name", "a?force=true".into()),
        map("/metadata/name", "a\r\nImpersonate-User: admin".into()),
        map("/metadata/name", "Front".into()),
        map("/metadata/name", "a".repeat(300).into()),
        map("/metadata/name", json!({"a": "b"})),
        map("/metadata/namespace", "shop/configmaps/x?".into()),
        map("/metadata/namespace", "../kube-system".into()),
        map("/metadata/namespace", json!(["shop"])),
        map("/metadata/namespace", "absent".into()),
        map("/apiVersion", "v1/../../x".into()),
        map("/apiVersion", "".into()),
        map("/apiVersion", "/".into()),
        map("/apiVersion", "V1".into()),
        map("/kind", "configmaps".into()),
        map("/kind", "".into()),
        map("/data", deep),
        map("/data/colour", long.into()),
        map("/data", json!({"colour": 7})),
        map("/data", json!({"/ ": "a"})),
    ];
    for sent in &hostile {
        let why = match stage.apply(sent) {
            Err(ObjectError::Refused(why)) => why,
            done => panic!("{}: {done:?}", &sent.manifest.to_string()[..100]),
        };
        assert!(why.len() < 1000, "{why}");
        assert!(!why.contains(['\n', '\r']), "{why}");
    }
    assert!(stage.get(&path_of_map("front")).is_none());
    // No request reached another object.
    let maps = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let maps = stage.get(&maps).unwrap();
    assert_eq!(maps["items"], json!([]));
}

#[test]
fn manifests_with_unknown_or_maintained_members_are_refused() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    let mut unknown = config_map("front", "blue");
    unknown.manifest["colour"] = "blue".into();
    refused(stage.apply(&unknown));
    for member in ["managedFields", "resourceVersion", "uid"] {
        let mut sent = config_map("front", "blue");
        sent.manifest["metadata"][member] = match member {
            "managedFields" => json!([{"manager": "a", "operation": "Apply"}]),
            _ => "7".into(),
        };
        let why = refused(stage.apply(&sent));
        assert!(why.contains(member), "{why}");
    }
    let invalid = "{\"apiVersion\": \"v1\"";
    let rights = kindsight_clusters::ProjectRights::default();
    let refusal = stage
        .runtime
        .block_on(stage.sender.apply(&kindsight_clusters::SentObject {
            manifest: invalid,
            deployment: &"7-front".parse().unwrap(),
            rights: &rights,
            uid: None,
            force: false,
        }));
    refused(refusal);
}

#[test]
fn an_object_of_a_namespace_that_is_being_deleted_is_tried_again() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    let mut held = config_map("held", "blue");
    held.manifest["metadata"]["finalizers"] = json!(["example.com/hold"]);
    stage.apply(&held).unwrap();
    stage
        .cluster
        .delete(&format!("/api/v1/namespaces/{NAMESPACE}"));
    let why = unreachable(stage.apply(&config_map("front", "blue")));
    assert_eq!(why, "its namespace is being deleted");
    let released = json!({"metadata": {"finalizers": null}});
    stage.cluster.patch(
        &path_of_map("held"),
        "application/merge-patch+json",
        &released,
    );
}
