//! `kindsight history`, for an application whose reports are in a folder.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::goldens::{CONTEXT, DIG, fill_store};
use crate::monitor::{Monitor, deployment};
use crate::process::{Server, run, text};

const CLUSTER: &str = "vfw-cluster-provider+edge01";

/// The report on a Deployment with this number of ready replicas.
fn report(ready: u32) -> String {
    let objects = json!({"deploymentStatuses": [deployment("fw0-sink", 1, ready)]});
    let report = Monitor::Onap.bundle(&format!("{CONTEXT}-sink"), &objects);
    report.to_string()
}

fn write(reports: &Path, ready: u32) {
    std::fs::write(reports.join("sink.json"), report(ready)).unwrap();
}

fn start(data: &Path, reports: &Path) -> Server {
    Server::start(data, &[format!("{CLUSTER}={}", reports.display())])
}

fn history(server: &Server, more: &[&str]) -> Output {
    run(&[&["history", "--server", &server.url], more].concat(), "")
}

/// The new states in the transitions of the Deployment in that cluster, newest first.
fn states(server: &Server) -> Vec<String> {
    let only = ["--cluster", CLUSTER, "--resource", "fw0-sink", "-o", "json"];
    let answer = history(server, &[&[DIG], &only[..]].concat());
    let answer: Value = serde_json::from_str(&text(&answer.stdout)).unwrap();
    let transitions = answer["transitions"].as_array().unwrap().iter();
    let states =
        transitions.map(|transition| transition["to"]["state"].as_str().unwrap().to_owned());
    states.collect()
}

/// Waits until the Deployment has had these states.
fn wait_for(server: &Server, expected: &[&str]) {
    let begin = std::time::Instant::now();
    loop {
        let states = states(server);
        if states == expected {
            return;
        }
        assert!(begin.elapsed().as_secs() < 60, "{states:?}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn the_history_survives_a_stop_and_a_kill() {
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill_store(data.path());
    let server = start(data.path(), reports.path());
    write(reports.path(), 1);
    wait_for(&server, &["Ready", "Unknown"]);
    // A stop always writes the history.
    assert!(server.stop());
    let server = start(data.path(), reports.path());
    wait_for(&server, &["Ready", "Unknown"]);
    write(reports.path(), 0);
    wait_for(&server, &["Pending", "Ready", "Unknown"]);
    // The server writes the history every two seconds, so a crash loses no older transition.
    std::thread::sleep(std::time::Duration::from_secs(6));
    server.kill();
    let server = start(data.path(), reports.path());
    wait_for(&server, &["Pending", "Ready", "Unknown"]);
    server.kill();
    // A change while the server is stopped is one transition.
    write(reports.path(), 1);
    let server = start(data.path(), reports.path());
    wait_for(&server, &["Ready", "Pending", "Ready", "Unknown"]);
}

#[test]
fn the_history_lists_the_newest_transition_first() {
    let (data, reports) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill_store(data.path());
    let server = start(data.path(), reports.path());
    wait_for(&server, &["Unknown"]);
    write(reports.path(), 0);
    wait_for(&server, &["Pending", "Unknown"]);
    write(reports.path(), 1);
    wait_for(&server, &["Ready", "Pending", "Unknown"]);

    let table = history(&server, &["compositevfw/vfw_deployment_intent_group"]);
    let table = text(&table.stdout);
    let mut lines = table.lines();
    assert!(lines.next().unwrap().starts_with("AT "), "{table}");
    let newest = lines.next().unwrap();
    for part in [
        "sink",
        CLUSTER,
        "Deployment fw0-sink",
        "Pending  Ready",
        "Available",
    ] {
        assert!(newest.contains(part), "{newest}");
    }
    let first = history(&server, &[DIG, "--limit", "1"]);
    let first = text(&first.stdout);
    assert!(first.contains("and more; --before "), "{first}");
    let refused = history(&server, &[DIG, "--resource", "typo"]);
    assert_eq!(refused.status.code(), Some(1));
    let told = text(&refused.stderr);
    assert!(told.contains("there is no `typo`"), "{told}");
    assert_eq!(history(&server, &[CLUSTER]).status.code(), Some(1));
}
