//! API servers that are stopped, are killed or hang: the known objects remain, marked as stale.

use std::time::Duration;

use kindsight_cluster::Options;
use serde_json::{Value, json};

use crate::history::{transitions_in, transitions_of_application};
use crate::stage::{SHOP, Stage, labelled, resources};

fn config(name: &str) -> Value {
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    labelled(config, "front")
}

fn is_stale(clusters: &Value) -> bool {
    clusters["connection"] == "stale"
}

fn is_connected(clusters: &Value) -> bool {
    clusters["connection"] == "connected"
}

/// Checks that the history contains only the creation of ConfigMaps with these names, in each cluster.
fn check_history(stage: &Stage, names: [&[&str]; 2]) {
    for (cluster, names) in ["edge01", "edge02"].iter().zip(names) {
        let came = names.iter().map(|name| format!("{name} - > Present"));
        assert_eq!(transitions_in(stage, cluster), came.collect::<Vec<_>>());
    }
    assert_eq!(transitions_of_application(stage), ["- > Present"]);
}

/// When the first cluster was heard last.
fn last_event(stage: &Stage) -> Value {
    let clusters = stage.server.get("/v2/clusters").expect("the clusters");
    let mut clusters = clusters["clusters"].as_array().into_iter().flatten();
    let first = clusters.find(|cluster| cluster["cluster"] == "edge01");
    first.expect("the cluster")["last-event"].clone()
}

#[test]
fn a_cluster_that_is_away_keeps_its_last_answer_and_costs_no_other() {
    let options = [Options::api_server("edge01"), Options::api_server("edge02")];
    let stage = Stage::start(&options, |cluster| cluster.admin().clone());
    let Some(mut stage) = stage else { return };
    stage.apply(&config("settings"));
    stage.wait(SHOP, "both have it", |answer| resources(answer).len() == 2);
    stage.wait_for_cluster("edge01", "it is connected", is_connected);

    stage.clusters[0].kill();
    stage.wait_for_cluster("edge01", "its loss is noticed", is_stale);
    stage.clusters[1].apply(&config("more"));
    let answer = stage.wait(SHOP, "the other is heard", |answer| {
        resources(answer).len() == 3
    });
    let kept = "edge01 front ConfigMap/settings Present";
    assert!(
        resources(&answer).iter().any(|line| line.starts_with(kept)),
        "{answer:#}"
    );
    assert!(
        answer.to_string().contains("cannot be reached"),
        "{answer:#}"
    );
    check_history(&stage, [&["settings"], &["more", "settings"]]);

    stage.clusters[0].start_again();
    stage.clusters[0].apply(&config("more"));
    stage.wait_for_cluster("edge01", "it is heard again", is_connected);
    let answer = stage.wait(SHOP, "all is fresh", |answer| resources(answer).len() == 4);
    assert!(
        !answer.to_string().contains("cannot be reached"),
        "{answer:#}"
    );

    // A cluster without changes is still probed repeatedly.
    let before = last_event(&stage);
    stage.wait_for_cluster("edge01", "it is asked", |cluster| {
        cluster["last-event"] != before
    });
    // The server freezes: its connections remain open without data. Data that was already sent may still arrive.
    stage.clusters[0].pause();
    std::thread::sleep(Duration::from_secs(1));
    let before = last_event(&stage);
    stage.wait_for_cluster("edge01", "the silence is noticed", is_stale);
    assert_eq!(
        last_event(&stage),
        before,
        "a cluster that hangs is not heard"
    );
    check_history(&stage, [&["more", "settings"]; 2]);
    stage.clusters[0].resume();
    stage.wait_for_cluster("edge01", "it is heard again", is_connected);
    stage.clusters[0].apply(&config("last"));
    stage.wait(SHOP, "it is followed again", |answer| {
        resources(answer).len() == 5
    });
    check_history(
        &stage,
        [&["last", "more", "settings"], &["more", "settings"]],
    );
}
