//! `kindsight demo`.

use serde_json::Value;

use crate::process::{run, text};

/// Data of the recorded Secret, plain and encoded. No output may contain it.
const SECRETS: [&str; 4] = [
    "not-to-be-shown-0451",
    "sink-not-to-be-shown",
    "bm90LXRvLWJlLXNob3duLTA0NTE=",
    "c2luay1ub3QtdG8tYmUtc2hvd24=",
];

#[test]
fn the_demo_shows_broken_resources_as_not_ready() {
    let output = run(&["demo", "--once", "-o", "json"], "");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let state = |app: &str, cluster: &str, name: &str| {
        let find = |list: &Value, key: &str, value: &str| {
            let found = list
                .as_array()
                .unwrap()
                .iter()
                .find(|entry| entry[key] == value);
            found.unwrap_or_else(|| panic!("no {value}")).clone()
        };
        let cluster = find(
            &find(&answer["apps"], "name", app)["clusters"],
            "cluster",
            cluster,
        );
        find(&cluster["resources"], "name", name)["cluster-status"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for (app, cluster, name, expected) in [
        ("packetgen", "edge01", "fw0-packetgen", "Ready"),
        ("packetgen", "edge01", "packetgen-warmup", "Succeeded"),
        ("packetgen", "edge02", "packetgen-warmup", "Pending"),
        ("firewall", "edge01", "firewall-logs", "Ready"),
        ("firewall", "edge01", "firewall-gateway", "Ready"),
        ("firewall", "edge02", "fw0-firewall", "Failed"),
        ("firewall", "edge02", "firewall-logs", "Pending"),
        ("firewall", "edge02", "firewall-gateway", "Pending"),
        ("sink", "edge01", "protected-private-net", "Present"),
        ("sink", "edge02", "fw0-sink", "Failed"),
        ("sink", "edge02", "sink-service", "NotPresent"),
    ] {
        assert_eq!(state(app, cluster, name), expected, "{name} on {cluster}");
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
