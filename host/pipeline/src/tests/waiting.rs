//! Reports that wait until an `AppContext` sends their app to the cluster.

use kindsight_store::Batch;

use super::live::unreadable;
use super::stage::{Stage, context, deployments};
use crate::unclaimed::UNCLAIMED_MAX;

#[test]
fn a_report_that_comes_before_its_context_waits_for_it() {
    let mut stage = Stage::new(&[]);
    stage.hear("7", "a", &deployments(2), 1000);
    stage.hear("7", "a", &deployments(3), 2000);
    let new = context(&["a", "b"]);
    stage
        .contexts()
        .create_as(&"7".parse().unwrap(), &new)
        .unwrap();
    stage.follow_stores(3000);
    assert_eq!(stage.states("7", "a"), [("Ready".into(), 3)]);
    assert_eq!(stage.states("7", "b"), []);
}

#[test]
fn an_app_whose_waiting_report_was_dropped_says_so_until_the_next_report() {
    let mut stage = Stage::new(&[]);
    stage.hear("7", "a", &deployments(1), 1000);
    for app in 0..UNCLAIMED_MAX {
        let report = deployments(0).event("8", &format!("a{app}"));
        stage.pipeline.handle(report, 2000);
    }
    let id = "7".parse().unwrap();
    let _ = stage.contexts().create_as(&id, &context(&["a", "b"]));
    stage.follow_stores(3000);
    let faults = |stage: &Stage| {
        let view = stage.view("7");
        let apps = view.apps.iter();
        let faults = apps.map(|app| app.clusters()[0].faults().len());
        faults.collect::<Vec<_>>()
    };
    assert_eq!(faults(&stage), [1, 0]);
    let fault = stage.view("7").apps[0].clusters()[0].faults()[0].to_string();
    assert!(fault.contains("report was dropped"), "{fault}");
    stage.hear("7", "a", &deployments(2), 4000);
    assert_eq!(faults(&stage), [0, 0]);
    assert_eq!(stage.states("7", "a"), [("Ready".into(), 2)]);
}

#[test]
fn a_report_that_waits_for_the_cluster_of_its_app_stays_out_of_date_after_an_unreadable_one() {
    let mut stage = Stage::new(&[]);
    stage.hear("7", "a", &deployments(1), 1000);
    stage.pipeline.handle(unreadable(Some("7-a"), true), 1500);
    let mut new = context(&["a"]);
    new.apps[0].clusters.clear();
    let id = "7".parse().unwrap();
    stage.contexts().create_as(&id, &new).unwrap();
    stage.follow_stores(2000);
    assert!(stage.view("7").clusters().next().is_none());
    let cluster = Batch::new().put("/context/7/app/a/cluster/p+c/", r#""p+c""#);
    stage.store.apply(&cluster).unwrap();
    stage.follow_stores(3000);
    assert_eq!(stage.states("7", "a"), [("Ready".into(), 1)]);
    assert_eq!(stage.stale_since("7"), Some(3000));
    stage.hear("7", "a", &deployments(1), 4000);
    assert_eq!(stage.stale_since("7"), None);
}
