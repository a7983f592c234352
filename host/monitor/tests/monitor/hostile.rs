//! Hostile objects: each affects only its own place in the report.

use serde_json::{Value, json};
use ureq::http::Method;

use crate::stage::{LABEL, PATIENCE, Stage, config_map, namespace, state_path};

const APP: &str = "7-front";
const THINGS: &str = "/apis/example.org/v1/namespaces/web/things";
/// Deeper than every reader of JSON accepts.
const DEPTH: usize = 900;

/// A Kind whose objects may have any content, which the monitor may read.
fn define(stage: &Stage) {
    let any = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    stage.cluster.apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.org"},
        "spec": {
            "group": "example.org", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": any}}],
        },
    }));
    let client = stage.cluster.client();
    client.wait_for_status("/apis/example.org/v1/things", 200, PATIENCE);
    let granted = stage.install(&["--yes", "--grant-discovered"]);
    assert!(granted.status.success(), "{granted:?}");
    let account = stage.account();
    account.wait_for_status("/apis/example.org/v1/things", 200, PATIENCE);
}

fn thing(name: &str, annotation: &str, status: &Value) -> Value {
    json!({
        "apiVersion": "example.org/v1", "kind": "Thing",
        "metadata": {"name": name, "namespace": "web", "labels": {LABEL: APP}, "annotations": {"note": annotation}},
        "status": status,
    })
}

#[test]
fn a_hostile_object_affects_only_itself() {
    let Some(stage) = Stage::installed("hostile") else {
        return;
    };
    namespace(&stage.cluster, "web");
    define(&stage);
    let deep = (0..DEPTH).fold(json!(1), |inner, _| json!({"a": inner}));
    let bell = json!({"phase": "bad\u{7}phase\u{202e}", "message": "z".repeat(1_000_000)});
    let hostile = [
        thing("deep", "", &deep),
        thing("large", &"y".repeat(250_000), &bell),
    ];
    for object in &hostile {
        // The answer about the deep object is no JSON for the client.
        let body = Some(("application/json", object));
        let answer = stage.cluster.client().request(Method::POST, THINGS, body);
        assert_eq!(answer.expect("an answer").status, 201);
    }
    stage.cluster.apply(&config_map("web", "settings", APP));
    stage.send_state("default", APP);
    let monitor = stage.start("alone", &[]);
    let expected = ["ConfigMap/web/settings", "Thing/web/large"];
    stage.wait_for_objects("default", APP, &expected);
    // Later changes of the neighbour are reported too.
    stage.cluster.apply(&config_map("web", "later", APP));
    let expected = [
        "ConfigMap/web/later",
        "ConfigMap/web/settings",
        "Thing/web/large",
    ];
    stage.wait_for_objects("default", APP, &expected);
    let state = stage.cluster.get(&state_path("default", APP));
    let state = state.expect("the object");
    let header = state.pointer("/metadata/annotations/kindsight.dev~1report");
    let header: Value = serde_json::from_str(header.and_then(Value::as_str).unwrap()).unwrap();
    let rejected = &header["rejected"][0];
    assert_eq!(
        (&rejected["kind"], &rejected["name"]),
        (&json!("Thing"), &json!("deep"))
    );
    let reason = rejected["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("nested too deeply"), "{header:#}");
    let mut coverage = header["coverage"].as_array().into_iter().flatten();
    let coverage = coverage.find(|row| row["kind"] == "Thing");
    assert_eq!(coverage.expect("the Kind")["state"], "incomplete");
    drop(monitor);
}
