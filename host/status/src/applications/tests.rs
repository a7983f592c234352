use std::sync::Arc;

use kindsight_model::Phase;
use serde_json::{Value, json};

use super::*;
use crate::samples::{
    NOW_MS, SECOND, app, cluster, context, expected, input, object, observed, report, verdict, vfw,
    vfw_record,
};
use crate::{ClusterView, ContextView, ReportMode, Staleness, project};

/// A Deployment in this phase since then.
fn deployed(on: &str, phase: Phase, since_ms: i64) -> Arc<ClusterView> {
    let mut input = input(on, Vec::new());
    let front = object("apps/v1", "Deployment", "web", "front");
    let verdict = kindsight_model::Verdict {
        since_ms: Some(since_ms),
        ..verdict(phase, "Crashing", "it crashes")
    };
    report(&mut input, vec![observed(front, verdict)]);
    Arc::new(project(input, None, NOW_MS))
}

fn found(model: &ReadModel, name: &str, views: Vec<Arc<ClusterView>>) {
    let name = DigName::found(name, Some("web")).unwrap();
    let view = ContextView {
        meta: Some(name.clone()),
        apps: vec![app("front", views)],
        ..ContextView::default()
    };
    model.publish_found(&name, Some(view));
}

/// A recorded application that waits for its first report, one that was never instantiated, and two that
/// were found.
fn model() -> ReadModel {
    let model = ReadModel::default();
    model.publish_dig(&vfw(), Some(vfw_record()));
    let sent = vec![expected("v1", "Service", "sink-service")];
    let sink = Arc::new(project(input("edge01", sent), None, NOW_MS));
    let context = context(SECOND, "Instantiated", vec![app("sink", vec![sink])]);
    model.publish_context(&SECOND.parse().unwrap(), Some(context));
    let planned = DigName::new("p", "planned", "v1", "dig").unwrap();
    model.publish_dig(&planned, Some(crate::RecordView::default()));
    let bad = deployed("edge02", Phase::Failed, NOW_MS - 60_000);
    let stale = Staleness {
        since_ms: NOW_MS,
        reason: "the cluster cannot be reached: refused".into(),
    };
    let stale = crate::Report::Received { stale: Some(stale) };
    let good = deployed("edge01", Phase::Ready, NOW_MS - 1000);
    found(
        &model,
        "shop",
        vec![good, Arc::new(bad.with_report(stale, Vec::new()))],
    );
    found(
        &model,
        "blog",
        vec![
            deployed("edge01", Phase::Ready, NOW_MS - 5000),
            deployed("edge02", Phase::Ready, NOW_MS - 3000),
        ],
    );
    model
}

fn ask(model: &ReadModel, pairs: &[(&str, &str)]) -> Value {
    let query = ApplicationQuery::parse(pairs.iter().copied()).unwrap();
    let applications = model.applications(&query).unwrap();
    serde_json::to_value(applications.answer()).unwrap()
}

/// The full names of the listed applications, with their state.
fn listed(answer: &Value) -> Vec<String> {
    let all = answer["applications"].as_array().unwrap().iter();
    let line = |it: &Value| {
        let part = |member: &str| it[member].as_str().unwrap_or("none").to_owned();
        format!(
            "{}/{}/{}/{} {}",
            part("project"),
            part("composite-app-name"),
            part("composite-app-version"),
            part("name"),
            part("ready-status")
        )
    };
    all.map(line).collect()
}

#[test]
fn every_application_is_listed_in_order_with_its_worst_resource() {
    let answer = ask(&model(), &[]);
    assert_eq!(
        listed(&answer),
        [
            "-/blog/-/web Ready",
            "-/shop/-/web Failed",
            "p/planned/v1/dig none",
            "testvfw/compositevfw/v1/vfw_deployment_intent_group Unknown",
        ]
    );
    let of = |at: usize| &answer["applications"][at];
    // Of two that are well the one that came last.
    assert_eq!(of(0)["since"], "2020-08-21T05:39:57Z");
    assert_eq!(of(0).get("worst"), None);
    assert_eq!(
        *of(1),
        json!({
            "project": "-",
            "composite-app-name": "shop",
            "composite-app-version": "-",
            "name": "web",
            "clusters": ["vfw-cluster-provider+edge01", "vfw-cluster-provider+edge02"],
            "cluster-status": {"Ready": 1, "Failed": 1},
            "ready-status": "Failed",
            "ready-phase": "failed",
            "ready-reason": "Deployment front of front in vfw-cluster-provider+edge02 is Failed (Crashing)",
            "ready-counts": {"ready": 1, "failed": 1},
            "stale-since": "2020-08-21T05:40:00Z",
            "stale-reason": "front in vfw-cluster-provider+edge02: the cluster cannot be reached: refused",
            "since": "2020-08-21T05:39:00Z",
            "worst": {
                "app": "front",
                "cluster": "vfw-cluster-provider+edge02",
                "GVK": {"Group": "apps", "Version": "v1", "Kind": "Deployment"},
                "namespace": "web",
                "name": "front",
                "state": "Failed",
                "reason": "Crashing",
                "message": "it crashes",
            },
        })
    );
    assert_eq!(of(2)["message"], "it was never instantiated");
    assert_eq!(of(3)["worst"]["reason"], "NoReportYet");
}

#[test]
fn a_list_is_filtered_by_name_state_and_cluster() {
    let model = model();
    for (pairs, expected) in [
        (&[("state", "failed")][..], &["-/shop/-/web Failed"][..]),
        (
            &[("state", "Failed"), ("state", "suspended")],
            &["-/shop/-/web Failed"],
        ),
        (&[("state", "degraded")], &[]),
        (&[("name", "shop")], &["-/shop/-/web Failed"]),
        (&[("name", "planned/dig")], &["p/planned/v1/dig none"]),
        (
            &[("cluster", "vfw-cluster-provider+edge02")],
            &["-/blog/-/web Ready", "-/shop/-/web Failed"],
        ),
        (
            &[
                ("cluster", "vfw-cluster-provider+edge02"),
                ("state", "ready"),
                ("name", "web/blog"),
            ],
            &["-/blog/-/web Ready"],
        ),
    ] {
        assert_eq!(listed(&ask(&model, pairs)), expected, "{pairs:?}");
    }
}

#[test]
fn names_that_nobody_knows_are_told_with_what_is_near() {
    let model = model();
    let expected = |pairs: &[(&str, &str)]| {
        let query = ApplicationQuery::parse(pairs.iter().copied()).unwrap();
        match model.applications(&query) {
            Err(QueryError::NotFound(problems)) => problems[0].expected.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(expected(&[("name", "shpo")]), "one of `-/shop/-/web`");
    assert_eq!(expected(&[("name", "web/LOG")]), "one of `-/blog/-/web`");
    assert_eq!(
        expected(&[("name", "zzz")]),
        "one of `-/blog/-/web`, `-/shop/-/web`, `p/planned/v1/dig`, `testvfw/compositevfw/v1/vfw_deployment_intent_group`"
    );
    assert_eq!(
        expected(&[("cluster", "p+c")]),
        "one of `vfw-cluster-provider+edge01`, `vfw-cluster-provider+edge02`"
    );
}

#[test]
fn more_than_an_answer_lists_are_counted() {
    let model = ReadModel::default();
    for n in 0..APPLICATIONS_SHOWN_MAX + 3 {
        found(&model, &format!("app-{n:06}"), Vec::new());
    }
    let answer = ask(&model, &[]);
    assert_eq!(listed(&answer).len(), APPLICATIONS_SHOWN_MAX);
    assert_eq!(answer["more"], 3);
}

#[test]
fn clusters_are_listed_with_their_connections() {
    let model = ReadModel::default();
    let faults: Vec<Arc<str>> = (0..30).map(|n| format!("fault {n}").into()).collect();
    let connection = crate::ConnectionView {
        state: kindsight_api::clusters::Connection::Stale,
        since_ms: NOW_MS,
        reason: Some("the cluster cannot be reached: refused".into()),
        faults: faults.into(),
        heard_ms: Some(NOW_MS),
        facts: Some(Arc::new(crate::FactsView {
            origin: "admin@prod".into(),
            mode: ReportMode::Bundles,
            selector: Some("team=web".into()),
            server_version: Some("v1.34.1".into()),
            not_covered: vec!["Secret: forbidden".into()],
            objects: 7,
            watches: 50,
        })),
    };
    model.publish_connection(&cluster("edge02"), Some(connection.clone()));
    let silent = crate::ConnectionView {
        state: kindsight_api::clusters::Connection::Connecting,
        reason: None,
        faults: Arc::default(),
        heard_ms: None,
        facts: None,
        ..connection
    };
    model.publish_connection(&cluster("edge01"), Some(silent));
    let mut answer = serde_json::to_value(model.clusters().answer()).unwrap();
    let faults = answer["clusters"][1]["faults"].take();
    assert_eq!(faults.as_array().unwrap().len(), crate::FAULTS_SHOWN_MAX);
    assert_eq!(
        answer,
        json!({"clusters": [
            {
                "cluster-provider": "vfw-cluster-provider",
                "cluster": "edge01",
                "connection": "connecting",
                "since": "2020-08-21T05:40:00Z",
            },
            {
                "cluster-provider": "vfw-cluster-provider",
                "cluster": "edge02",
                "origin": "admin@prod",
                "mode": "bundles",
                "selector": "team=web",
                "connection": "stale",
                "since": "2020-08-21T05:40:00Z",
                "error": "the cluster cannot be reached: refused",
                "server-version": "v1.34.1",
                "coverage": "partial",
                "not-covered": ["Secret: forbidden"],
                "objects": 7,
                "watches": 50,
                "last-event": "2020-08-21T05:40:00Z",
                "faults": null,
            },
        ]})
    );
}
