//! Reports on apps: objects that appear, change and disappear in every way that the original monitor misses.

use kindsight_model::PART_LABEL;
use serde_json::json;

use crate::stage::{LABEL, PATIENCE, STATES, Stage, config_map, namespace, state_path, wait};

const APP: &str = "7-front";
const MERGE: &str = "application/merge-patch+json";

#[test]
fn a_report_follows_every_creation_change_deletion_and_removed_label() {
    let Some(stage) = Stage::installed("reports") else {
        return;
    };
    let cluster = &stage.cluster;
    namespace(cluster, "web");
    namespace(cluster, "jobs");
    // These objects are older than the ResourceBundleState.
    for (space, name) in [("web", "old"), ("jobs", "old"), ("web", "leaving")] {
        cluster.apply(&config_map(space, name, APP));
    }
    cluster.apply(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "of-front", "labels": {LABEL: APP}}, "rules": [],
    }));
    // An object without the label, and one of another app.
    cluster.apply(&config_map("web", "other", "8-back"));
    stage.send_state("default", APP);
    let monitor = stage.start("alone", &[]);
    stage.wait_for_objects(
        "default",
        APP,
        &[
            "ClusterRole//of-front",
            "ConfigMap/jobs/old",
            "ConfigMap/web/leaving",
            "ConfigMap/web/old",
        ],
    );
    assert!(
        stage
            .cluster
            .get(&state_path("default", "8-back"))
            .is_none(),
        "only a sender creates ResourceBundleStates"
    );

    // A change, a removed label and a deletion.
    let of_web = "/api/v1/namespaces/web/configmaps";
    cluster.patch(
        &format!("{of_web}/old"),
        MERGE,
        &json!({"data": {"changed": "yes"}}),
    );
    cluster.patch(
        &format!("{of_web}/leaving"),
        MERGE,
        &json!({"metadata": {"labels": {LABEL: null}}}),
    );
    assert!(cluster.delete("/api/v1/namespaces/jobs/configmaps/old"));
    stage.wait_for_objects(
        "default",
        APP,
        &["ClusterRole//of-front", "ConfigMap/web/old"],
    );
    wait(
        "the change is in the report",
        || {
            stage
                .cluster
                .get(&state_path("default", APP))
                .map(|it| it.to_string())
        },
        |text| {
            text.as_ref()
                .is_some_and(|text| text.contains("\"changed\""))
        },
    );
    follows_the_sender(&stage);
    drop(monitor);
}

/// The last objects and the ResourceBundleState disappear, and the sender makes another one.
fn follows_the_sender(stage: &Stage) {
    let cluster = &stage.cluster;
    // The last object disappears: the report is empty, and the ResourceBundleState remains.
    assert!(cluster.delete("/apis/rbac.authorization.k8s.io/v1/clusterroles/of-front"));
    assert!(cluster.delete("/api/v1/namespaces/web/configmaps/old"));
    stage.wait_for_objects("default", APP, &[]);
    // A ResourceBundleState that a sender makes again is filled again, also in another namespace.
    cluster.apply(&config_map("web", "new", APP));
    assert!(cluster.delete(&state_path("default", APP)));
    stage.send_state("web", APP);
    stage.wait_for_objects("web", APP, &["ConfigMap/web/new"]);
}

#[test]
fn secrets_are_absent_without_their_role_and_only_metadata_with_it() {
    let Some(stage) = Stage::installed("secrets") else {
        return;
    };
    let cluster = &stage.cluster;
    namespace(cluster, "web");
    cluster.apply(&json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "key", "namespace": "web", "labels": {LABEL: APP}},
        "stringData": {"password": "not to be seen"}}));
    cluster.apply(&config_map("web", "settings", APP));
    stage.send_state("default", APP);
    let monitor = stage.start("alone", &["--watch-lifetime", "5s", "--dialect", "onap"]);
    stage.wait_for_objects("default", APP, &["ConfigMap/web/settings"]);
    let status = || {
        let state = stage.cluster.get(&state_path("default", APP));
        state.expect("the object")["status"].clone()
    };
    assert!(status().get("secretStatuses").is_none(), "{:#}", status());

    assert!(
        stage
            .install(&["--yes", "--grant-secrets"])
            .status
            .success()
    );
    stage
        .account()
        .wait_for_status("/api/v1/secrets", 200, PATIENCE);
    stage.wait_for_objects(
        "default",
        APP,
        &["ConfigMap/web/settings", "Secret/web/key"],
    );
    let text = status().to_string();
    // "bm90IHRvIGJlIHNlZW4=" is the value in base64.
    for secret in ["bm90IHRvIGJlIHNlZW4", "not to be seen", "password"] {
        assert!(!text.contains(secret), "{text}");
    }
    drop(monitor);
}

#[test]
fn only_with_create_the_monitor_makes_resource_bundle_states() {
    let Some(stage) = Stage::installed("create") else {
        return;
    };
    namespace(&stage.cluster, "web");
    stage.cluster.apply(&config_map("web", "settings", APP));
    let monitor = stage.start("alone", &["--create"]);
    stage.wait_for_objects("default", APP, &["ConfigMap/web/settings"]);
    let state = stage.cluster.get(&state_path("default", APP)).expect("it");
    assert_eq!(state["metadata"]["labels"][LABEL], APP);
    assert_eq!(state["spec"]["selector"]["matchLabels"][LABEL], APP);
    // A later app is found too.
    stage.cluster.apply(&config_map("web", "other", "8-back"));
    stage.wait_for_objects("default", "8-back", &["ConfigMap/web/other"]);
    drop(monitor);
}

#[test]
fn with_create_a_deleted_object_is_made_again_and_the_log_names_a_taken_name() {
    let Some(stage) = Stage::installed("create-again") else {
        return;
    };
    let cluster = &stage.cluster;
    namespace(cluster, "web");
    cluster.apply(&config_map("web", "settings", APP));
    // An object without the label has the name of the object of another app.
    cluster.apply(&json!({
        "apiVersion": "k8splugin.io/v1alpha1", "kind": "ResourceBundleState",
        "metadata": {"name": "8-back", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {LABEL: "8-back"}}},
    }));
    cluster.apply(&config_map("web", "other", "8-back"));
    let monitor = stage.start("alone", &["--create"]);
    stage.wait_for_objects("default", APP, &["ConfigMap/web/settings"]);
    let is_named = |log: &String| log.contains("default/8-back exists without the label");
    let log = wait("the log names the object", || monitor.log(), is_named);
    assert_eq!(log.matches("ResourceBundleState created").count(), 1);

    assert!(cluster.delete(&state_path("default", APP)));
    stage.wait_for_objects("default", APP, &["ConfigMap/web/settings"]);
    cluster.patch(
        &state_path("default", "8-back"),
        MERGE,
        &json!({"metadata": {"labels": {LABEL: "8-back"}}}),
    );
    stage.wait_for_objects("default", "8-back", &["ConfigMap/web/other"]);
}

#[test]
fn a_further_object_that_is_deleted_is_written_again() {
    let Some(stage) = Stage::installed("further") else {
        return;
    };
    namespace(&stage.cluster, "web");
    stage.cluster.apply(&config_map("web", "settings", APP));
    // ONAP has no list for this Kind.
    stage.cluster.apply(&json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": "policy", "namespace": "web", "labels": {LABEL: APP}},
        "spec": {"podSelector": {}},
    }));
    stage.send_state("default", APP);
    let monitor = stage.start("alone", &["--dialect", "onap"]);
    let further = || {
        let path = format!("{STATES}?labelSelector={PART_LABEL}");
        let list = stage.cluster.client().get(&path).unwrap_or_default();
        let items = list["items"].as_array().into_iter().flatten();
        let items = items.filter(|item| !item["status"]["resourceStatuses"].is_null());
        let names = items.map(|item| {
            let metadata = &item["metadata"];
            let text = |member: &str| metadata[member].as_str().unwrap_or_default().to_owned();
            (text("name"), text("uid"))
        });
        names.collect::<Vec<_>>()
    };
    let before = wait("a further object", further, |found| found.len() == 1);
    assert!(stage.cluster.delete(&state_path("default", &before[0].0)));
    let after = wait("a further object again", further, |found| {
        found.len() == 1 && *found != before
    });
    assert_eq!(after[0].0, before[0].0);
    drop(monitor);
}

#[test]
fn an_unchanged_report_is_not_written_again() {
    let Some(stage) = Stage::installed("unchanged") else {
        return;
    };
    namespace(&stage.cluster, "web");
    stage.cluster.apply(&config_map("web", "settings", APP));
    stage.send_state("default", APP);
    let version = || {
        let state = stage.cluster.get(&state_path("default", APP)).expect("it");
        state["metadata"]["resourceVersion"].clone()
    };
    let first = stage.start("same", &[]);
    stage.wait_for_objects("default", APP, &["ConfigMap/web/settings"]);
    first.kill();
    let before = version();
    // A monitor with the same identity, and another app that shows that the monitor has written.
    let second = stage.start("same", &[]);
    stage.cluster.apply(&config_map("web", "other", "8-back"));
    stage.send_state("default", "8-back");
    stage.wait_for_objects("default", "8-back", &["ConfigMap/web/other"]);
    wait(
        "the monitor compared the first report",
        || second.log(),
        |log| log.contains("every Kind of the cluster was read"),
    );
    assert_eq!(version(), before);
    assert!(stage.cluster.get(STATES).is_some());
}
