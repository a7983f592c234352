//! Reports of monitors that omit the spec, or report an old one: interpreters receive the spec of the manifest.

mod confirmations;

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, NewResource, ResourceName, StatusChange};
use kindsight_model::{DeploymentId, RsyncStatus, decode_status};
use kindsight_store::Batch;
use serde_json::{Value, json};

use super::stage::{Stage, context, reported};

/// The only context.
const ID: &str = "1";

/// A context that sends a Deployment with two replicas, whose status is `Applied`.
fn stage() -> Stage {
    stage_with(&[])
}

/// As [`stage`], with other resources that the app `b` sends to the same cluster.
fn stage_with(others: &[Value]) -> Stage {
    let mut stage = Stage::new(&[]);
    stage.publish(&["generic", "apps"]);
    stage.follow(0);
    let mut new = context(&["a", "b"]);
    new.apps[0].clusters[0].resources = vec![resource(&manifest(2))];
    new.apps[1].clusters[0].resources = others.iter().map(resource).collect();
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    contexts.create_as(&ID.parse().unwrap(), &new).unwrap();
    stage.follow_stores(0);
    stage.send(RsyncStatus::Applied);
    stage
}

/// The manifest of the Deployment with this number of replicas.
fn manifest(replicas: i64) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "front"},
        "spec": {"replicas": replicas}})
}

/// The manifest of an autoscaler of this object.
fn autoscaler(kind: &str, name: &str) -> Value {
    json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "scaler"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": name}, "minReplicas": 1}})
}

fn resource(manifest: &Value) -> NewResource {
    NewResource {
        resource: name_of(manifest),
        manifest: manifest.to_string(),
    }
}

fn name_of(manifest: &Value) -> ResourceName {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    ResourceName::new(
        &text(&manifest["metadata"]["name"]),
        &text(&manifest["kind"]),
    )
    .unwrap()
}

/// The Deployment with this number of ready replicas, as a monitor without specs reports it.
fn without_spec(ready: i64) -> Value {
    json!({
        "metadata": {"name": "front", "namespace": "default", "generation": 1},
        "status": {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "readyReplicas": ready,
            "availableReplicas": ready,
            "conditions": [{"type": "Available", "status": "True"},
                {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]},
    })
}

impl Stage {
    /// The orchestrator notes the result of sending the Deployment.
    fn send(&mut self, status: RsyncStatus) {
        self.send_of("a", &manifest(2), status);
    }

    /// The orchestrator notes the result of sending a resource of an app.
    fn send_of(&mut self, app: &str, manifest: &Value, status: RsyncStatus) {
        let contexts = AppContexts::new(Arc::clone(&self.store));
        let change = StatusChange {
            app,
            cluster: &"p+c".parse().unwrap(),
            resource: &name_of(manifest),
            status,
        };
        let id = ID.parse().unwrap();
        let _ = contexts.record_resource_statuses(&id, &[change]).unwrap();
        self.follow_stores(100);
    }

    /// The monitor reports the Deployment.
    fn report(&mut self, deployment: &Value) {
        self.report_of("a", &json!({"deploymentStatuses": [deployment]}));
    }

    /// The monitor reports on an app.
    fn report_of(&mut self, app: &str, status: &Value) {
        let status = status.to_string();
        let deployment = DeploymentId {
            context: ID.parse().unwrap(),
            app: app.into(),
        };
        let bundle = decode_status(deployment, status.as_bytes()).unwrap();
        self.pipeline.handle(reported("p+c", bundle), 1000);
    }

    /// The state and the reason of the Deployment, and whether its spec is the one of the manifest.
    fn verdict(&self) -> (String, String, bool) {
        let view = self.view(ID);
        let resources = view.apps[0].clusters()[0].resources();
        let mut resources = resources.iter();
        let front = resources
            .find(|resource| &*resource.gvk.kind == "Deployment")
            .unwrap();
        let (state, reason) = (&front.verdict.state, &front.verdict.reason);
        (
            state.to_string(),
            reason.to_string(),
            front.has_manifest_spec(),
        )
    }
}

fn expect(stage: &Stage, state: &str, reason: &str, is_manifest: bool) {
    let expected = (state.to_owned(), reason.to_owned(), is_manifest);
    assert_eq!(stage.verdict(), expected);
}

#[test]
fn an_object_without_a_spec_is_compared_with_its_manifest() {
    let mut stage = stage();
    stage.report(&without_spec(1));
    expect(&stage, "Pending", "Unavailable", true);
    stage.report(&without_spec(2));
    expect(&stage, "Ready", "Available", true);
    // The answer shows the object as the cluster reported it.
    let view = stage.view(ID);
    let front = view.apps[0].clusters()[0]
        .resources()
        .iter()
        .next()
        .unwrap();
    let json = &front.object.as_ref().unwrap().json;
    assert!(!json.contains("spec"), "{json}");
}

#[test]
fn the_manifest_counts_only_while_it_is_applied() {
    let mut stage = stage();
    stage.report(&without_spec(1));
    expect(&stage, "Pending", "Unavailable", true);
    stage.send(RsyncStatus::Retrying);
    assert!(!stage.verdict().2);
    assert_ne!(stage.verdict().0, "Ready");
    stage.send(RsyncStatus::Applied);
    expect(&stage, "Pending", "Unavailable", true);
}

#[test]
fn an_old_spec_is_replaced_by_the_manifest() {
    let mut stage = stage();
    // The monitor updates only the status of an item, and its definition removes the generation.
    let mut old = without_spec(1);
    old["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("generation");
    old["spec"] = json!({"replicas": 1});
    old["status"]["replicas"] = json!(1);
    old["status"]["updatedReplicas"] = json!(1);
    stage.report(&old);
    expect(&stage, "Pending", "FewerThanSent", true);
    // With a generation, the spec is current.
    old["metadata"]["generation"] = json!(1);
    stage.report(&old);
    expect(&stage, "Ready", "Available", false);
}

/// The Deployment with one replica, which works.
fn reduced() -> Value {
    let mut reduced = without_spec(1);
    reduced["status"]["replicas"] = json!(1);
    reduced["status"]["updatedReplicas"] = json!(1);
    reduced
}

#[test]
fn fewer_replicas_than_sent_are_ready_if_an_applied_autoscaler_of_any_app_targets_them() {
    let scaler = autoscaler("Deployment", "front");
    let mut stage = stage_with(std::slice::from_ref(&scaler));
    stage.report(&reduced());
    expect(&stage, "Pending", "FewerThanSent", true);
    stage.send_of("b", &scaler, RsyncStatus::Applied);
    expect(&stage, "Ready", "Available", true);
    // Later versions of the report keep the autoscaler, and it hides no other problem.
    stage.report(&without_spec(1));
    expect(&stage, "Pending", "Unavailable", true);
    stage.report(&reduced());
    expect(&stage, "Ready", "Available", true);
    stage.send_of("b", &scaler, RsyncStatus::Deleted);
    expect(&stage, "Pending", "FewerThanSent", true);
}

#[test]
fn an_autoscaler_of_another_object_does_not_count() {
    for (kind, name) in [("Deployment", "back"), ("StatefulSet", "front")] {
        let scaler = autoscaler(kind, name);
        let mut stage = stage_with(std::slice::from_ref(&scaler));
        stage.report(&reduced());
        stage.send_of("b", &scaler, RsyncStatus::Applied);
        expect(&stage, "Pending", "FewerThanSent", true);
    }
}

#[test]
fn a_reported_autoscaler_counts_like_one_that_was_sent() {
    // The Kind of an item counts more than the Kind of its list.
    let report = |objects: &[&Value]| json!({"deploymentStatuses": objects});
    let reduced = reduced();
    let mut scaler = autoscaler("Deployment", "front");
    let mut stage = stage();
    stage.report(&reduced);
    stage.report_of("b", &report(&[&scaler]));
    expect(&stage, "Ready", "Available", true);
    // The same object has another target now.
    scaler["spec"]["scaleTargetRef"]["name"] = json!("back");
    stage.report_of("b", &report(&[&scaler]));
    expect(&stage, "Pending", "FewerThanSent", true);
    // The monitor of the same app reports it.
    scaler["spec"]["scaleTargetRef"]["name"] = json!("front");
    stage.report_of("a", &report(&[&reduced, &scaler]));
    expect(&stage, "Ready", "Available", true);
    scaler["metadata"]["namespace"] = json!("other");
    stage.report_of("a", &report(&[&reduced, &scaler]));
    expect(&stage, "Pending", "FewerThanSent", true);
}
