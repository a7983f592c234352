//! Fixtures of reported objects: the input of a verdict, reduced, with the verdict as the promise.

use std::sync::Arc;

use expect_test::expect;
use kindsight_interpreter::{Limits, RecordError, RecordedFixture, ReportedGroup, record_fixture};
use kindsight_model::{Coverage, Object};
use serde_json::{Value, json};

use crate::{Host, component, thing, upload};

/// A host with the built-in interpreters of these names.
fn host(names: &[&str]) -> Host {
    let built_in = names.iter().map(|name| {
        let built_in = kindsight_plugins::built_in(name).expect("a built-in interpreter");
        built_in.wasm.to_vec()
    });
    let built_in: Vec<Vec<u8>> = built_in.collect();
    Host::over(Arc::default(), &built_in)
}

fn object(json: &Value) -> Object {
    Object::from_json(json.to_string()).expect("an object")
}

fn group(objects: Vec<Object>) -> ReportedGroup {
    ReportedGroup {
        label: None,
        application: None,
        objects: objects.into(),
        related: [].into(),
        covered: Coverage::partial(),
    }
}

/// Records the first object of a group.
fn record(host: &Host, objects: Vec<Object>) -> Result<RecordedFixture, RecordError> {
    let group = group(objects);
    let object = group.objects.get(0).expect("an object").clone();
    let set = host.catalog.interpreters().published();
    record_fixture(&Limits::default(), &set, &group, &object, crate::NOW_MS)
}

fn owned(kind: &str, name: &str, (owner_kind, owner): (&str, &str), more: &Value) -> Value {
    let mut object = json!({
        "apiVersion": if kind == "Pod" { "v1" } else { "apps/v1" }, "kind": kind,
        "metadata": {"name": name, "namespace": "web", "uid": name, "labels": {"app": "front"},
            "annotations": {"note": "an unrelated text"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": owner_kind, "name": owner, "uid": owner, "controller": true}]},
    });
    for (key, value) in more.as_object().expect("members") {
        object[key] = value.clone();
    }
    object
}

#[test]
fn a_deployment_is_recorded_with_its_pods_and_without_other_fields() {
    let host = host(&["apps"]);
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "front", "namespace": "web", "uid": "front", "generation": 1, "annotations": {"note": "an unrelated text"}},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "front"}}, "template": {"spec": {"containers": [{"env": [{"name": "PASSWORD", "value": "unrelated"}]}]}}},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1,
            "conditions": [{"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"}]},
    });
    let waiting = json!({"status": {"phase": "Pending", "containerStatuses": [
        {"name": "front", "restartCount": 7, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}}]}});
    let objects = vec![
        object(&deployment),
        object(&owned(
            "ReplicaSet",
            "front-1",
            ("Deployment", "front"),
            &json!({}),
        )),
        object(&owned(
            "Pod",
            "front-1-a",
            ("ReplicaSet", "front-1"),
            &waiting,
        )),
        object(
            &json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "web"}, "data": {"k": "c2VjcmV0"}}),
        ),
    ];
    let recorded = record(&host, objects).expect("a fixture");
    assert_eq!(recorded.by.name.as_str(), "apps");
    let text = Value::Object(recorded.fixture.clone()).to_string();
    for absent in ["unrelated", "Secret", "c2VjcmV0", "PASSWORD"] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
    let fixture = Value::Object(recorded.fixture);
    let related = fixture["related"].as_array().expect("related objects");
    let names = related.iter().map(|object| &object["metadata"]["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["front-1-a"], "{text}");
    assert_eq!(fixture["coverage"], "partial");
    expect![[r#"{"reason":"CrashLoopBackOff","state":"Failed"}"#]]
        .assert_eq(&fixture["expect"].to_string());
}

/// The owners between an object and its descendants are related objects of the fixture too.
#[test]
fn a_descendant_is_recorded_with_its_owners() {
    let host = host(&["generic"]);
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "front", "namespace": "web", "uid": "front"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    });
    let mut set = owned("ReplicaSet", "front-1", ("Widget", "front"), &json!({}));
    set["metadata"]["ownerReferences"][0]["apiVersion"] = "example.com/v1".into();
    let pod = owned(
        "Pod",
        "front-1-a",
        ("ReplicaSet", "front-1"),
        &json!({"status": {"phase": "Running"}}),
    );
    let objects = vec![object(&widget), object(&set), object(&pod)];
    let recorded = record(&host, objects).expect("a fixture");
    let fixture = Value::Object(recorded.fixture);
    let related = fixture["related"].as_array().expect("related objects");
    let names = related.iter().map(|object| &object["metadata"]["name"]);
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["front-1", "front-1-a"],
        "{fixture}"
    );
    assert_eq!(fixture["expect"]["state"], "Ready");
}

#[test]
fn the_time_and_the_settings_of_the_call_are_recorded() {
    let host = host(&["batch"]);
    let job = json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "web", "creationTimestamp": "2023-11-14T00:00:00Z"},
        "spec": {"schedule": "0 3 * * *"},
        "status": {"lastScheduleTime": "2023-11-14T03:00:00Z", "lastSuccessfulTime": "2023-11-14T03:01:00Z"},
    });
    let recorded = record(&host, vec![object(&job)]).expect("a fixture");
    let fixture = Value::Object(recorded.fixture);
    assert_eq!(fixture["now"], "2023-11-14T22:13:20Z", "{fixture}");
    assert!(fixture["expect"]["state"].is_string(), "{fixture}");
}

#[test]
fn an_object_that_cannot_be_a_fixture_is_refused_with_the_reason() {
    let host = Host::new();
    let recorded = record(&host, vec![thing("a", "{}")]);
    assert_eq!(recorded, Err(RecordError::NotJudged));
    host.load(&upload("a", component("a", "1.0.0")));
    let panics = record(&host, vec![thing("a", r#"{"do": "panic"}"#)]);
    let error = panics.expect_err("a fault").to_string();
    assert!(
        error.contains("panics as asked") && error.contains("a fault of the interpreter"),
        "{error}"
    );
    let invalid = record(
        &host,
        vec![thing("a", r#"{"do": "invalid-object", "text": "no"}"#)],
    );
    let invalid = Value::Object(invalid.expect("a fixture").fixture);
    assert_eq!(invalid["expect"], json!({"failure": "invalid-object"}));
}

/// The guest `parked` changes one case of a built-in rule, and calls the rule for the others.
#[test]
fn an_interpreter_that_amends_a_built_in_rule_loads_with_its_fixtures() {
    let host = host(&["apps"]);
    let mut guests = kindsight_tests::GUESTS.iter();
    let parked = guests.find(|guest| guest.name == "parked");
    let parked = parked.expect("it was built").wasm.to_vec();
    assert_eq!(
        host.load(&upload("parked", parked)),
        "Live: parked 1.0.0 is live"
    );
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "front", "annotations": {"example.com/parked": "true"}},
        "spec": {"replicas": 3}, "status": {"replicas": 3},
    });
    let batch: Arc<[Object]> = [object(&deployment)].into();
    let verdicts = host.catalog.interpreters().judge_each(&batch, 0);
    let verdict = verdicts.first().expect("a verdict");
    assert_eq!((&*verdict.state, &*verdict.reason), ("Suspended", "Parked"));
}
