//! Reports of monitors that omit the spec, or report an old one: interpreters receive the spec of the manifest.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, NewResource, ResourceName, StatusChange};
use kindsight_model::{DeploymentId, RsyncStatus, decode_status};
use serde_json::{Value, json};

use super::stage::{Stage, context, reported};

/// The only context.
const ID: &str = "1";

/// A context that sends a Deployment with two replicas, whose status is `Applied`.
fn stage() -> Stage {
    let mut stage = Stage::new(&[]);
    stage.publish(&["generic", "apps"]);
    stage.follow(0);
    let mut new = context(&["a"]);
    new.apps[0].clusters[0].resources = vec![NewResource {
        resource: front(),
        manifest:
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "front"},
            "spec": {"replicas": 2}})
            .to_string(),
    }];
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    contexts.create_as(&ID.parse().unwrap(), &new).unwrap();
    stage.follow_stores(0);
    stage.send(RsyncStatus::Applied);
    stage
}

fn front() -> ResourceName {
    ResourceName::new("front", "Deployment").unwrap()
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
        let contexts = AppContexts::new(Arc::clone(&self.store));
        let change = StatusChange {
            app: "a",
            cluster: &"p+c".parse().unwrap(),
            resource: &front(),
            status,
        };
        let id = ID.parse().unwrap();
        let _ = contexts.record_resource_statuses(&id, &[change]).unwrap();
        self.follow_stores(100);
    }

    /// The monitor reports the Deployment.
    fn report(&mut self, deployment: &Value) {
        let status = json!({"deploymentStatuses": [deployment]}).to_string();
        let deployment = DeploymentId {
            context: ID.parse().unwrap(),
            app: "a".into(),
        };
        let bundle = decode_status(deployment, status.as_bytes()).unwrap();
        self.pipeline.handle(reported("p+c", bundle), 1000);
    }

    /// The state and the reason of the Deployment, and whether its spec is the one of the manifest.
    fn verdict(&self) -> (String, String, bool) {
        let view = self.view(ID);
        let resources = view.apps[0].clusters[0].resources();
        let front = resources.iter().next().unwrap();
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
    let front = view.apps[0].clusters[0].resources().iter().next().unwrap();
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
