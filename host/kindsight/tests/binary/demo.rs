//! `kindsight demo`.

use std::path::Path;

use kindsight_server::Demo;
use serde_json::Value;

use crate::goldens::{CONTEXT, DIG, status_path};
use crate::monitor::Monitor;
use crate::process::{Server, pause, run, text};

/// Data of the recorded Secret, plain and encoded. No output may contain it.
const SECRETS: [&str; 4] = [
    "not-to-be-shown-0451",
    "sink-not-to-be-shown",
    "bm90LXRvLWJlLXNob3duLTA0NTE=",
    "c2luay1ub3QtdG8tYmUtc2hvd24=",
];

/// The state of a resource: app, cluster, name and state.
type State = (&'static str, &'static str, &'static str, &'static str);

/// States of resources whose Kinds every monitor reports.
const STATES: [State; 7] = [
    ("packetgen", "edge01", "fw0-packetgen", "Ready"),
    ("packetgen", "edge01", "packetgen-warmup", "Succeeded"),
    ("packetgen", "edge01", "packetgen-service", "Ready"),
    ("packetgen", "edge02", "packetgen-warmup", "Pending"),
    ("firewall", "edge02", "fw0-firewall", "Failed"),
    ("sink", "edge02", "fw0-sink", "Failed"),
    ("sink", "edge02", "sink-service", "NotPresent"),
];

/// States of resources of other Kinds.
const STATES_OF_OTHERS: [State; 5] = [
    ("firewall", "edge01", "firewall-logs", "Ready"),
    ("firewall", "edge01", "firewall-gateway", "Ready"),
    ("firewall", "edge02", "firewall-logs", "Pending"),
    ("firewall", "edge02", "firewall-gateway", "Pending"),
    ("sink", "edge01", "protected-private-net", "Present"),
];

/// The state of a resource in an answer.
fn state(answer: &Value, app: &str, cluster: &str, name: &str) -> String {
    let find = |list: &Value, key: &str, value: &str| {
        let mut entries = list.as_array().unwrap().iter();
        let found = entries.find(|entry| entry[key] == value);
        found.unwrap_or_else(|| panic!("no {value}")).clone()
    };
    let app = find(&answer["apps"], "name", app);
    let cluster = find(&app["clusters"], "cluster", cluster);
    let resource = find(&cluster["resources"], "name", name);
    resource["cluster-status"].as_str().unwrap().to_owned()
}

/// Rewrites the recorded reports of a cluster as a monitor writes them. The specs of Deployments and Jobs become older
/// ones, which request more.
fn rewrite(reports: &Path, monitor: Monitor) {
    for entry in std::fs::read_dir(reports).unwrap() {
        let file = entry.unwrap().path();
        if file.is_dir() {
            continue;
        }
        let mut bundle: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let objects = &mut bundle["status"];
        for member in ["ready", "resourceCount"] {
            objects.as_object_mut().unwrap().remove(member);
        }
        for (list, field) in [
            ("deploymentStatuses", "replicas"),
            ("jobStatuses", "completions"),
        ] {
            let items = objects.get_mut(list).and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                item["spec"][field] = 9.into();
            }
        }
        bundle["status"] = monitor.status(objects);
        std::fs::write(&file, bundle.to_string()).unwrap();
    }
}

#[test]
fn reports_without_a_spec_or_with_an_old_one_show_the_same_states() {
    for monitor in Monitor::ALL {
        let folder = tempfile::tempdir().unwrap();
        drop(Demo::write_to(folder.path()).unwrap());
        let cluster = |name: &str| {
            let reports = folder.path().join(format!("vfw-cluster-provider+{name}"));
            rewrite(&reports, monitor);
            format!("vfw-cluster-provider+{name}={}", reports.display())
        };
        let clusters = ["edge01", "edge02"].map(cluster);
        let server = Server::start(&folder.path().join("data"), &clusters);
        let (_, answer) = server.get(&status_path("?type=cluster"));
        for (app, cluster, name, expected) in STATES {
            let state = state(&answer, app, cluster, name);
            assert_eq!(state, expected, "{monitor:?}: {name} on {cluster}");
        }
        for (app, cluster, name, reported) in STATES_OF_OTHERS {
            let expected = match monitor {
                Monitor::Onap => "Unknown",
                Monitor::V22 => reported,
            };
            let state = state(&answer, app, cluster, name);
            assert_eq!(state, expected, "{monitor:?}: {name} on {cluster}");
        }
        // An unknown state hides whether the application works, so it outweighs a failure.
        let as_a_whole = match monitor {
            Monitor::Onap => "Unknown",
            Monitor::V22 => "Failed",
        };
        assert_eq!(answer["ready-status"], as_a_whole, "{monitor:?}");
    }
}

#[test]
fn the_demo_shows_broken_resources_as_not_ready() {
    let output = run(&["demo", "--once", "-o", "json"], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (app, cluster, name, expected) in STATES.into_iter().chain(STATES_OF_OTHERS) {
        let state = state(&answer, app, cluster, name);
        assert_eq!(state, expected, "{name} on {cluster}");
    }
    let levels = ["apps", "clusters", "resources"];
    let mut parts = vec![&answer];
    for level in levels {
        let below = parts.into_iter().filter_map(|part| part[level].as_array());
        parts = below.flatten().collect();
    }
    let children = parts.into_iter().filter(|part| part.get("owner").is_some());
    let children: Vec<_> = children
        .map(|child| (&child["GVK"]["Kind"], &child["owner"]["name"]))
        .collect();
    // The Pods of the Job on both clusters. The ReplicaSets of the other Pods are in no report.
    let pod = (&"Pod".into(), &"packetgen-warmup".into());
    assert_eq!(children, [pod, pod]);
    assert_eq!(answer["ready-status"], "Failed");
    assert!(text(&output.stdout).contains("ImagePullBackOff"));
}

#[test]
fn the_table_has_a_row_for_every_resource_and_the_totals() {
    let output = run(&["demo", "--once"], "");
    let table = text(&output.stdout);
    let head = table.lines().next().unwrap();
    let columns: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(
        columns,
        [
            "APP", "CLUSTER", "KIND", "NAME", "STATE", "REASON", "AGE", "MESSAGE"
        ]
    );
    assert_eq!(
        table
            .lines()
            .filter(|line| line.contains(" edge02 "))
            .count(),
        16
    );
    assert!(table.contains("as a whole: Failed"), "{table}");
    for secret in SECRETS {
        assert!(!table.contains(secret));
    }
}

#[test]
fn the_application_of_a_running_demo_is_terminated_and_instantiated_again() {
    let server = Server::demo();
    let wait_for = |what: &str, query: &str, is_so: &dyn Fn(&Value) -> bool| {
        let begin = std::time::Instant::now();
        loop {
            let answer = server.get(&status_path(query)).1;
            if is_so(&answer) {
                return answer;
            }
            assert!(begin.elapsed().as_secs() < 60, "{what}: {answer}");
            pause();
        }
    };
    let act = |word: &str| {
        let output = run(&[word, DIG, "--wait", "--server", &server.url], "");
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    act("terminate");
    wait_for("a resource is not deleted", "", &|answer| {
        answer["rsync-status"] == serde_json::json!({"Deleted": 22})
    });
    let answer = wait_for("an object is reported", "?type=cluster", &|answer| {
        answer["cluster-status"] == serde_json::json!({"NotPresent": 22})
    });
    assert_eq!(answer["ready-status"], "Terminated");
    act("instantiate");
    let cluster = "?type=cluster";
    let group = wait_for("the new instance is not reported", cluster, &|answer| {
        answer["ready-status"] == "Failed"
    });
    let last = &group["state"]["Actions"][4];
    assert_eq!(last["State"], "Instantiated");
    assert_ne!(last["ContextId"], CONTEXT);
}
