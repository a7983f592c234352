use std::sync::Arc;

use kindsight_model::{
    ClusterFacts, Coverage, KindCoverage, KindState, Phase, ReportMode, Scope, SubjectSet,
};
use serde_json::{Value, json};

use super::*;
use crate::samples::{
    NOW_MS, SECOND, app, cluster, context, expected, input, object, observed, report, verdict, vfw,
    vfw_record,
};
use crate::snapshot::Snapshot;
use crate::{ApplicationKey, ClusterView, ContextView, PhaseState, Staleness, Transition, project};

/// A Deployment that has been in this phase since `since_ms`.
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

fn found(model: &mut Snapshot, name: &str, views: Vec<Arc<ClusterView>>) {
    let name = DigName::found(name, Some("web")).unwrap();
    let view = ContextView {
        meta: Some(name.clone()),
        apps: vec![app("front", views)],
        ..ContextView::default()
    };
    model.set_found(&name, Some(view));
}

/// A recorded application without a report, a group that was never instantiated, and two found applications.
fn model() -> Snapshot {
    let mut model = Snapshot::default();
    model.set_group(&vfw(), Some(vfw_record()));
    let sent = vec![expected("v1", "Service", "sink-service")];
    let sink = Arc::new(project(input("edge01", sent), None, NOW_MS));
    let context = context(SECOND, "Instantiated", vec![app("sink", vec![sink])]);
    model.set_context(&SECOND.parse().unwrap(), Some(context));
    let planned = DigName::new("p", "planned", "v1", "dig").unwrap();
    model.set_group(&planned, Some(crate::RecordView::default()));
    let bad = deployed("edge02", Phase::Failed, NOW_MS - 60_000);
    let stale = Staleness {
        since_ms: NOW_MS,
        reason: "the cluster cannot be reached: refused".into(),
    };
    let stale = crate::Report::Received { stale: Some(stale) };
    let good = deployed("edge01", Phase::Ready, NOW_MS - 1000);
    found(
        &mut model,
        "shop",
        vec![good, Arc::new(bad.with_report(stale, Vec::new()))],
    );
    found(
        &mut model,
        "blog",
        vec![
            deployed("edge01", Phase::Ready, NOW_MS - 5000),
            deployed("edge02", Phase::Ready, NOW_MS - 3000),
        ],
    );
    model
}

fn ask(model: &Snapshot, pairs: &[(&str, &str)]) -> Value {
    ask_with(model, &Histories::default(), pairs)
}

fn ask_with(model: &Snapshot, histories: &Histories, pairs: &[(&str, &str)]) -> Value {
    let query = ApplicationQuery::parse(pairs.iter().copied()).unwrap();
    let applications = model
        .visible_to(&SubjectSet::Everything)
        .applications(&query, histories)
        .checked()
        .unwrap();
    serde_json::to_value(applications.answer()).unwrap()
}

/// The full names of the listed applications, with their state.
fn listed(answer: &Value) -> Vec<String> {
    let all = answer["applications"].as_array().unwrap().iter();
    let line = |application: &Value| {
        let part = |member: &str| application[member].as_str().unwrap_or("none").to_owned();
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
    // Of two applications that are well, the one whose state began last.
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
fn the_state_of_an_application_begins_with_its_last_transition() {
    let model = model();
    let mut histories = Histories::default();
    let since = |histories: &Histories| {
        let answer = ask_with(&model, histories, &[("name", "blog")]);
        answer["applications"][0]["since"]
            .as_str()
            .map(str::to_owned)
    };
    let of_resource = "2020-08-21T05:39:57Z";
    assert_eq!(since(&histories).as_deref(), Some(of_resource));
    let transition = |from: Phase, to: Phase| Transition {
        resource: None,
        from: Some(state_of(from)),
        to: Some(state_of(to)),
        at_ms: NOW_MS,
        since_ms: Some(NOW_MS - 1000),
        reason: "".into(),
        message: "".into(),
        by: None,
        cause: kindsight_api::history::TransitionCause::Observed,
    };
    // A failed resource was deleted; the others have been ready for longer.
    let key = ApplicationKey::Found(DigName::found("blog", Some("web")).unwrap());
    histories.record(&key, vec![transition(Phase::Failed, Phase::Ready)]);
    assert_eq!(since(&histories).as_deref(), Some("2020-08-21T05:39:59Z"));
    // A transition to another state does not give the start of the shown state.
    histories.record(&key, vec![transition(Phase::Ready, Phase::Pending)]);
    assert_eq!(since(&histories).as_deref(), Some(of_resource));
}

fn state_of(phase: Phase) -> PhaseState {
    PhaseState {
        phase,
        state: phase.state().into(),
    }
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
fn unknown_names_are_listed_with_similar_names() {
    let model = model();
    let expected = |pairs: &[(&str, &str)]| {
        let query = ApplicationQuery::parse(pairs.iter().copied()).unwrap();
        match model
            .visible_to(&SubjectSet::Everything)
            .applications(&query, &Histories::default())
            .checked()
        {
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
fn applications_over_the_limit_are_counted() {
    let mut model = Snapshot::default();
    for n in 0..APPLICATIONS_SHOWN_MAX + 3 {
        found(&mut model, &format!("app-{n:06}"), Vec::new());
    }
    let answer = ask(&model, &[]);
    assert_eq!(listed(&answer).len(), APPLICATIONS_SHOWN_MAX);
    assert_eq!(answer["more"], 3);
}

#[test]
fn clusters_are_listed_with_their_connections() {
    let mut model = Snapshot::default();
    let faults: Vec<Arc<str>> = (0..30).map(|n| format!("fault {n}").into()).collect();
    let connection = crate::ConnectionView {
        owner: crate::ClusterOwner::default(),
        state: kindsight_api::clusters::Connection::Stale,
        since_ms: NOW_MS,
        reason: Some("the cluster cannot be reached: refused".into()),
        faults: faults.into(),
        heard_ms: Some(NOW_MS),
        facts: Some(Arc::new(ClusterFacts {
            origin: "admin@prod".into(),
            identity: None,
            mode: ReportMode::Bundles,
            selector: Some("team=web".into()),
            server_version: Some("v1.34.1".into()),
            objects: 7,
            watches: 50,
            sessions: 2,
            watch_failures: 3,
            ..ClusterFacts::default()
        })),
        coverage: Some(covered(&["Secret"])),
    };
    model.set_connection(&cluster("edge02"), Some(Arc::new(connection.clone())));
    let silent = crate::ConnectionView {
        state: kindsight_api::clusters::Connection::Connecting,
        reason: None,
        faults: Arc::default(),
        heard_ms: None,
        facts: None,
        coverage: None,
        ..connection
    };
    model.set_connection(&cluster("edge01"), Some(Arc::new(silent)));
    let listed = model.visible_to(&SubjectSet::Everything).clusters();
    let mut answer = serde_json::to_value(listed.answer()).unwrap();
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

#[test]
fn only_a_cluster_that_was_listed_in_full_is_covered_completely() {
    use kindsight_api::clusters::{ClusterCoverage, Connection};

    let check = |state, not_covered: &[&str], expected| {
        let mut model = Snapshot::default();
        let facts = ClusterFacts {
            server_version: Some("v1.34.1".into()),
            ..ClusterFacts::default()
        };
        let connection = crate::ConnectionView {
            owner: crate::ClusterOwner::default(),
            state,
            since_ms: NOW_MS,
            reason: None,
            faults: Arc::default(),
            heard_ms: None,
            facts: Some(Arc::new(facts)),
            coverage: Some(covered(not_covered)),
        };
        model.set_connection(&cluster("edge01"), Some(Arc::new(connection)));
        assert_eq!(
            model
                .visible_to(&SubjectSet::Everything)
                .clusters()
                .answer()
                .clusters[0]
                .coverage,
            expected,
            "{state:?}"
        );
    };
    let gap = ["Secret"];
    check(Connection::Connected, &[], Some(ClusterCoverage::Complete));
    for state in [Connection::Connecting, Connection::Stale] {
        check(state, &[], None);
    }
    for state in Connection::ALL {
        check(*state, &gap, Some(ClusterCoverage::Partial));
    }
}

/// The coverage of a cluster that forbids these Kinds.
fn covered(forbidden: &[&str]) -> Coverage {
    let mut coverage = Coverage::nothing();
    for kind in forbidden {
        let forbidden = KindCoverage::caused(KindState::Forbidden, "forbidden");
        coverage.set("", kind, Scope::Cluster, forbidden);
    }
    coverage
}

#[test]
fn phases_for_metrics_are_the_phases_of_the_list() {
    let model = model();
    let all = model
        .visible_to(&SubjectSet::Everything)
        .applications(&ApplicationQuery::default(), &Histories::default());
    let all = all.checked().unwrap();
    let phases: Vec<_> = all.phases().collect();
    let answer = all.answer();
    assert_eq!(phases.len(), answer.applications.len());
    for (phases, listed) in phases.iter().zip(&answer.applications) {
        let shown = listed.readiness.ready_phase.unwrap_or(Phase::Unknown);
        assert_eq!(phases.phase, shown, "{}", phases.name);
        let stale = listed.readiness.stale_since.is_some();
        assert_eq!(phases.is_stale, stale, "{}", phases.name);
    }
    let shop = phases
        .iter()
        .find(|application| &*application.name.composite_app == "shop")
        .unwrap();
    let expected = [(Phase::Ready, 1), (Phase::Failed, 1)];
    assert_eq!(shop.resources.by_phase(), expected.into());
}
