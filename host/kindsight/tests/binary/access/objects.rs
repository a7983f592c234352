//! Objects of the applications of these tests.

use serde_json::{Value, json};

/// An object of an application.
pub(super) fn config_map(application: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": format!("{application}-settings"), "namespace": "default",
            "labels": {"app.kubernetes.io/part-of": application},
        },
    })
}

/// A Deployment of `shop` whose selector also selects a broken Pod of `bank`.
pub(super) fn selected_across_applications() -> [Value; 2] {
    let metadata = |name: &str, application: &str| {
        json!({
            "name": name, "namespace": "default",
            "labels": {"tier": "front", "app.kubernetes.io/part-of": application},
        })
    };
    let spec = json!({"containers": [{"name": "vault", "image": "registry/vault:1"}]});
    let waiting = json!({"waiting": {
        "reason": "ImagePullBackOff", "message": "cannot pull registry/vault:1",
    }});
    let condition = |kind: &str, reason: &str| {
        json!({
            "type": kind, "status": "False", "reason": reason, "message": "",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    };
    let selector = json!({"tier": "front"});
    [
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("shop-web", "shop"),
            "spec": {
                "selector": {"matchLabels": selector},
                "template": {"metadata": {"labels": selector}, "spec": spec},
            },
            "status": {
                "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "unavailableReplicas": 1,
                "conditions": [condition("Available", "MinimumReplicasUnavailable")],
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": metadata("bank-ledger-0", "bank"),
            "spec": spec,
            "status": {
                "phase": "Pending",
                "conditions": [condition("Ready", "ContainersNotReady")],
                "containerStatuses": [{
                    "name": "vault", "image": "registry/vault:1", "imageID": "", "ready": false,
                    "restartCount": 0, "state": waiting,
                }],
            },
        }),
    ]
}
