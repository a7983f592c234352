use serde_json::json;

use super::*;

fn deployment() -> DeploymentId {
    "7-front".parse().unwrap()
}

fn label_at(json: &str, path: &str) -> Value {
    let value: Value = serde_json::from_str(json).unwrap();
    let labels = value.pointer(path).unwrap();
    labels[DeploymentId::LABEL].clone()
}

#[test]
fn the_label_is_on_the_resource_its_pod_template_and_its_claims() {
    let pods = "{metadata: {labels: {app: web}}, spec: {containers: []}}";
    let claims = "volumeClaimTemplates: [{metadata: {name: data}}]";
    let yaml = format!(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: db, labels: null}}\nspec: {{template: {pods}, {claims}}}\n"
    );
    let sent = labelled(&yaml, &deployment()).unwrap();
    for path in [
        "/metadata/labels",
        "/spec/template/metadata/labels",
        "/spec/volumeClaimTemplates/0/metadata/labels",
    ] {
        assert_eq!(label_at(&sent, path), "7-front", "{path}");
    }
    let kept: Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(kept["spec"]["template"]["metadata"]["labels"]["app"], "web");
    let job = format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: a}}\nspec: {{jobTemplate: {{spec: {{template: {pods}}}}}}}\n"
    );
    let sent = labelled(&job, &deployment()).unwrap();
    let path = "/spec/jobTemplate/spec/template/metadata/labels";
    assert_eq!(label_at(&sent, path), "7-front");
    let template =
        format!("apiVersion: v1\nkind: PodTemplate\nmetadata: {{name: a}}\ntemplate: {pods}\n");
    let sent = labelled(&template, &deployment()).unwrap();
    assert_eq!(label_at(&sent, "/template/metadata/labels"), "7-front");
}

#[test]
fn a_template_that_is_no_pod_template_is_not_changed() {
    let yaml =
        "apiVersion: x/v1\nkind: Sealed\nmetadata: {name: a}\nspec: {template: {data: {a: b}}}\n";
    let sent: Value = serde_json::from_str(&labelled(yaml, &deployment()).unwrap()).unwrap();
    assert_eq!(sent["spec"], json!({"template": {"data": {"a": "b"}}}));
}

#[test]
fn a_manifest_that_cannot_be_sent_is_refused_with_the_reason() {
    let check = |yaml: &str, part: &str| {
        let error = checked(yaml).unwrap_err();
        assert!(error.contains(part), "{yaml}: {error}");
    };
    let of = |more: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\n{more}");
    check("a: [", "not YAML");
    check("7", "not a Kubernetes object");
    check("apiVersion: v1\nkind: Pod\nmetadata: {}\n", "metadata.name");
    check("apiVersion: v1\nkind: List\nitems: []\n", "list");
    check(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a/b}\n",
        "name of a resource",
    );
    check(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {emco/deployment-id: 7-x}}\n",
        "emco/deployment-id",
    );
    check(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: [x]}\n",
        "`labels`",
    );
    check(&of("data: {password: REDACTED}\n"), "REDACTED");
    check(&of("stringData: {password: REDACTED}\n"), "REDACTED");
    let good = checked(&of("data: {password: aHVudGVyMg==}\n")).unwrap();
    assert_eq!(good.to_string(), "a+Secret");
}
