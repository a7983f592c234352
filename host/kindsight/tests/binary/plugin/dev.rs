//! `kindsight plugin dev`, beside a real API server.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options};
use serde_json::{Value, json};

use super::{WIDGET, is_possible};
use crate::process::{kindsight, run};

/// Time for a build and for the answer of `kubectl`.
const PATIENCE: Duration = Duration::from_mins(1);

/// The Kind that each new project judges, with a status of its own.
fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}

/// Waits for a line that begins with these words.
fn wait_for(lines: &mpsc::Receiver<String>, words: &[&str]) {
    let mut printed = Vec::new();
    loop {
        let line = lines
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| panic!("no line {words:?} after {printed:#?}"));
        let found: Vec<&str> = line.split_whitespace().collect();
        if found.starts_with(words) {
            return;
        }
        printed.push(line);
    }
}

#[test]
fn an_edit_changes_the_verdicts_of_the_objects_of_a_cluster() {
    if !is_possible("dev of a rule in C", &["clang", "wasm-ld"]) {
        return;
    }
    let needed = [Binary::API_SERVER, &[Binary::Kubectl]].concat();
    let Some(binaries) = Binaries::or_skip(&needed) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("one"));
    cluster.apply(&definition());
    let client = cluster.client();
    client.wait_for_status("/apis/example.com/v1/widgets", 200, PATIENCE);
    let mut widget: Value = serde_json::from_str(WIDGET).unwrap();
    widget["metadata"] = json!({"name": "w", "namespace": "default"});
    widget["status"]["observedGeneration"] = json!(1);
    cluster.apply(&widget);

    let place = tempfile::tempdir().unwrap();
    let parent = place.path().to_str().unwrap();
    let new = ["plugin", "new", "widgets", "--language", "c"];
    run(&[&new[..], &["--parent", parent]].concat(), "");
    let project = place.path().join("widgets");
    let tools = binaries.path(Binary::Kubectl).parent().unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let kubeconfig = format!("--kubeconfig={}", cluster.kubeconfig().display());
    let dev = ["plugin", "dev", project.to_str().unwrap(), &kubeconfig];
    let mut dev = kindsight(&dev)
        .env("PATH", path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let printed = BufReader::new(dev.stdout.take().unwrap());
    let (sent, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in printed.lines().map_while(Result::ok) {
            let _ = sent.send(line);
        }
    });
    wait_for(&lines, &["Widget", "default", "w", "Ready", "Done"]);
    wait_for(&lines, &["waiting", "for", "a", "change"]);
    let rule = project.join("rule.c");
    let text = fs::read_to_string(&rule).unwrap();
    let edited = text.replace(
        r#"ks_string(ks_get(condition, "message"))"#,
        r#"KS_TEXT("edited")"#,
    );
    assert_ne!(edited, text);
    fs::write(&rule, edited).unwrap();
    wait_for(
        &lines,
        &["Widget", "default", "w", "Ready", "Done", "edited"],
    );
    dev.kill().unwrap();
    dev.wait().unwrap();
}
