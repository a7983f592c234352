//! Two monitors that write the same object.

use serde_json::{Value, json};

use crate::stage::{Stage, config_map, namespace, state_path, wait};

#[test]
fn two_monitors_of_one_object_name_each_other() {
    let Some(stage) = Stage::installed("rivals") else {
        return;
    };
    namespace(&stage.cluster, "web");
    stage
        .cluster
        .apply(&config_map("web", "settings", "7-front"));
    stage.send_state("default", "7-front");
    let first = stage.start("first", &[]);
    stage.wait_for_objects("default", "7-front", &["ConfigMap/web/settings"]);
    let second = stage.start("second", &[]);
    let names = |other: &str| {
        let text = format!("other=\"{other}\"");
        move |log: &String| log.contains("another monitor writes") && log.contains(&text)
    };
    wait(
        "the first names the second",
        || first.log(),
        names("second"),
    );
    wait(
        "the second names the first",
        || second.log(),
        names("first"),
    );
    let events = || stage.cluster.get("/api/v1/namespaces/default/events");
    let is_named = |events: &Option<Value>| {
        let items = events
            .as_ref()
            .and_then(|events| events["items"].as_array());
        let mut items = items.into_iter().flatten();
        items.any(|event| event["reason"] == "AnotherMonitor")
    };
    wait("an event names both", events, is_named);
    // Both write the same report, and neither hides a change.
    stage.cluster.apply(&config_map("web", "later", "7-front"));
    stage.wait_for_objects(
        "default",
        "7-front",
        &["ConfigMap/web/later", "ConfigMap/web/settings"],
    );
}

#[test]
fn a_monitor_of_another_program_is_named_and_its_report_is_replaced() {
    let Some(stage) = Stage::installed("original") else {
        return;
    };
    namespace(&stage.cluster, "web");
    stage
        .cluster
        .apply(&config_map("web", "settings", "7-front"));
    stage.send_state("default", "7-front");
    let monitor = stage.start("ours", &[]);
    let objects = ["ConfigMap/web/settings"];
    stage.wait_for_objects("default", "7-front", &objects);
    // The original monitor lost the ConfigMap.
    let status = format!(
        "{}/status?fieldManager=monitor",
        state_path("default", "7-front")
    );
    let lost = json!({"status": {"configMapStatuses": []}});
    stage
        .cluster
        .patch(&status, "application/merge-patch+json", &lost);
    let is_named =
        |log: &String| log.contains("another monitor writes") && log.contains("other=\"monitor\"");
    wait("the other program is named", || monitor.log(), is_named);
    stage.wait_for_objects("default", "7-front", &objects);
}
