//! Rights: what is not allowed is told and costs nothing else, and heals by itself.

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
    kinds.any(|it| it.starts_with(&begin))
}

#[test]
fn a_right_that_is_missing_is_told_and_heals_when_it_comes() {
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
    stage.wait(SHOP, "what may be seen is seen", |it| {
        resources(it).len() == 1
    });
    stage.wait_for_cluster("edge01", "what may not is told", |it| {
        not_covered(it, "Service")
            && !not_covered(it, "ConfigMap")
            && it["connection"] == "connected"
            && it["coverage"] == "partial"
    });

    cluster.apply(&role(&["configmaps", "services"]));
    stage.wait(SHOP, "the right is used", |it| resources(it).len() == 2);
    stage.wait_for_cluster("edge01", "the right is told", |it| {
        !not_covered(it, "Service")
    });

    // Withdrawn: what it was used for may be out of date now.
    cluster.apply(&role(&["configmaps"]));
    stage.wait_for_cluster("edge01", "the loss is told", |it| {
        let why = it["error"].as_str().unwrap_or_default();
        let is_told = why.starts_with("a Kind cannot be followed any more: Service: not allowed: ");
        not_covered(it, "Service") && it["connection"] == "stale" && is_told
    });
    let more = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "more"}});
    cluster.apply(&labelled(more, "front"));
    let answer = stage.wait(SHOP, "the rest is followed", |it| resources(it).len() == 3);
    assert!(answer["stale-since"].is_string(), "{answer:#}");

    // Given back: it is fresh again, and nothing ever went.
    cluster.apply(&role(&["configmaps", "services"]));
    let answer = stage.wait(SHOP, "the right is used again", |it| {
        it["stale-since"].is_null()
    });
    assert_eq!(resources(&answer).len(), 3, "{answer:#}");
    let came = [
        "front - > Ready",
        "more - > Present",
        "settings - > Present",
    ];
    assert_eq!(transitions_in(&stage, "edge01"), came);
}
