//! Contexts and records that are written, changed or deleted while the pipeline runs.

use std::sync::Arc;

use kindsight_appcontext::{Action, AppContexts, NewResource, Record, Records};
use kindsight_clusters::ClusterEvent;
use kindsight_model::{ContextStatus, DigName, LifecycleState, SubjectSet, decode_status};
use kindsight_status::{Report, StatusQuery};
use kindsight_store::Revision;

use super::stage::{Stage, context, deployments, reported};
use crate::Event;

impl Stage {
    pub(super) fn contexts(&self) -> AppContexts {
        AppContexts::new(Arc::clone(&self.store))
    }

    fn has(&self, id: &str) -> bool {
        let id = id.parse().unwrap();
        self.read_model
            .inspect(|model| model.context(&id).is_some())
    }

    /// Since when the reports on an app are stale.
    pub(super) fn stale_since(&self, id: &str) -> Option<i64> {
        self.view(id).apps[0].clusters()[0]
            .report()
            .stale()
            .map(|it| it.since_ms)
    }
}

#[test]
fn a_context_that_is_written_while_it_runs_is_answered_at_once() {
    let mut stage = Stage::new(&[]);
    let new = context(&["a"]);
    stage
        .contexts()
        .create_as(&"7".parse().unwrap(), &new)
        .unwrap();
    assert!(!stage.has("7"));
    stage.follow_stores(1000);
    assert_eq!(
        *stage.view("7").apps[0].clusters()[0].report(),
        Report::NotYet
    );
    stage.hear("7", "a", &deployments(2), 2000);
    assert_eq!(stage.states("7", "a"), [("Ready".into(), 2)]);
}

#[test]
fn a_change_of_a_context_keeps_what_its_clusters_reported() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.hear("1", "a", &deployments(3), 1000);
    let id = "1".parse().unwrap();
    let _ = stage
        .contexts()
        .record_status(&id, ContextStatus::Terminating)
        .unwrap();
    stage.follow_stores(5000);
    assert_eq!(stage.view("1").status, Some(ContextStatus::Terminating));
    assert_eq!(stage.states("1", "a"), [("Ready".into(), 3)]);
    assert_eq!(stage.since("1"), [1000], "its state did not change");
    assert_eq!(stage.stale_since("1"), None);
}

#[test]
fn a_context_that_is_deleted_is_gone_from_the_answers() {
    let mut stage = Stage::new(&[("1", &["a"]), ("2", &["a"])]);
    stage.hear("1", "a", &deployments(3), 1000);
    assert!(stage.contexts().delete(&"1".parse().unwrap()).unwrap());
    stage.follow_stores(2000);
    assert!(!stage.has("1"));
    assert!(stage.has("2"));
    assert!(stage.pipeline.reported_objects().is_empty());
}

#[test]
fn what_the_pipeline_wrote_itself_is_not_read_again() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    let before = stage.contexts().list().unwrap().revision;
    stage.hear("1", "a", &deployments(2), 1000);
    let own = stage.contexts().list().unwrap().revision;
    assert!(own > before);
    let view = stage.view("1");
    let id: kindsight_model::ContextId = "1".parse().unwrap();
    stage.follow_stores(2000);
    assert!(stage.shows_still(&view));
    let _ = stage.contexts().record_stop_flag(&id, true).unwrap();
    stage.follow_stores(3000);
    assert!(!stage.shows_still(&view), "somebody else wrote it");
}

#[test]
fn a_report_of_another_writer_is_taken_where_the_cluster_is_not_heard() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    let bundle = deployments(2).bundle("1", "a");
    let (id, cluster) = ("1".parse().unwrap(), "p+c".parse().unwrap());
    let contexts = stage.contexts();
    let _ = contexts
        .record_bundle(&id, "a", &cluster, &bundle.status_json())
        .unwrap();
    stage.follow_stores(1000);
    assert_eq!(stage.states("1", "a"), [("Ready".into(), 2)]);
    // The report of the cluster itself is newer.
    stage.hear("1", "a", &deployments(5), 2000);
    let _ = contexts
        .record_bundle(&id, "a", &cluster, &bundle.status_json())
        .unwrap();
    stage.follow_stores(3000);
    assert_eq!(stage.states("1", "a"), [("Ready".into(), 5)]);
}

#[test]
fn a_context_in_a_cluster_that_cannot_be_reached_is_stale_from_then_on() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.hear("1", "a", &deployments(1), 1000);
    let cluster: kindsight_model::ClusterName = "p+c".parse().unwrap();
    let stale = ClusterEvent::Stale {
        cluster,
        reason: "away".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(stale), 2000);
    stage.follow_stores(3000);
    assert_eq!(stage.stale_since("1"), Some(2000));
    assert_eq!(stage.states("1", "a"), [("Ready".into(), 1)]);
}

#[test]
fn records_are_followed() {
    let mut stage = Stage::new(&[]);
    let records = Records::new(Arc::clone(&stage.store));
    let name = DigName::new("p", "ca", "v1", "d").unwrap();
    let query = StatusQuery::parse(Vec::<(&str, &str)>::new()).unwrap();
    let is_known = |stage: &Stage| {
        stage
            .read_model
            .visible_to(&SubjectSet::Everything)
            .dig(&name, &query)
            .is_ok()
    };
    let created = Action {
        state: LifecycleState::Created,
        instance: None,
        time: "2026-11-22T00:00:00Z".to_owned(),
        revision: 0,
    };
    let record = Record {
        profile: None,
        actions: vec![created],
    };
    records.create(&name, &record).unwrap();
    assert!(!is_known(&stage));
    stage.follow_stores(0);
    assert!(is_known(&stage));
    records.delete(&name, &record).unwrap();
    stage.follow_stores(0);
    assert!(!is_known(&stage));
}

#[test]
fn missed_changes_are_read_again() {
    let mut stage = Stage::new(&[("1", &["a"]), ("2", &["a"])]);
    stage.hear("2", "a", &deployments(2), 1000);
    let contexts = stage.contexts();
    assert!(contexts.delete(&"1".parse().unwrap()).unwrap());
    contexts
        .create_as(&"3".parse().unwrap(), &context(&["a"]))
        .unwrap();
    stage.resync(2000);
    assert_eq!(["1", "2", "3"].map(|id| stage.has(id)), [false, true, true]);
    assert_eq!(stage.states("2", "a"), [("Ready".into(), 2)]);
    assert!(Revision::default() < contexts.list().unwrap().revision);
}

/// A report that cannot be used.
pub(super) fn unreadable(deployment: Option<&str>, may_be_newer: bool) -> Event {
    Event::Cluster(ClusterEvent::Unreadable {
        cluster: "p+c".parse().unwrap(),
        deployment: deployment.map(|deployment| deployment.parse().unwrap()),
        may_be_newer,
        origin: "x.json".to_owned(),
        error: "bad".to_owned(),
    })
}

#[test]
fn a_report_that_cannot_be_read_makes_its_app_stale_until_the_next() {
    let mut stage = Stage::new(&[("1", &["a", "b"])]);
    let stale = |stage: &Stage, app: usize| {
        let view = stage.view("1");
        let stale = view.apps[app].clusters()[0].report().stale().cloned();
        stale.map(|stale| (stale.since_ms, stale.reason.to_string()))
    };
    let faults = |stage: &Stage| stage.view("1").apps[0].clusters()[0].faults().len();
    for app in ["a", "b"] {
        stage.hear("1", app, &deployments(1), 1000);
    }
    stage.pipeline.handle(unreadable(Some("1-a"), true), 2000);
    stage.pipeline.handle(unreadable(Some("1-a"), true), 3000);
    assert_eq!(
        stale(&stage, 0),
        Some((2000, "report `x.json`: bad".to_owned()))
    );
    assert_eq!((stale(&stage, 1), faults(&stage)), (None, 1));
    assert_eq!(
        stage.states("1", "a"),
        [("Ready".into(), 1)],
        "the last verdicts stay"
    );
    // A change of the context keeps the mark, and so does the end of the file.
    stage.follow_stores(4000);
    assert_eq!(stage.stale_since("1"), Some(2000));
    let gone = ClusterEvent::Gone {
        cluster: "p+c".parse().unwrap(),
        deployment: "1-a".parse().unwrap(),
    };
    stage.pipeline.handle(Event::Cluster(gone), 5000);
    assert_eq!((stage.stale_since("1"), faults(&stage)), (Some(2000), 0));
    stage.hear("1", "a", &deployments(1), 6000);
    assert_eq!((stale(&stage, 0), faults(&stage)), (None, 0));
    // One that would not be used anyway is a fault, and what is shown is current.
    stage.pipeline.handle(unreadable(Some("1-a"), false), 7000);
    assert_eq!((stale(&stage, 0), faults(&stage)), (None, 1));
}

#[test]
fn faults_that_nobody_knows_the_app_of_show_at_every_app_of_the_cluster() {
    let mut stage = Stage::new(&[("1", &["a", "b"])]);
    let told = |faults: &[&str]| {
        Event::Cluster(ClusterEvent::Faults {
            cluster: "p+c".parse().unwrap(),
            faults: faults.iter().map(|fault| (*fault).to_owned()).collect(),
        })
    };
    let shown = |stage: &Stage, id: &str| -> Vec<usize> {
        let view = stage.view(id);
        let apps = view.apps.iter();
        apps.map(|app| app.clusters()[0].cluster_faults().len())
            .collect()
    };
    stage.hear("1", "a", &deployments(1), 1000);
    stage.pipeline.handle(told(&["report `x.json`: bad"]), 2000);
    assert_eq!(shown(&stage, "1"), [1, 1]);
    assert_eq!(stage.stale_since("1"), None);
    stage.hear("1", "a", &deployments(2), 3000);
    let new = context(&["a"]);
    stage
        .contexts()
        .create_as(&"2".parse().unwrap(), &new)
        .unwrap();
    stage.follow_stores(3000);
    assert_eq!(
        (shown(&stage, "1"), shown(&stage, "2")),
        (vec![1, 1], vec![1])
    );
    stage.pipeline.handle(told(&[]), 4000);
    assert_eq!(
        (shown(&stage, "1"), shown(&stage, "2")),
        (vec![0, 0], vec![0])
    );
}

#[test]
fn a_reporter_that_once_sent_any_kind_covers_every_kind_also_after_a_restart() {
    let mut stage = Stage::new(&[]);
    let mut new = context(&["a"]);
    new.apps[0].clusters[0].resources = vec![NewResource {
        resource: "net+Network".parse().unwrap(),
        manifest: "apiVersion: k8s.plugin.opnfv.org/v1\nkind: Network\nmetadata: {name: net}"
            .to_owned(),
    }];
    stage
        .contexts()
        .create_as(&"7".parse().unwrap(), &new)
        .unwrap();
    stage.follow_stores(500);
    stage.own(&["7"]);
    let hear = |stage: &mut Stage, status: &str| {
        let bundle = decode_status("7-a".parse().unwrap(), status.as_bytes()).unwrap();
        stage.pipeline.handle(reported("p+c", bundle), 1000);
        stage.store_bundles();
    };
    let state = |stage: &Stage| {
        stage.view("7").apps[0].clusters()[0]
            .resources()
            .first()
            .unwrap()
            .verdict
            .state
            .to_string()
    };
    hear(&mut stage, r#"{"podStatuses":[]}"#);
    assert_eq!(state(&stage), "Unknown");
    hear(
        &mut stage,
        r#"{"resourceStatuses":[{"kind":"K","version":"v1","name":"k","res":"e30="}]}"#,
    );
    assert_eq!(state(&stage), "NotPresent");
    // The list is empty now, and left out on the wire.
    hear(&mut stage, r#"{"podStatuses":[]}"#);
    assert_eq!(state(&stage), "NotPresent");
    let restarted = stage.take_pipeline();
    drop(restarted);
    let _ = stage.pipeline.load(2000).unwrap();
    assert_eq!(state(&stage), "NotPresent");
    hear(&mut stage, "{}");
    assert_eq!(state(&stage), "NotPresent");
}

#[test]
fn neither_the_store_nor_the_views_hold_the_content_of_a_secret() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"password":"aHVudGVyMg=="}}"#;
    let status = format!(
        r#"{{"secretStatuses":[{secret}],"resourceStatuses":[
        {{"version":"v1","kind":"Secret","name":"t","res":"{}"}}]}}"#,
        // The same as base64, with the name `t`.
        "eyJhcGlWZXJzaW9uIjoidjEiLCJraW5kIjoiU2VjcmV0IiwibWV0YWRhdGEiOnsibmFtZSI6InQifSwiZGF0YSI6eyJwYXNzd29yZCI6ImFIVnVkR1Z5TWc9PSJ9fQ=="
    );
    // As another writer stores it, then as the cluster reports it.
    let (id, cluster) = ("1".parse().unwrap(), "p+c".parse().unwrap());
    let _ = stage
        .contexts()
        .record_bundle(&id, "a", &cluster, &status)
        .unwrap();
    stage.follow_stores(1000);
    let shown = |stage: &Stage| format!("{:?}", stage.view("1"));
    assert!(shown(&stage).contains("password"));
    assert!(!shown(&stage).contains("aHVudGVyMg"), "{}", shown(&stage));
    let bundle = decode_status("1-a".parse().unwrap(), status.as_bytes()).unwrap();
    stage.pipeline.handle(reported("p+c", bundle), 2000);
    assert!(!shown(&stage).contains("aHVudGVyMg"));
    stage.store_bundles();
    let stored = stage.store.range("/").unwrap();
    for kindsight_store::Entry { key, value, .. } in stored.entries {
        let value = String::from_utf8_lossy(&value).into_owned();
        // The data, and its base64 once more.
        for hidden in ["aHVudGVyMg", "YUhWdWRHVnlNZz"] {
            assert!(!value.contains(hidden), "{key}: {value}");
        }
        assert!(!value.contains("FIVnVkR1Z5TWc"), "{key}: {value}");
    }
}
