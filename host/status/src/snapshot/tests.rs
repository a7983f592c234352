use kindsight_api::clusters::Connection;
use kindsight_model::{
    ApplicationPattern, ClusterFacts, Phase, SubjectPattern, SubjectSet, host_reason,
};
use serde_json::{Value, json};

use super::*;
use crate::samples::{
    NOW_MS, app, cluster, expected, id, input, object, observed, owned, query, removed, report,
    verdict,
};
use crate::{AppView, ClusterView, Histories, QueryError, project};

mod logical_clouds;

fn shop() -> DigName {
    DigName::found("shop", Some("web")).unwrap()
}

fn view(apps: Vec<Arc<AppView>>) -> ContextView {
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

fn ask(model: &Snapshot, pairs: &[(&str, &str)]) -> Value {
    let query = query(pairs);
    let subject = model
        .visible_to(&SubjectSet::Everything)
        .dig(&shop(), &query)
        .unwrap();
    serde_json::to_value(subject.answer(&query).unwrap()).unwrap()
}

fn model(clusters: Vec<Arc<ClusterView>>) -> Snapshot {
    let mut model = Snapshot::default();
    model.set_found(&shop(), Some(view(vec![app("front", clusters)])));
    model
}

#[test]
fn a_found_application_is_answered_with_type_cluster_by_default() {
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
            .contains("no orchestrator recorded it")
    );
}

#[test]
fn a_hook_decides_only_without_other_resources() {
    let mut only = deployed("edge01", Phase::Ready);
    if let Some(reported) = &mut only.reported {
        reported.hooks = [0, 1, 2].into();
    }
    let answer = ask(&model(vec![shown(only)]), &[]);
    assert_eq!(answer["ready-status"], "Failed");
    assert_eq!(answer["ready-counts"], json!({"ready": 1, "failed": 2}));
}

#[test]
fn gone_resources_decide_if_only_hooks_remain() {
    let gone = |on: &str| {
        let mut input = deployed(on, Phase::Ready);
        let reported = input.reported.take().unwrap();
        let front = reported.objects.get(0).unwrap();
        let rest = reported.objects.iter().skip(1).cloned();
        input.unseen = vec![removed(front, NOW_MS)];
        input.reported = Some(crate::Reported {
            objects: rest.collect(),
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
        "it exists in another cluster"
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
        "it no longer exists in the cluster (since 2020-08-21T05:40:00Z)"
    );
    // It is still the owner of its Pod, which is listed with it.
    assert_eq!(of_gone["resources"][0]["owner"]["name"], "front");

    let answer = ask(&model(vec![gone("edge01")]), &[]);
    assert_eq!(answer["ready-status"], "NotPresent");
    assert_eq!(answer["ready-counts"], json!({"not-present": 1}));
}

#[test]
fn an_unknown_found_application_is_listed_with_similar_names() {
    let model = model(Vec::new());
    let name = DigName::found("shop", Some("other")).unwrap();
    let missing = model
        .visible_to(&SubjectSet::Everything)
        .dig(&name, &query(&[]))
        .unwrap_err();
    let QueryError::NotFound(problems) = missing.into() else {
        panic!("its name is valid");
    };
    assert_eq!(problems[0].expected, "one of `-/shop/-/web`");
}

#[test]
fn a_found_application_has_no_instances() {
    let model = model(Vec::new());
    for instance in ["", "7"] {
        let missing = model
            .visible_to(&SubjectSet::Everything)
            .dig(&shop(), &query(&[("instance", instance)]));
        let QueryError::Invalid(problems) = missing.unwrap_err().into() else {
            panic!("the application exists");
        };
        assert_eq!(problems[0].parameter, "instance");
    }
}

#[test]
fn counts_of_a_connection_and_better_times_do_not_change_the_generation() {
    let mut model = Snapshot::default();
    model.set_found(&shop(), Some(view(Vec::new())));
    let dated = view(vec![app("front", Vec::new())]);
    model.refresh_application(&ApplicationKey::Found(shop()), Arc::new(dated));
    assert_eq!(model.generation(), 1);
    assert_eq!(model.found().next().unwrap().1.apps.len(), 1);
    let connection = |objects: usize, state| ConnectionView {
        owner: crate::ClusterOwner::default(),
        state,
        since_ms: 1,
        reason: None,
        faults: Arc::default(),
        heard_ms: None,
        coverage: None,
        facts: Some(Arc::new(ClusterFacts {
            objects,
            ..ClusterFacts::default()
        })),
    };
    let edge01 = cluster("edge01");
    for (objects, state, generation) in [
        (1, Connection::Connecting, 2),
        (2, Connection::Connecting, 2),
        (3, Connection::Connected, 3),
    ] {
        model.set_connection(&edge01, Some(Arc::new(connection(objects, state))));
        assert_eq!(model.generation(), generation);
        let held = model.connections().next().unwrap().1.facts.clone();
        assert_eq!(held.unwrap().objects, objects);
    }
    model.set_connection(&edge01, None);
    assert_eq!(model.generation(), 4);
}

#[test]
fn an_application_without_a_view_is_not_refreshed() {
    let mut model = Snapshot::default();
    let key = ApplicationKey::Context(id(crate::samples::FIRST));
    model.refresh_application(&key, Arc::new(view(Vec::new())));
    assert!(model.application(&key).is_none());
}

#[test]
fn an_application_of_either_kind_is_answered_under_its_own_name() {
    let mut model = model(vec![shown(deployed("edge01", Phase::Ready))]);
    let sent = vec![expected("v1", "Service", "shop")];
    let recorded = ContextView {
        id: Some(id(crate::samples::FIRST)),
        ..view(vec![app("front", vec![shown(input("edge01", sent))])])
    };
    model.set_context(&id(crate::samples::FIRST), Some(recorded));
    assert_eq!(ask(&model, &[])["cluster-status"]["Ready"], 1);
}

#[test]
fn a_group_takes_precedence_over_a_configured_application_with_its_name() {
    let name = DigName::new("shop", "web", "v1", "prod").unwrap();
    let mut model = Snapshot::default();
    let selected = ContextView {
        meta: Some(name.clone()),
        ..view(vec![app(
            "front",
            vec![shown(deployed("edge01", Phase::Ready))],
        )])
    };
    model.set_found(&name, Some(selected));
    let ask = |model: &Snapshot, pairs: &[(&str, &str)]| {
        let query = query(pairs);
        let subject = model
            .visible_to(&SubjectSet::Everything)
            .dig(&name, &query)
            .unwrap();
        serde_json::to_value(subject.answer(&query).unwrap()).unwrap()
    };
    let answer = ask(&model, &[]);
    assert_eq!(answer["composite-app-name"], "web");
    assert_eq!(answer["ready-status"], "Ready", "by type=cluster");
    let names = |model: &Snapshot| {
        let query = crate::ApplicationQuery::parse([("name", "prod")]).unwrap();
        let list = model
            .visible_to(&SubjectSet::Everything)
            .applications(&query, &Histories::default())
            .checked()
            .unwrap();
        let list = serde_json::to_value(list.answer()).unwrap();
        list["applications"].as_array().unwrap().len()
    };
    assert_eq!(names(&model), 1);
    model.set_group(&name, Some(RecordView::default()));
    assert_eq!(ask(&model, &[])["message"], "it was never instantiated");
    assert_eq!(names(&model), 1);
    model.set_group(&name, None);
    assert_eq!(ask(&model, &[])["ready-status"], "Ready");
}

/// The suggestions of an error are no evidence that a hidden application exists.
#[test]
fn a_hidden_configured_application_is_answered_like_a_missing_one() {
    let [hidden, missing] =
        ["bank", "absent"].map(|app| DigName::new("shop", app, "v1", "prod").unwrap());
    let mut model = model(Vec::new());
    model.set_found(&hidden, Some(view(Vec::new())));
    let pattern: ApplicationPattern = "web/shop".parse().unwrap();
    let visible = SubjectSet::matching(vec![SubjectPattern::Application(pattern)]);
    let problems = [hidden, missing].map(|name| {
        let missing = model.visible_to(&visible).dig(&name, &query(&[]));
        let QueryError::NotFound(problems) = missing.unwrap_err().into() else {
            panic!("the name is valid");
        };
        let text = format!("{problems:?}");
        text.replace(&*name.composite_app, "NAME")
    });
    assert_eq!(problems[0], problems[1]);
}
