//! A CustomResourceDefinition and its objects.

use kindsight_clusters::ObjectDeletion;
use serde_json::{Value, json};

use super::{NAMESPACE, Sent, Stage, refused, unreachable};

const GROUP: &str = "example.com";

fn definition(plural: &str, kind: &str, versions: &[&str]) -> Sent {
    let versions = versions.iter().enumerate().map(|(position, version)| {
        json!({
            "name": version, "served": true, "storage": position == 0,
            "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }},
        })
    });
    let versions: Vec<Value> = versions.collect();
    let definition = Sent::new(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "versions": versions,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
        },
    }));
    definition.by_account("admin")
}

fn object(kind: &str, version: &str) -> Sent {
    Sent::new(json!({
        "apiVersion": format!("{GROUP}/{version}"), "kind": kind,
        "metadata": {"name": "one", "namespace": NAMESPACE}, "spec": {"size": 1},
    }))
}

/// Makes the account `admin` an administrator of the cluster.
fn make_admin(stage: &Stage) {
    stage.cluster.apply(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "admin-of-tests"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
            "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "namespace": NAMESPACE, "name": "admin"}],
    }));
}

#[test]
fn a_definition_and_its_objects_are_applied_and_deleted_in_one_run() {
    let Some(stage) = Stage::start() else {
        return;
    };
    make_admin(&stage);
    let widgets = definition("widgets", "Widget", &["v1", "v1beta1"]);
    let objects = ["v1", "v1beta1"].map(|version| object("Widget", version));
    for object in &objects {
        // The definition is sent before its objects.
        stage.vet(object).unwrap();
    }
    let why = refused(stage.apply(&objects[0]));
    assert!(why.contains("the Kind Widget of example.com/v1"), "{why}");

    stage.apply_eventually(&widgets);
    for object in &objects {
        stage.apply(object).unwrap();
    }
    // Another Kind of the group may follow.
    let gadget = object("Gadget", "v1");
    let why = unreachable(stage.apply(&gadget));
    assert!(
        why.contains("the new Kind Gadget of example.com/v1"),
        "{why}"
    );
    stage.apply_eventually(&definition("gadgets", "Gadget", &["v1"]));
    stage.apply(&gadget).unwrap();

    // Names that another definition has are refused.
    let why = refused(stage.apply(&definition("others", "Widget", &["v1"])));
    assert!(why.contains("names of the Kind are not accepted"), "{why}");

    // An object is deleted by another version of its Kind than the version of its manifest.
    stage
        .apply(&definition("widgets", "Widget", &["v1"]))
        .unwrap();
    stage.delete_eventually(&objects[1]);
    let path = format!("/apis/{GROUP}/v1/namespaces/{NAMESPACE}/widgets/one");
    assert!(stage.get(&path).is_none());
    stage.apply(&objects[0]).unwrap();
    stage.delete_eventually(&widgets);
    for object in &objects {
        assert_eq!(stage.delete(object).unwrap(), ObjectDeletion::Deleted);
    }
}

#[test]
fn a_kind_that_is_not_served_is_refused_by_its_name() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    for (version, kind, expected) in [
        (
            "other.example.com/v1",
            "Thing",
            "Thing of other.example.com/v1",
        ),
        ("apps/v7", "Deployment", "Deployment of apps/v7"),
        ("v1", "Deployment", "Deployment of v1"),
        // No object of this Kind can be applied.
        (
            "authorization.k8s.io/v1",
            "SubjectAccessReview",
            "SubjectAccessReview of",
        ),
    ] {
        let thing = Sent::new(json!({
            "apiVersion": version, "kind": kind, "metadata": {"name": "one"},
        }));
        stage.vet(&thing).unwrap();
        let why = refused(stage.apply(&thing));
        assert!(why.contains(expected), "{why}");
        let why = refused(stage.preview(&thing).map(drop));
        assert!(why.contains(expected), "{why}");
        assert_eq!(stage.delete(&thing).unwrap(), ObjectDeletion::Deleted);
    }
}
