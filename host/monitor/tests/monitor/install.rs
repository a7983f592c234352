//! The command `install`.

use serde_json::{Value, json};

use crate::stage::{DEFINITION, PATIENCE, STATES, Stage};

fn lines(output: &std::process::Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_installation_shows_its_changes_and_a_second_one_has_none() {
    let Some(stage) = Stage::empty("install") else {
        return;
    };
    let shown = lines(&stage.install(&["--dry-run"]));
    for object in [
        "create    CustomResourceDefinition resourcebundlestates.k8splugin.io",
        "create    Deployment kindsight-monitor",
        "create    ClusterRole kindsight-monitor-secrets",
    ] {
        assert!(shown.contains(object), "{shown}");
    }
    assert!(
        stage.cluster.get(DEFINITION).is_none(),
        "a dry run changes nothing"
    );
    // Without a terminal and without `--yes`, nothing is changed.
    let refused = stage.install(&[]);
    assert!(!refused.status.success(), "{refused:?}");
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(why.contains("--yes"), "{why}");
    assert!(stage.cluster.get(DEFINITION).is_none());

    lines(&stage.install(&["--yes"]));
    stage
        .cluster
        .client()
        .wait_for_status(STATES, 200, PATIENCE);
    // Controllers add an annotation to the Deployment and the rules to the aggregated role.
    let again = lines(&stage.install(&["--dry-run"]));
    assert!(!again.contains("create"), "{again}");
    assert!(again.contains("has these objects already"), "{again}");

    let changed = lines(&stage.install(&["--yes", "--image", "registry.example/monitor:2"]));
    assert!(
        changed.contains("change    Deployment kindsight-monitor"),
        "{changed}"
    );
    assert!(changed.contains("registry.example/monitor:2"), "{changed}");
}

#[test]
fn an_existing_definition_is_kept_and_its_consequence_is_named() {
    let Some(stage) = Stage::empty("existing") else {
        return;
    };
    let text = |properties: Value| json!({"type": "object", "properties": properties});
    let name = text(json!({"name": {"type": "string"}, "namespace": {"type": "string"}}));
    let items = text(json!({"metadata": name}));
    let status = text(json!({"podStatuses": {"type": "array", "items": items}}));
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "resourcebundlestates.k8splugin.io"},
        "spec": {
            "group": "k8splugin.io", "scope": "Namespaced",
            "names": {"plural": "resourcebundlestates", "singular": "resourcebundlestate",
                "kind": "ResourceBundleState"},
            "versions": [{"name": "v1alpha1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": text(json!({"status": status}))}}],
        },
    });
    let before = stage.cluster.apply(&definition);
    let shown = lines(&stage.install(&["--yes"]));
    assert!(
        shown.contains("keep      CustomResourceDefinition"),
        "{shown}"
    );
    assert!(shown.contains("match children by name"), "{shown}");
    let after = stage.cluster.get(DEFINITION).expect("the definition");
    assert_eq!(after["spec"], before["spec"]);
    lines(&stage.install(&["--yes"]));
}

#[test]
fn discovered_kinds_are_granted_by_name() {
    let Some(stage) = Stage::installed("discovered") else {
        return;
    };
    stage.cluster.apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "cranes.example.org"},
        "spec": {
            "group": "example.org", "scope": "Namespaced",
            "names": {"plural": "cranes", "singular": "crane", "kind": "Crane"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}],
        },
    }));
    let cranes = "/apis/example.org/v1/cranes";
    stage
        .cluster
        .client()
        .wait_for_status(cranes, 200, PATIENCE);
    let account = stage.account();
    account.wait_for_status(cranes, 403, PATIENCE);
    let shown = lines(&stage.install(&["--yes", "--grant-discovered"]));
    assert!(
        shown.contains("ClusterRole kindsight-monitor-discovered"),
        "{shown}"
    );
    account.wait_for_status(cranes, 200, PATIENCE);
    let secrets = account.request(ureq_get(), "/api/v1/secrets", None);
    assert_eq!(secrets.expect("an answer").status, 403);
    lines(&stage.install(&["--yes", "--grant-secrets"]));
    account.wait_for_status("/api/v1/secrets", 200, PATIENCE);
}

fn ureq_get() -> ureq::http::Method {
    ureq::http::Method::GET
}
