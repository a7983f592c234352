//! Children over HTTP: listed with their owner, counted by state, and left out of readiness.

use std::path::Path;
use std::sync::Arc;

use kindsight_appcontext::{Action, AppContexts, Record, Records};
use kindsight_model::{ContextStatus, DigName, RsyncStatus};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};

use crate::goldens::{Apps, instantiate};
use crate::monitor::{Monitor, deployment};
use crate::process::{Server, run, text};

const CLUSTER: &str = "p+edge01";
const ID: &str = "4711";

/// Two apps: a Deployment was sent for `web`, and no resource for `loose`.
const APPS: Apps<'_> = &[("web", &[("web", "Deployment", "apps/v1")]), ("loose", &[])];

fn fill(data: &Path) {
    let store: Arc<dyn Store> = Arc::new(RedbStore::open(&data.join("store.redb")).unwrap());
    let dig = DigName::new("p", "ca", "v1", "dig").unwrap();
    let action = json!({"state": "Instantiated", "instance": ID, "time": "2024-01-01T00:00:00Z"});
    let action: Action = serde_json::from_value(action).unwrap();
    let record = Record {
        profile: None,
        actions: vec![action],
    };
    let records = Records::new(Arc::clone(&store));
    records.create(&dig, &record).unwrap();
    let sent = (ContextStatus::Instantiated, RsyncStatus::Applied);
    let (contexts, id) = (AppContexts::new(store), ID.parse().unwrap());
    instantiate(&contexts, &id, &dig, (APPS, &[CLUSTER]), sent);
}

/// A Pod with an owner as Kind, name and uid.
fn pod(name: &str, owner: Option<[&str; 3]>, phase: &str) -> Value {
    let owners: Vec<Value> = owner
        .iter()
        .map(|[kind, name, uid]| json!({"kind": kind, "name": name, "uid": uid}))
        .collect();
    let ready = if phase == "Running" { "True" } else { "False" };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name, "ownerReferences": owners},
        "spec": {"restartPolicy": "Never"},
        "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}]},
    })
}

/// A Job that succeeded at its second Pod.
fn job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "warmup", "namespace": "default", "uid": "warmup-uid"},
        "spec": {"completions": 1, "backoffLimit": 6},
        "status": {"failed": 1, "succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]},
    })
}

fn report(folder: &Path, app: &str, status: &Value) {
    // Later monitors do not report owners.
    let report = Monitor::Onap.bundle(&format!("{ID}-{app}"), status);
    std::fs::write(folder.join(format!("{app}.json")), report.to_string()).unwrap();
}

/// A server whose cluster reported this on both apps.
fn serve(data: &Path, web: &Value, loose: &Value) -> Server {
    fill(data);
    let reports = data.join("reports");
    std::fs::create_dir(&reports).unwrap();
    report(&reports, "web", web);
    report(&reports, "loose", loose);
    Server::start(data, &[format!("{CLUSTER}={}", reports.display())])
}

fn ask(server: &Server, query: &str) -> Value {
    let dig = "/v2/projects/p/composite-apps/ca/v1/deployment-intent-groups/dig";
    let (status, answer) = server.get(&format!("{dig}/status?type=cluster&{query}"));
    assert_eq!(status, 200, "{answer}");
    answer
}

fn readiness(answer: &Value) -> [&Value; 3] {
    ["cluster-status", "ready-counts", "ready-status"].map(|member| &answer[member])
}

#[test]
fn a_child_is_listed_with_its_owner_which_answers_for_it() {
    let data = tempfile::tempdir().unwrap();
    let replica_set = Some(["ReplicaSet", "web-5d5c", "web-5d5c-uid"]);
    let web = json!({"deploymentStatuses": [deployment("web", 1, 1)],
        "podStatuses": [pod("web-5d5c-a", replica_set, "Running"), pod("web-5d5c-b", replica_set, "Failed")]});
    let of_job = Some(["Job", "warmup", "warmup-uid"]);
    let loose = json!({"jobStatuses": [job()],
        "podStatuses": [pod("warmup-a", of_job, "Failed"), pod("orphan", None, "Running")]});
    let server = serve(data.path(), &web, &loose);

    // No resource was sent: the Job and the orphan Pod count, but the Pod of the Job does not.
    let answer = ask(&server, "app=loose");
    let counts = json!({"Succeeded": 1, "Failed": 1, "Ready": 1});
    let expected = [&counts, &json!({"ready": 2}), &json!("Ready")];
    assert_eq!(readiness(&answer), expected);
    let resources = &answer["apps"][0]["clusters"][0]["resources"];
    let owner = |name: &str| {
        let mut resources = resources.as_array().unwrap().iter();
        let found = resources.find(|resource| resource["name"] == name).unwrap();
        assert_eq!(found["expected"], false, "{name}");
        found["owner"].clone()
    };
    let gvk = json!({"Group": "batch", "Version": "v1", "Kind": "Job"});
    let expected = json!({"GVK": gvk, "name": "warmup", "namespace": "default"});
    assert_eq!(owner("warmup-a"), expected);
    assert_eq!(owner("orphan"), Value::Null);
    assert_eq!(owner("warmup"), Value::Null);

    // If a query selects only the child, the child itself counts.
    let answer = ask(&server, "resource=warmup-a&output=summary");
    let expected = [
        &json!({"Failed": 1}),
        &json!({"failed": 1}),
        &json!("Failed"),
    ];
    assert_eq!(readiness(&answer), expected);

    // The ReplicaSet is not in the report, so its Pods are no children; the Deployment that was sent decides.
    let answer = ask(&server, "app=web");
    let expected = [
        &json!({"Ready": 2, "Failed": 1}),
        &json!({"ready": 1}),
        &json!("Ready"),
    ];
    assert_eq!(readiness(&answer), expected);
    assert!(!answer.to_string().contains("\"owner\""), "{answer}");

    let command = ["status", "p/ca/v1/dig", "--explain", "--server"];
    let output = run(&[&command[..], &[&server.url]].concat(), "");
    let table = text(&output.stdout);
    let row = table.lines().find(|line| line.contains("warmup-a"));
    assert!(row.is_some_and(|row| row.contains("Job warmup")), "{table}");
}

#[test]
fn pods_without_any_owner_in_the_report_answer_for_themselves() {
    let data = tempfile::tempdir().unwrap();
    let replica_set = Some(["ReplicaSet", "web-5d5c", "web-5d5c-uid"]);
    let pods = json!({"podStatuses": [
        pod("web-5d5c-a", replica_set, "Running"),
        pod("web-5d5c-b", replica_set, "Failed"),
    ]});
    let server = serve(data.path(), &pods, &pods);
    let answer = ask(&server, "app=loose");
    let expected = [
        &json!({"Ready": 1, "Failed": 1}),
        &json!({"ready": 1, "failed": 1}),
        &json!("Failed"),
    ];
    assert_eq!(readiness(&answer), expected);
    let answer = ask(&server, "app=web");
    assert_eq!(
        answer["ready-status"], "NotPresent",
        "the Deployment is missing"
    );
    assert_eq!(answer["ready-counts"], json!({"not-present": 1}));
}
