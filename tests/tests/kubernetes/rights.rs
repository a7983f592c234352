//! Permissions: a missing permission is reported, affects only its Kind, and the fault ends when the permission is
//! granted.

use kindsight_cluster::{Credentials, Options};
use serde_json::{Value, json};

use crate::history::transitions_in;
use crate::stage::{SHOP, Stage, labelled, resources};

pub(crate) fn role(resources: &[&str]) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "watcher"},
        "rules": [{"apiGroups": [""], "resources": resources, "verbs": ["get", "list", "watch"]}],
    })
}

pub(crate) fn binding() -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "watcher"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "watcher"},
        "subjects": [{"kind": "User", "name": "watcher", "apiGroup": "rbac.authorization.k8s.io"}],
    })
}

fn not_covered(cluster: &Value, kind: &str) -> bool {
    let kinds = cluster["not-covered"].as_array();
    let begin = format!("{kind}: not allowed: ");
    let mut kinds = kinds.into_iter().flatten().filter_map(Value::as_str);
    kinds.any(|entry| entry.starts_with(&begin))
}

#[test]
fn a_missing_permission_is_reported_until_it_is_granted() {
    let options = [Options::api_server("edge01").user("watcher", &[], "watchertoken")];
    let token = |_: &_| Credentials::Token("watchertoken".to_owned());
    let Some(stage) = Stage::start(&options, token) else {
        return;
    };
    let cluster = &stage.clusters[0];
    cluster.apply(&role(&["configmaps"]));
    cluster.apply(&binding());
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}});
    cluster.apply(&labelled(config, "front"));
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
        "spec": {"ports": [{"port": 80}]}});
    cluster.apply(&labelled(service, "front"));
    stage.wait(SHOP, "permitted Kinds are watched", |answer| {
        resources(answer).len() == 1
    });
    stage.wait_for_cluster("edge01", "forbidden Kinds are reported", |cluster| {
        not_covered(cluster, "Service")
            && !not_covered(cluster, "ConfigMap")
            && cluster["connection"] == "connected"
            && cluster["coverage"] == "partial"
    });

    cluster.apply(&role(&["configmaps", "services"]));
    stage.wait(SHOP, "the permission is used", |answer| {
        resources(answer).len() == 2
    });
    stage.wait_for_cluster("edge01", "the permission is noticed", |cluster| {
        !not_covered(cluster, "Service")
    });

    // The permission is withdrawn: the objects of its Kind are unknown, and nothing else is affected.
    cluster.apply(&role(&["configmaps"]));
    stage.wait_for_cluster("edge01", "the withdrawal is reported", |cluster| {
        not_covered(cluster, "Service") && cluster["connection"] == "connected"
    });
    let more = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "more"}});
    cluster.apply(&labelled(more, "front"));
    let answer = stage.wait(SHOP, "the rest is followed", |answer| {
        resources(answer).len() == 3
    });
    assert!(answer["stale-since"].is_null(), "{answer:#}");
    assert_eq!(answer["cluster-status"]["Unknown"], 1, "{answer:#}");

    // The permission is granted again, and no object was ever listed as gone.
    cluster.apply(&role(&["configmaps", "services"]));
    let answer = stage.wait(SHOP, "the permission is used again", |answer| {
        answer["cluster-status"]["Unknown"].is_null()
    });
    assert_eq!(resources(&answer).len(), 3, "{answer:#}");
    let came = [
        "front - > Ready",
        "front Ready > Unknown",
        "front Unknown > Ready",
        "more - > Present",
        "settings - > Present",
    ];
    assert_eq!(transitions_in(&stage, "edge01"), came);
}
