//! The view of `serve` through the monitor, compared object by object with the view by direct watching.

use std::time::{Duration, Instant};

use kindsight_cluster::Cluster;
use kindsight_model::ReportMode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{CLUSTER, View};
use crate::stage::{LABEL, PATIENCE, Stage, config_map, namespace};

const APP: &str = "4711-front";
const NAMESPACES: [&str; 2] = ["web", "jobs"];
/// Names of each Kind, so that objects are often made again.
const NAMES: u64 = 4;
/// Number of random changes, and number of changes between two comparisons.
const CHANGES: usize = 60;
const CHANGES_AT_A_TIME: usize = 6;

/// Random numbers of a test run: a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// One random object, which belongs to the app.
fn object(random: &mut Random) -> Value {
    let space = NAMESPACES[usize::try_from(random.below(2)).expect("an index")];
    let number = random.below(NAMES);
    let labels = json!({LABEL: APP});
    match random.below(5) {
        0 | 1 => config_map(space, &format!("m{number}"), APP),
        2 => json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": format!("s{number}"), "namespace": space, "labels": labels},
            "spec": {"selector": {"app": format!("d{number}")}, "ports": [{"port": 80}]}}),
        3 => json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": format!("r{number}"), "labels": labels}, "rules": []}),
        _ => json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": format!("d{number}"), "namespace": space, "labels": labels},
            "spec": {"replicas": random.below(3), "selector": {"matchLabels": {"app": format!("d{number}")}},
                "template": {
                    "metadata": {"labels": {"app": format!("d{number}"), LABEL: APP}},
                    "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]}}}}),
    }
}

/// Creates, changes or deletes a random object.
fn change(cluster: &Cluster, random: &mut Random) {
    let mut object = object(random);
    if random.below(3) == 0 {
        cluster.delete(&cluster.client().path(&object));
        return;
    }
    object["metadata"]["annotations"] =
        json!({"example.org/turn": random.below(1_000).to_string()});
    cluster.apply(&object);
}

#[test]
fn the_view_through_the_monitor_equals_the_view_by_direct_watching() {
    let Some(stage) = Stage::installed("view") else {
        return;
    };
    for name in NAMESPACES {
        namespace(&stage.cluster, name);
    }
    assert!(
        stage
            .install(&["--yes", "--grant-secrets"])
            .status
            .success()
    );
    stage
        .account()
        .wait_for_status("/api/v1/secrets", 200, PATIENCE);
    stage.send_state("default", APP);
    let direct = View::watching(&stage.cluster, ReportMode::Direct, APP);
    let bundles = View::watching(&stage.cluster, ReportMode::Bundles, APP);
    let pushed = View::pushed(APP);
    let spool = TempDir::new().expect("a folder");
    let spool = spool.path().to_str().expect("a path");
    let arguments = ["--to", &pushed.url, "--cluster", CLUSTER, "--spool", spool];
    let monitor = stage.start("alone", &arguments);
    let seed = 20_261_127;
    let mut random = Random(seed);
    let mut shown = 0;
    for turn in 0..CHANGES / CHANGES_AT_A_TIME {
        for _ in 0..CHANGES_AT_A_TIME {
            change(&stage.cluster, &mut random);
        }
        let began = Instant::now();
        loop {
            let expected = direct.resources();
            let (found, by_push) = (bundles.resources(), pushed.resources());
            if expected == found && expected == by_push && !expected.is_empty() {
                shown = shown.max(expected.len());
                break;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "turn {turn} of seed {seed}: by watching {expected:#?}, by ResourceBundleState {found:#?}, by push {by_push:#?}"
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    assert!(shown > 10, "only {shown} resources were compared");
    drop(monitor);
}
