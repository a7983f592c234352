use kindsight_api::clusters::Connection;
use kindsight_model::{Phase, host_reason};
use serde_json::{Value, json};

use super::*;
use crate::samples::{
    NOW_MS, app, cluster, expected, id, input, object, observed, owned, query, report, verdict,
};
use crate::{AppView, ClusterView, Lagged, Unseen, project};

fn shop() -> DigName {
    DigName::found("shop", Some("web")).unwrap()
}

fn view(apps: Vec<AppView>) -> ContextView {
    ContextView {
        meta: Some(shop()),
        apps,
        ..ContextView::default()
    }
}

/// A Deployment in this phase, its Pod that failed, and a hook that succeeded.
fn deployed(on: &str, phase: Phase) -> crate::ClusterInput {
    let mut input = input(on, Vec::new());
    let pod = owned(
        ("Pod", "web", "front-1", "2"),
        &[("Deployment", "front", "1")],
    );
    let front = owned(("Deployment", "web", "front", "1"), &[]);
    let migrate = object("batch/v1", "Job", "web", "migrate");
    report(
        &mut input,
        vec![
            observed(front, verdict(phase, "", "")),
            observed(pod, verdict(Phase::Failed, "Evicted", "")),
            observed(migrate, verdict(Phase::Failed, "DeadlineExceeded", "")),
        ],
    );
    if let Some(reported) = &mut input.reported {
        reported.hooks = [2].into();
    }
    input
}

fn shown(input: crate::ClusterInput) -> Arc<ClusterView> {
    Arc::new(project(input, None, NOW_MS))
}

fn ask(model: &ReadModel, pairs: &[(&str, &str)]) -> Value {
    let query = query(pairs);
    let subject = model.dig(&shop(), &query).unwrap();
    serde_json::to_value(subject.answer(&query).unwrap()).unwrap()
}

fn model(clusters: Vec<Arc<ClusterView>>) -> ReadModel {
    let model = ReadModel::default();
    model.publish_found(&shop(), Some(view(vec![app("front", clusters)])));
    model
}

#[test]
fn what_was_found_is_answered_by_its_state_unless_the_query_names_another_type() {
    let model = model(vec![shown(deployed("edge01", Phase::Ready))]);
    let answer = ask(&model, &[]);
    assert_eq!(answer["project"], "-");
    assert_eq!(answer["composite-app-name"], "shop");
    assert_eq!(answer["name"], "web");
    assert_eq!(answer["ready-status"], "Ready");
    assert_eq!(answer["cluster-status"], json!({"Ready": 1, "Failed": 2}));
    let resources = &answer["apps"][0]["clusters"][0]["resources"];
    assert_eq!(resources[2]["hook"], true);
    assert_eq!(resources[0].get("hook"), None);

    let sent = ask(&model, &[("type", "rsync")]);
    assert_eq!(sent.get("rsync-status"), None);
    assert_eq!(sent.get("ready-status"), None);
    assert_eq!(sent.get("apps"), None);
    assert!(
        sent["message"]
            .as_str()
            .unwrap()
            .contains("nothing of it was sent")
    );
}

#[test]
fn a_hook_decides_only_where_nothing_else_is_there() {
    let mut only = deployed("edge01", Phase::Ready);
    if let Some(reported) = &mut only.reported {
        reported.hooks = [0, 1, 2].into();
    }
    let answer = ask(&model(vec![shown(only)]), &[]);
    assert_eq!(answer["ready-status"], "Failed");
    assert_eq!(answer["ready-counts"], json!({"ready": 1, "failed": 2}));
}

#[test]
fn what_is_gone_decides_where_nothing_is_left_but_what_ran_once() {
    let gone = |on: &str| {
        let mut input = deployed(on, Phase::Ready);
        let reported = input.reported.take().unwrap();
        let (front, rest) = reported.objects.split_first().unwrap();
        input.unseen = vec![Unseen::gone(front.clone(), NOW_MS)];
        input.reported = Some(crate::Reported {
            objects: rest.into(),
            verdicts: vec![verdict(Phase::Ready, "", ""), verdict(Phase::Ready, "", "")],
            hooks: [1].into(),
            ..reported
        });
        shown(input)
    };
    let both = vec![gone("edge01"), shown(deployed("edge02", Phase::Ready))];
    let answer = ask(&model(both), &[]);
    assert_eq!(
        answer["ready-status"], "Ready",
        "it is there in another cluster"
    );
    assert_eq!(answer["cluster-status"]["NotPresent"], 1);
    let of_gone = &answer["apps"][0]["clusters"][0];
    assert_eq!(of_gone["ready-status"], "NotPresent");
    assert_eq!(
        of_gone["ready-reason"],
        "Deployment front of front in vfw-cluster-provider+edge01 is NotPresent (Gone)"
    );
    let resource = &of_gone["resources"][2];
    assert_eq!(resource["reason"], host_reason::GONE);
    assert_eq!(
        resource["message"],
        "it is no more in the cluster since 2020-08-21T05:40:00Z"
    );
    // Its Pod is still owned by it, and goes with it.
    assert_eq!(of_gone["resources"][0]["owner"]["name"], "front");

    let answer = ask(&model(vec![gone("edge01")]), &[]);
    assert_eq!(answer["ready-status"], "NotPresent");
    assert_eq!(answer["ready-counts"], json!({"not-present": 1}));
}

#[test]
fn what_nobody_found_is_told_with_what_is_near() {
    let model = model(Vec::new());
    let name = DigName::found("shop", Some("other")).unwrap();
    let error = model.dig(&name, &query(&[])).unwrap_err();
    let QueryError::NotFound(problems) = error else {
        panic!("{error:?}");
    };
    assert_eq!(problems[0].expected, "one of `-/shop/-/web`");
}

#[test]
fn what_was_found_has_no_instances() {
    let model = model(Vec::new());
    for instance in ["", "7"] {
        let error = model.dig(&shop(), &query(&[("instance", instance)]));
        let Err(QueryError::Invalid(problems)) = error else {
            panic!("{error:?}");
        };
        assert_eq!(problems[0].parameter, "instance");
    }
}

#[tokio::test]
async fn subscribers_are_told_of_what_was_found_and_of_connections_but_not_of_counts() {
    let model = ReadModel::default();
    let ((), mut changes) = model.subscribe(|_| ());
    model.publish_found(&shop(), Some(view(Vec::new())));
    model.refresh_found(&shop(), view(vec![app("front", Vec::new())]));
    let connection = |objects: usize, state| ConnectionView {
        state,
        since_ms: 1,
        reason: None,
        faults: Arc::default(),
        heard_ms: None,
        facts: Some(Arc::new(crate::FactsView {
            objects,
            ..crate::FactsView::default()
        })),
    };
    let edge01 = cluster("edge01");
    for (objects, state) in [
        (1, Connection::Connecting),
        (2, Connection::Connecting),
        (3, Connection::Connected),
    ] {
        model.publish_connection(&edge01, Some(connection(objects, state)));
    }
    let held = model.inspect(|it| it.connections().next().unwrap().1.facts.clone());
    assert_eq!(held.unwrap().objects, 3);
    model.publish_connection(&edge01, None);
    model.publish_found(&shop(), None);
    let mut told = Vec::new();
    for _ in 0..5 {
        told.push(changes.next().await.unwrap().subject);
    }
    let connection = ChangedSubject::Connection(edge01);
    let found = ChangedSubject::Found(shop());
    assert_eq!(
        told,
        [&found, &connection, &connection, &connection, &found].map(Clone::clone)
    );
    drop(model);
    assert_eq!(changes.next().await, Err(Lagged::Closed));
}

#[test]
fn an_application_of_either_kind_is_answered_under_its_own_name() {
    let model = model(vec![shown(deployed("edge01", Phase::Ready))]);
    let sent = vec![expected("v1", "Service", "shop")];
    let recorded = ContextView {
        id: Some(id(crate::samples::FIRST)),
        ..view(vec![app("front", vec![shown(input("edge01", sent))])])
    };
    model.publish_context(&id(crate::samples::FIRST), Some(recorded));
    assert_eq!(ask(&model, &[])["cluster-status"]["Ready"], 1);
}

#[test]
fn an_application_of_the_configuration_gives_way_to_a_group_of_its_name() {
    let name = DigName::new("shop", "web", "v1", "prod").unwrap();
    let model = ReadModel::default();
    let selected = ContextView {
        meta: Some(name.clone()),
        ..view(vec![app(
            "front",
            vec![shown(deployed("edge01", Phase::Ready))],
        )])
    };
    model.publish_found(&name, Some(selected));
    let ask = |pairs: &[(&str, &str)]| {
        let query = query(pairs);
        let subject = model.dig(&name, &query).unwrap();
        serde_json::to_value(subject.answer(&query).unwrap()).unwrap()
    };
    let answer = ask(&[]);
    assert_eq!(answer["composite-app-name"], "web");
    assert_eq!(answer["ready-status"], "Ready", "by type=cluster");
    let names = |model: &ReadModel| {
        let query = crate::ApplicationQuery::parse([("name", "prod")]).unwrap();
        let list = model.applications(&query).unwrap();
        let list = serde_json::to_value(list.answer()).unwrap();
        list["applications"].as_array().unwrap().len()
    };
    assert_eq!(names(&model), 1);
    model.publish_dig(&name, Some(crate::RecordView::default()));
    assert_eq!(ask(&[])["message"], "it was never instantiated");
    assert_eq!(names(&model), 1);
    model.publish_dig(&name, None);
    assert_eq!(ask(&[])["ready-status"], "Ready");
}
