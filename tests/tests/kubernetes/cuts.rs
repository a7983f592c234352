//! Connections that are cut, and resource versions that have expired. All answers are fresh again afterwards, and no
//! answer was false during the faults.

use std::time::{Duration, Instant};

use kindsight_cluster::Options;
use serde_json::{Value, json};

use crate::history::{transitions_in, transitions_of_application};
use crate::stage::{SHOP, Stage, labelled, resources};

/// Time for which connections are cut each second.
const CUTS_FOR: Duration = Duration::from_mins(1);

fn config(name: &str, value: &str) -> Value {
    let config = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"v": value},
    });
    labelled(config, "front")
}

/// A Service without a selector, which is always ready.
fn service(name: &str) -> Value {
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"type": "ExternalName", "externalName": "example.org"},
    });
    labelled(service, "front")
}

/// One API server behind a proxy, with an application that is ready.
fn stage() -> Option<Stage> {
    let options = [Options::api_server("edge01")];
    let stage = Stage::start(&options, |cluster| cluster.admin().clone())?;
    stage.apply(&service("front"));
    stage.wait_for_state("Ready");
    stage.apply(&config("settings", "0"));
    stage.wait(SHOP, "it is found", |answer| {
        answer["ready-status"] == "Ready" && resources(answer).len() == 2
    });
    Some(stage)
}

/// Waits until the answer has exactly the Service and these ConfigMaps, and is fresh.
fn wait_for_fresh(stage: &Stage, names: &[String]) {
    let mut expected: Vec<String> = names
        .iter()
        .map(|name| format!("edge01 front ConfigMap/{name} Present Exists"))
        .collect();
    expected.sort();
    stage.wait(SHOP, "all of it, and fresh", |answer| {
        let mut lines = resources(answer);
        lines.retain(|line| line.contains("ConfigMap"));
        lines == expected && answer["apps"][0]["clusters"][0]["stale-since"].is_null()
    });
    stage.wait_for_cluster("edge01", "it is connected", |cluster| {
        cluster["connection"] == "connected"
    });
}

/// Checks that the history contains only the creation of the Service and of these ConfigMaps.
fn check_history(stage: &Stage, names: &[String]) {
    let came = names.iter().map(|name| format!("{name} - > Present"));
    let mut expected: Vec<String> = came.chain(["front - > Ready".to_owned()]).collect();
    expected.sort();
    assert_eq!(transitions_in(stage, "edge01"), expected);
    assert_eq!(transitions_of_application(stage), ["- > Ready"]);
}

#[test]
fn a_watch_that_is_cut_every_second_shows_no_false_state() {
    let Some(stage) = stage() else { return };
    let cluster = &stage.clusters[0];
    let mut names = vec!["settings".to_owned()];
    let began = Instant::now();
    let mut most = 2;
    while began.elapsed() < CUTS_FOR {
        stage.proxies[0].cut();
        let name = format!("c{}", names.len());
        cluster.apply(&config(&name, "1"));
        names.push(name);
        let next = Instant::now() + Duration::from_secs(1);
        while Instant::now() < next {
            let answer = stage.server.get(SHOP).expect("the application");
            assert_eq!(answer["ready-status"], "Ready", "{answer:#}");
            let count = resources(&answer).len();
            assert!(count >= most, "fewer than before: {answer:#}");
            most = count;
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    wait_for_fresh(&stage, &names);
    check_history(&stage, &names);
}

#[test]
fn changes_behind_expired_versions_are_listed_again() {
    let Some(mut stage) = stage() else { return };
    stage.proxies[0].close();
    stage.wait_for_cluster("edge01", "its loss is noticed", |cluster| {
        cluster["connection"] == "stale"
    });
    let cluster = &mut stage.clusters[0];
    for number in 0..20 {
        cluster.apply(&config(&format!("c{number}"), "1"));
    }
    cluster.delete("/api/v1/namespaces/web/configmaps/c0");
    // The restarted server has an empty watch cache, so it does not know older versions.
    cluster.kill();
    cluster.start_again();
    stage.proxies[0].open();
    let names = (1..20).map(|number| format!("c{number}"));
    let names: Vec<String> = names.chain(["settings".to_owned()]).collect();
    wait_for_fresh(&stage, &names);
    check_history(&stage, &names);
}
