//! Updates, rollbacks, dry runs, dependencies and reasons.

use std::fs;

use serde_json::Value;

use super::{GROUP, NAME, Stage, wait_until};
use crate::process::Server;

/// The application with this content of `front`, which waits for `back` to be ready.
fn application(stage: &Stage, front: &str) {
    let text = format!(
        "project: shop\ncomposite-app: web\nversion: v1\ndeployment-intent-group: prod\napps:\n- name: front\n  any-of: [[lab+edge02, lab+edge01]]\n  depends-on:\n  - {{app: back, status: ready}}\n  manifests:\n{front}- name: back\n  clusters: [lab+edge01]\n  manifests:\n{}",
        map("back", "blue")
    );
    fs::write(stage.path("app.yaml"), text).unwrap();
}

fn map(name: &str, colour: &str) -> String {
    format!(
        "  - apiVersion: v1\n    kind: ConfigMap\n    metadata: {{name: {name}}}\n    data: {{colour: {colour}}}\n"
    )
}

/// `name colour` of each sent manifest.
fn sent(stage: &Stage, cluster: &str) -> Vec<String> {
    let manifests = stage.manifests(cluster).into_iter();
    let line = |action: Value| {
        let (name, data) = (&action["metadata"]["name"], &action["data"]["colour"]);
        format!("{} {}", name.as_str().unwrap(), data.as_str().unwrap())
    };
    let mut lines: Vec<String> = manifests.map(line).collect();
    lines.sort();
    lines
}

fn instantiated(stage: &Stage, server: &Server) {
    application(stage, &(map("one", "blue") + &map("two", "blue")));
    stage.create(server);
    wait_until("the clusters are not connected", || {
        let clusters = server.get("/v2/clusters").1;
        let clusters = clusters["clusters"].as_array().unwrap();
        clusters
            .iter()
            .all(|cluster| cluster["connection"] == "connected")
    });
    stage.succeed(server, &["instantiate", NAME]);
    wait_until("the app back is not sent", || {
        !stage.manifests("edge01").is_empty()
    });
    let group = server.get(GROUP).1;
    assert_eq!(group["lifecycle"]["running"], true, "{group}");
    assert!(stage.manifests("edge02").is_empty());
    stage.report("edge01");
    wait_until("the app front is not sent", || {
        server.get(GROUP).1["lifecycle"]["running"] == false
    });
    assert_eq!(sent(stage, "edge02"), ["one blue", "two blue"]);
}

#[test]
fn an_application_is_updated_and_rolled_back() {
    let stage = Stage::new();
    let server = stage.start();
    application(&stage, &map("one", "blue"));
    let unknown = stage.run(&server, &["apply", "-f", "app.yaml", "--dry-run"]);
    assert_eq!(unknown.0, Some(0), "{unknown:?}");
    assert_eq!(server.get(GROUP).0, 404);
    instantiated(&stage, &server);
    let label = stage.manifests("edge02")[0]["metadata"]["labels"].clone();

    let front = map("one", "blue") + &map("two", "green") + &map("three", "blue");
    application(&stage, &front);
    let shown = stage.succeed(&server, &["apply", "-f", "app.yaml", "--dry-run"]);
    assert_eq!(
        shown,
        "unchanged: front lab+edge02 ConfigMap/one\nupdate: front lab+edge02 ConfigMap/two: data.colour\ncreate: front lab+edge02 ConfigMap/three\nunchanged: back lab+edge01 ConfigMap/back\n"
    );
    stage.succeed(&server, &["apply", "-f", "app.yaml"]);
    let (code, _, errors) = stage.run(&server, &["update", NAME]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("approved first"), "{errors}");
    stage.succeed(&server, &["approve", NAME]);
    let updated = stage.succeed(&server, &["update", NAME, "--wait"]);
    assert_eq!(
        updated,
        format!("{NAME}: Instantiated, instance Instantiated\n")
    );
    assert_eq!(
        sent(&stage, "edge02"),
        ["one blue", "three blue", "two green"]
    );
    for manifest in stage.manifests("edge02") {
        assert_eq!(manifest["metadata"]["labels"], label);
    }
    assert_eq!(server.get(GROUP).1["revisions"], serde_json::json!([1, 2]));

    let back = ["rollback", NAME, "--revision", "1", "--wait"];
    stage.succeed(&server, &back);
    assert_eq!(sent(&stage, "edge02"), ["one blue", "two blue"]);
    let (code, _, errors) = stage.run(&server, &["rollback", NAME, "--revision", "9"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("no revision 9"), "{errors}");
    stage.succeed(&server, &["terminate", NAME, "--wait"]);
    assert!(stage.manifests("edge02").is_empty());
}

#[test]
fn the_reason_of_a_resource_that_is_not_sent_is_shown() {
    let stage = Stage::new();
    let server = stage.start();
    stage.create(&server);
    fs::remove_dir_all(stage.path("edge02")).unwrap();
    let waited = ["instantiate", NAME, "--wait", "--timeout", "10s"];
    let (code, output, _) = stage.run(&server, &waited);
    assert_eq!(code, Some(5));
    let line = "front lab+edge02 ConfigMap/map-0: Retrying: ";
    assert!(output.contains(line), "{output}");
    assert!(!output.contains("edge01"), "{output}");
    wait_until("a resource has no reason", || {
        server.get(GROUP).1["problems"].as_array().unwrap().len() == 21
    });
    fs::create_dir(stage.path("edge02")).unwrap();
    wait_until("the problems remain", || {
        server.get(GROUP).1["problems"] == serde_json::json!([])
    });
}

#[test]
fn the_status_of_an_updated_application_has_its_new_clusters_and_resources() {
    let stage = Stage::new();
    let server = stage.start();
    let write = |clusters: &str, manifests: &str| {
        let text = format!(
            "project: shop\ncomposite-app: web\nversion: v1\ndeployment-intent-group: prod\napps:\n- name: front\n  clusters: [{clusters}]\n  manifests:\n{manifests}"
        );
        fs::write(stage.path("app.yaml"), text).unwrap();
    };
    write("lab+edge01", &(map("one", "blue") + &map("two", "blue")));
    stage.create(&server);
    stage.succeed(&server, &["instantiate", NAME, "--wait"]);
    stage.report("edge01");
    stage.succeed(&server, &["status", NAME, "--wait", "--hold", "1ms"]);
    write(
        "lab+edge01, lab+edge02",
        &(map("one", "blue") + &map("three", "blue")),
    );
    stage.create(&server);
    stage.succeed(&server, &["update", NAME, "--wait", "--force"]);
    for cluster in ["edge01", "edge02"] {
        stage.report(cluster);
    }
    stage.succeed(&server, &["status", NAME, "--wait", "--hold", "1ms"]);
    let status = server.get(&format!("{GROUP}/status?type=cluster")).1;
    let clusters = status["apps"][0]["clusters"].as_array().unwrap();
    let mut found = Vec::new();
    for cluster in clusters {
        for resource in cluster["resources"].as_array().unwrap() {
            let [cluster, name] = [&cluster["cluster"], &resource["name"]];
            found.push([cluster, name].map(|value| value.as_str().unwrap()));
        }
    }
    found.sort_unstable();
    let expected = [
        ["edge01", "one"],
        ["edge01", "three"],
        ["edge02", "one"],
        ["edge02", "three"],
    ];
    assert_eq!(found, expected, "{status}");
}

#[test]
fn only_the_reviewed_content_is_approved() {
    let stage = Stage::new();
    let server = stage.start();
    let applied = |colour: &str| {
        application(&stage, &map("one", colour));
        let (code, _, hint) = stage.run(&server, &["apply", "-f", "app.yaml"]);
        assert_eq!(code, Some(0), "{hint}");
        let tag = server.get(GROUP).1["lifecycle"]["content"].clone();
        let tag = tag.as_str().unwrap().to_owned();
        let approval = format!("approve {NAME} --if-content {tag}");
        assert!(hint.contains(&approval), "{hint}");
        tag
    };
    let reviewed = applied("blue");
    let changed = applied("green");
    let approve = |tag: &str| stage.run(&server, &["approve", NAME, "--if-content", tag]);
    let (code, _, errors) = approve(&reviewed);
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("412") && errors.contains(&changed),
        "{errors}"
    );
    assert_eq!(server.get(GROUP).1["lifecycle"]["state"], "Created");
    assert_eq!(approve(&changed).0, Some(0));
    let answer = ureq::get(format!("{}{GROUP}", server.url)).call().unwrap();
    let tag = answer.headers().get("etag").unwrap().to_str().unwrap();
    assert_eq!(tag, format!("\"{changed}\""));
}

#[test]
fn a_group_that_names_an_unknown_controller_fails_before_anything_is_sent() {
    let stage = Stage::new();
    let server = stage.start();
    application(&stage, &map("one", "blue"));
    let file = stage.path("app.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text + "controllers:\n- {name: near, intent: customers}\n",
    )
    .unwrap();
    stage.create(&server);
    let intent = &server.get(GROUP).1["intent"];
    assert_eq!(intent["controllers"][0]["intent"], "customers", "{intent}");
    let (code, output, _) = stage.run(&server, &["instantiate", NAME, "--wait"]);
    assert_eq!(code, Some(4));
    assert!(output.contains("no such controller"), "{output}");
    assert!(stage.manifests("edge01").is_empty());
}
