//! Stored reports beside reports of clusters, and a store that is away.

use std::sync::Arc;

use kindsight_appcontext::AppContexts;
use kindsight_clusters::ClusterEvent;
use kindsight_model::{ClusterName, Connectivity, ContextId};
use kindsight_status::Report;
use kindsight_store::{Batch, Connection};

use super::groups::Other;
use super::stage::{Heard, Stage, context, deployments};
use crate::Event;

/// Since when an app is stale, and why.
fn stale(stage: &Stage, id: &str) -> Option<(i64, String)> {
    let view = stage.view(id);
    let Report::Received { stale } = view.apps[0].clusters()[0].report() else {
        return None;
    };
    stale
        .as_ref()
        .map(|stale| (stale.since_ms, stale.reason.to_string()))
}

fn cluster() -> ClusterName {
    "p+c".parse().unwrap()
}

fn lost(stage: &mut Stage, now_ms: i64) {
    let stale = ClusterEvent::Stale {
        cluster: cluster(),
        reason: "connection refused".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(stale), now_ms);
}

fn synced(stage: &mut Stage, now_ms: i64) {
    let synced = ClusterEvent::Synced { cluster: cluster() };
    stage.pipeline.handle(Event::Cluster(synced), now_ms);
}

/// Context 7 of another orchestrator, with a report that its watcher stored.
fn other() -> Other {
    let mut other = Other::new();
    other.create("7", &context(&["a"]));
    other.status("7", "Instantiated");
    stored(&mut other, &deployments(2));
    other
}

/// The watcher of the orchestrator stores a report.
fn stored(other: &mut Other, heard: &Heard) {
    let bundle = heard.bundle("7", "a");
    let json = serde_json::to_string(&*bundle.status_json()).unwrap();
    other.put("7", "app/a/cluster/p+c/status/", &json);
}

fn connectivity(other: &mut Other, word: Connectivity) {
    let json = serde_json::to_string(&word).unwrap();
    other.put("7", "app/a/cluster/p+c/readystatus/", &json);
}

#[test]
fn the_instances_of_a_group_are_reported_under_the_id_of_the_first() {
    let mut stage = Stage::new(&[("1", &["a"]), ("2", &["a", "b"])]);
    let batch = Batch::new().put("/context/2/statusappctxid/", r#""1""#);
    stage.store.apply(&batch).unwrap();
    stage.resync(500);
    let recorded = stage.pipeline.needs().recorded;
    let watched = || {
        let of = recorded.borrow().of(&cluster());
        let mut ids: Vec<String> = of.keys().map(ToString::to_string).collect();
        ids.sort();
        ids
    };
    assert_eq!(watched(), ["1-a", "1-b"]);
    stage.hear("1", "a", &deployments(2), 1000);
    stage.hear("1", "b", &deployments(3), 1000);
    assert_eq!(stage.states("1", "a"), [("Ready".into(), 2)]);
    assert_eq!(stage.states("2", "a"), [("Ready".into(), 2)]);
    assert_eq!(stage.states("2", "b"), [("Ready".into(), 3)]);
    // An instance that comes is shown as it was reported already.
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    let third = "3".parse().unwrap();
    contexts.create_as(&third, &context(&["b"])).unwrap();
    let batch = Batch::new().put("/context/3/statusappctxid/", r#""1""#);
    stage.store.apply(&batch).unwrap();
    stage.resync(1500);
    assert_eq!(stage.states("3", "b"), [("Ready".into(), 3)]);
    assert!(contexts.delete(&third).unwrap());
    // The apps of a deleted instance are still watched for the other instance.
    assert!(contexts.delete(&"2".parse().unwrap()).unwrap());
    stage.resync(2000);
    assert_eq!(watched(), ["1-a"]);
}

#[test]
fn a_change_of_a_status_context_changes_what_is_read_from_it() {
    let mut other = other();
    other.create("8", &context(&["a"]));
    other.put("8", "statusappctxid/", r#""7""#);
    other.status("8", "Instantiated");
    assert_eq!(other.stage.states("8", "a"), [("Ready".into(), 2)]);
    stored(&mut other, &deployments(5));
    assert_eq!(other.stage.states("8", "a"), [("Ready".into(), 5)]);
}

#[test]
fn reports_are_stored_beside_our_own_contexts_alone() {
    let mut other = Other::new();
    other.create("7", &context(&["a"]));
    other.status("7", "Instantiated");
    let before = other.stage.store.range("/").unwrap().entries;
    other.stage.hear("7", "a", &deployments(2), 1000);
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 2)]);
    assert_eq!(other.stage.store.range("/").unwrap().entries, before);
    other.stage.own(&["7"]);
    other.stage.hear("7", "a", &deployments(3), 2000);
    let key = "/context/7/app/a/cluster/p+c/status/";
    assert!(other.stage.store.get(key).unwrap().is_some());
}

#[test]
fn a_cluster_that_the_orchestrator_cannot_reach_is_stale_until_a_newer_report() {
    let mut other = other();
    assert_eq!(stale(&other.stage, "7"), None);
    connectivity(&mut other, Connectivity::Retrying);
    let (_, reason) = stale(&other.stage, "7").unwrap();
    assert!(
        reason.starts_with("the orchestrator cannot reach"),
        "{reason}"
    );
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 2)]);
    // A change of something else keeps it, a newer report does not.
    other.put("7", "stopflag/", "false");
    assert!(stale(&other.stage, "7").is_some());
    stored(&mut other, &deployments(3));
    assert_eq!(stale(&other.stage, "7"), None);
    other.put("7", "stopflag/", "true");
    assert_eq!(stale(&other.stage, "7"), None);
    connectivity(&mut other, Connectivity::Available);
    connectivity(&mut other, Connectivity::Retrying);
    assert!(stale(&other.stage, "7").is_some());
    connectivity(&mut other, Connectivity::Available);
    assert_eq!(stale(&other.stage, "7"), None);
    connectivity(&mut other, Connectivity::Retrying);
    // After a start it is not known which of the two is newer.
    other.stage.start_again(&[], crate::GONE_FOR, 99_000);
    assert!(stale(&other.stage, "7").is_some());
    // The report of the cluster itself has priority.
    other.stage.hear("7", "a", &deployments(4), 100_000);
    assert_eq!(stale(&other.stage, "7"), None);
}

#[test]
fn a_stored_report_that_cannot_be_read_leaves_the_last_one_stale_until_the_next() {
    let mut other = other();
    let key = "app/a/cluster/p+c/status/";
    for damaged in ["garbage", r#""garbage""#, r#""null""#] {
        other.put("7", key, damaged);
        assert!(stale(&other.stage, "7").is_some(), "{damaged}");
        assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 2)]);
        stored(&mut other, &deployments(2));
        assert_eq!(stale(&other.stage, "7"), None, "{damaged}");
    }
    let gone = Batch::new().delete(format!("/context/7/{key}"));
    other.stage.store.apply(&gone).unwrap();
    other.put("7", "stopflag/", "false");
    let (_, reason) = stale(&other.stage, "7").unwrap();
    assert!(reason.contains("no longer stored"), "{reason}");
    stored(&mut other, &deployments(2));
    assert_eq!(stale(&other.stage, "7"), None);
    // The report of the cluster itself has priority.
    other.stage.hear("7", "a", &deployments(4), 1000);
    other.put("7", key, "garbage");
    assert_eq!(stale(&other.stage, "7"), None);
}

#[test]
fn a_stored_report_takes_over_while_the_cluster_is_not_heard_and_no_longer() {
    let mut other = other();
    other.stage.hear("7", "a", &deployments(4), 1000);
    stored(&mut other, &deployments(3));
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 4)]);
    lost(&mut other.stage, 2000);
    other.put("7", "stopflag/", "false");
    assert_eq!(
        other.stage.states("7", "a"),
        [("Ready".into(), 4)],
        "it came before"
    );
    stored(&mut other, &deployments(5));
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 5)]);
    assert_eq!(stale(&other.stage, "7").unwrap().0, 2000);
    // A folder tells nothing again that did not change.
    synced(&mut other.stage, 3000);
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 4)]);
    assert_eq!(stale(&other.stage, "7"), None);
}

/// The cluster no longer reports on the app of context 7.
fn silent(stage: &mut Stage, now_ms: i64) {
    let gone = ClusterEvent::Gone {
        cluster: cluster(),
        deployment: "7-a".parse().unwrap(),
    };
    stage.pipeline.handle(Event::Cluster(gone), now_ms);
}

#[test]
fn a_newer_stored_report_is_current_although_the_cluster_no_longer_reports() {
    let mut other = other();
    silent(&mut other.stage, 1000);
    let (_, reason) = stale(&other.stage, "7").unwrap();
    assert!(reason.contains("no longer reports"), "{reason}");
    stored(&mut other, &deployments(3));
    assert_eq!(stale(&other.stage, "7"), None);
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 3)]);
}

#[test]
fn a_report_on_which_the_cluster_no_longer_reports_does_not_come_back_as_current() {
    let mut other = other();
    other.stage.hear("7", "a", &deployments(4), 1000);
    silent(&mut other.stage, 1500);
    lost(&mut other.stage, 2000);
    stored(&mut other, &deployments(5));
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 5)]);
    synced(&mut other.stage, 3000);
    // Another instance of the group takes over the report.
    other.create("8", &context(&["a"]));
    other.put("8", "statusappctxid/", r#""7""#);
    for id in ["7", "8"] {
        assert_eq!(other.stage.states(id, "a"), [("Ready".into(), 4)]);
        let (since_ms, reason) = stale(&other.stage, id).unwrap();
        assert_eq!(since_ms, 1500);
        assert!(reason.contains("no longer reports"), "{reason}");
    }
}

/// The configuration names another source of the cluster.
fn replace_source(stage: &mut Stage, now_ms: i64) {
    let cluster = cluster();
    let removed = ClusterEvent::Removed {
        cluster: cluster.clone(),
    };
    let added = ClusterEvent::Added { cluster };
    for event in [removed, added] {
        stage.pipeline.handle(Event::Cluster(event), now_ms);
    }
}

#[test]
fn a_report_that_another_source_of_the_cluster_does_not_send_is_out_of_date() {
    let mut other = Other::new();
    other.create("7", &context(&["a"]));
    other.status("7", "Instantiated");
    synced(&mut other.stage, 500);
    other.stage.hear("7", "a", &deployments(2), 1000);
    replace_source(&mut other.stage, 2000);
    // Another instance of the group begins.
    other.create("8", &context(&["a"]));
    other.put("8", "statusappctxid/", r#""7""#);
    synced(&mut other.stage, 3000);
    let (since_ms, reason) = stale(&other.stage, "7").unwrap();
    assert_eq!(since_ms, 2000);
    assert!(reason.contains("no longer reports"), "{reason}");
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 2)]);
    assert_eq!(other.stage.states("8", "a"), []);

    other.stage.hear("7", "a", &deployments(2), 4000);
    for id in ["7", "8"] {
        assert_eq!(stale(&other.stage, id), None);
        assert_eq!(other.stage.states(id, "a"), [("Ready".into(), 2)]);
    }
}

#[test]
fn another_source_of_the_cluster_does_not_bring_back_the_report_of_the_earlier_one() {
    let mut other = other();
    other.stage.hear("7", "a", &deployments(4), 1000);
    lost(&mut other.stage, 2000);
    stored(&mut other, &deployments(5));
    replace_source(&mut other.stage, 3000);
    synced(&mut other.stage, 4000);
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 5)]);
    let (_, reason) = stale(&other.stage, "7").unwrap();
    assert!(reason.contains("no longer reports"), "{reason}");
}

#[test]
fn what_is_known_from_a_store_alone_is_stale_while_it_is_away() {
    let mut other = other();
    other.create("8", &context(&["a"]));
    other.stage.hear("8", "a", &deployments(1), 1000);
    let away = Connection::Away {
        since_ms: 5000,
        reason: "etcd-0:2379: connection refused".to_owned(),
    };
    let stage = &mut other.stage;
    stage.connect(away, 6000);
    let (since, reason) = stale(stage, "7").unwrap();
    assert_eq!(since, 5000);
    assert!(reason.contains("away: etcd-0:2379"), "{reason}");
    assert_eq!(stale(stage, "8"), None, "its cluster is heard");
    let told = |stage: &Stage| {
        stage
            .read_model
            .inspect(|model| model.store_away().is_some())
    };
    assert!(told(stage));
    // The other orchestrator writes during the outage.
    let before = stage.view("8");
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    let bundle = deployments(6).bundle("7", "a");
    let id: ContextId = "7".parse().unwrap();
    let _ = contexts
        .record_bundle(&id, "a", &cluster(), &bundle.status_json())
        .unwrap();
    stage.connect(Connection::Connected, 7000);
    assert!(!told(stage));
    assert_eq!(stale(stage, "7"), None);
    assert_eq!(stage.states("7", "a"), [("Ready".into(), 6)]);
    assert_eq!(stage.states("8", "a"), [("Ready".into(), 1)]);
    assert_eq!(
        before.apps[0].clusters()[0]
            .resources()
            .first()
            .unwrap()
            .since_ms,
        stage.view("8").apps[0].clusters()[0]
            .resources()
            .first()
            .unwrap()
            .since_ms
    );
}

#[test]
fn a_stored_report_that_returns_to_the_last_content_of_the_cluster_is_applied() {
    let mut other = other();
    other.stage.hear("7", "a", &deployments(4), 1000);
    lost(&mut other.stage, 2000);
    stored(&mut other, &deployments(5));
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 5)]);
    stored(&mut other, &deployments(4));
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 4)]);
}

#[test]
fn a_report_does_not_prove_that_the_cluster_can_be_reached() {
    let mut other = other();
    other.stage.hear("7", "a", &deployments(4), 1000);
    lost(&mut other.stage, 2000);
    other.stage.hear("7", "a", &deployments(5), 3000);
    assert_eq!(other.stage.states("7", "a"), [("Ready".into(), 5)]);
    assert_eq!(stale(&other.stage, "7").unwrap().0, 2000);
    synced(&mut other.stage, 4000);
    assert_eq!(stale(&other.stage, "7"), None);
}
