use std::sync::Arc;

use kindsight_api::status::StatusAnswer;
use kindsight_model::{DigName, Phase, SubjectSet};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::samples::{
    NOW_MS, app, context, expected, input, object, observed, query, report, snapshot, verdict, vfw,
    vfw_record,
};
use crate::{
    AppView, ApplicationQuery, ClusterView, Histories, Report, Snapshot, Staleness, StatusQuery,
    Subject, project,
};

const PHASES: [Phase; 4] = [Phase::Ready, Phase::Pending, Phase::Failed, Phase::Unknown];

/// Resources of one app in one cluster by number, each with its phase if it exists; `None` without a report.
type Reported = Option<Vec<Option<usize>>>;

/// An app in each of two clusters: its resources, and whether they are stale; `None` if it is not in the
/// cluster.
type Placed = Vec<Option<(Reported, bool)>>;

fn reported() -> impl Strategy<Value = Reported> {
    option::weighted(0.8, vec(option::of(0..PHASES.len()), 4))
}

fn placed() -> impl Strategy<Value = Vec<Placed>> {
    vec(
        vec(option::weighted(0.8, (reported(), any::<bool>())), 2),
        2,
    )
}

fn cluster(on: usize, reported: &Reported, is_stale: bool) -> Arc<ClusterView> {
    let sent = ["a", "b"].map(|name| expected("v1", "ConfigMap", name));
    let mut input = input(&format!("edge{on}"), sent.into());
    if let Some(reported) = reported {
        let there = reported.iter().enumerate();
        let there = there.filter_map(|(position, phase)| {
            let name = ["a", "b", "c", "c"][position];
            let namespace = ["default", "default", "default", "other"][position];
            let object = object("v1", "ConfigMap", namespace, name);
            let verdict = verdict(PHASES[(*phase)?], "Because", "");
            Some(observed(object, verdict))
        });
        report(&mut input, there.collect());
    }
    let view = project(input, None, NOW_MS);
    let stale = is_stale.then(|| Staleness {
        since_ms: NOW_MS,
        reason: "away".into(),
    });
    Arc::new(view.with_report(Report::Received { stale }, vec!["cut".into()]))
}

fn apps(placed: &[Placed]) -> Vec<Arc<AppView>> {
    let apps = placed.iter().enumerate().map(|(number, clusters)| {
        let on = clusters.iter().enumerate().filter_map(|(on, report)| {
            let (reported, is_stale) = report.as_ref()?;
            Some(cluster(on, reported, *is_stale))
        });
        app(&format!("app{number}"), on.collect())
    });
    apps.collect()
}

fn subject(placed: &[Placed], query: &StatusQuery) -> Subject {
    let context = context(crate::samples::SECOND, "Instantiated", apps(placed));
    let model = snapshot(&vfw(), vfw_record(), vec![context]);
    model
        .visible_to(&SubjectSet::Everything)
        .dig(&vfw(), query)
        .unwrap()
}

fn status<'s>(subject: &'s Subject, query: &StatusQuery) -> Status<'s, Resources<'s>> {
    match subject.answer(query).unwrap() {
        StatusAnswer::Status(status) => *status,
        other => panic!("{other:?}"),
    }
}

/// An answer with apps, clusters and resources in the order of their names.
fn in_order(mut answer: Value) -> Value {
    let by_text = |list: &mut Value, of: fn(&Value) -> String| {
        if let Some(list) = list.as_array_mut() {
            list.sort_by_key(of);
        }
    };
    by_text(&mut answer["apps"], |app| app["name"].to_string());
    for app in answer["apps"].as_array_mut().into_iter().flatten() {
        by_text(&mut app["clusters"], |cluster| {
            cluster["cluster"].to_string()
        });
        for cluster in app["clusters"].as_array_mut().into_iter().flatten() {
            by_text(&mut cluster["resources"], ToString::to_string);
        }
    }
    answer
}

proptest! {
    #[test]
    fn applying_a_change_gives_the_next_answer(
        before in placed(),
        after in placed(),
        pairs in prop::sample::select(vec![
            vec![("type", "cluster")],
            vec![("type", "rsync")],
            vec![("type", "all")],
            vec![("type", "cluster"), ("output", "summary")],
            vec![("type", "cluster"), ("output", "detail"), ("explain", "true")],
        ]),
    ) {
        let query = query(&pairs);
        let (one, other) = (subject(&before, &query), subject(&after, &query));
        let (one, other) = (status(&one, &query), status(&other, &query));
        let snapshot = serde_json::to_string(&one).unwrap();
        let expected = in_order(serde_json::to_value(&other).unwrap());
        let Some(change) = change(&one, &other) else {
            let same = in_order(serde_json::to_value(&one).unwrap());
            prop_assert_eq!(same, expected);
            return Ok(());
        };
        let sent = serde_json::to_string(&change).unwrap();
        let mut followed: Status<'_> = serde_json::from_str(&snapshot).unwrap();
        apply(&mut followed, serde_json::from_str(&sent).unwrap());
        let followed = in_order(serde_json::to_value(&followed).unwrap());
        prop_assert_eq!(followed, expected);
    }
}

#[test]
fn a_change_has_only_the_changed_parts() {
    let query = query(&[("type", "cluster")]);
    let ready = Some((Some(vec![Some(0), Some(0), Some(0), None]), false));
    let failed = Some((Some(vec![Some(0), Some(2), None, Some(0)]), false));
    let one = subject(
        &[vec![ready.clone(), ready.clone()], vec![ready.clone()]],
        &query,
    );
    let other = subject(&[vec![failed, ready.clone()], vec![ready]], &query);
    let (one, other) = (status(&one, &query), status(&other, &query));
    let change = change(&one, &other);
    let change = serde_json::to_value(change.unwrap()).unwrap();
    let apps = change["status"]["apps"].as_array().unwrap();
    assert_eq!((apps.len(), &apps[0]["name"]), (1, &json!("app0")));
    let clusters = apps[0]["clusters"].as_array().unwrap();
    assert_eq!(
        (clusters.len(), &clusters[0]["cluster"]),
        (1, &json!("edge0"))
    );
    let resources = clusters[0]["resources"].as_array().unwrap();
    let told: Vec<_> = resources
        .iter()
        .map(|resource| (&resource["name"], &resource["namespace"]))
        .collect();
    assert_eq!(
        told,
        [
            (&json!("b"), &json!("default")),
            (&json!("c"), &json!("other"))
        ]
    );
    assert_eq!(change["status"]["ready-status"], "Failed");
    let gone = json!([{
        "app": "app0",
        "cluster": {"cluster-provider": "vfw-cluster-provider", "cluster": "edge0"},
        "resource": {
            "GVK": {"Group": "", "Version": "v1", "Kind": "ConfigMap"},
            "name": "c", "namespace": "default",
        },
    }]);
    assert_eq!(change["gone"], gone);
}

#[test]
fn the_change_of_a_list_names_changed_and_removed_applications() {
    let mut model = Snapshot::default();
    let name = |name: &str| DigName::found(name, Some("web")).unwrap();
    let publish = |model: &mut Snapshot, of: &str, phase: Option<usize>| {
        let view = phase.map(|phase| {
            let reported = Some((Some(vec![Some(phase), Some(0), None, None]), false));
            let apps = apps(&[vec![reported]]);
            crate::ContextView {
                meta: Some(name(of)),
                apps,
                ..crate::ContextView::default()
            }
        });
        model.set_found(&name(of), view);
    };
    for of in ["shop", "cart", "pay"] {
        publish(&mut model, of, Some(0));
    }
    let query = ApplicationQuery::parse([("state", "ready")]).unwrap();
    let before = model
        .visible_to(&SubjectSet::Everything)
        .applications(&query, &Histories::default())
        .checked()
        .unwrap();
    assert_eq!(before.change_since(&before), None);
    publish(&mut model, "shop", Some(2));
    publish(&mut model, "pay", None);
    publish(&mut model, "news", Some(0));
    let after = model
        .visible_to(&SubjectSet::Everything)
        .applications(&query, &Histories::default())
        .checked()
        .unwrap();
    let change = after.change_since(&before).unwrap();
    let told: Vec<_> = change
        .applications
        .iter()
        .map(|application| application.app.name.as_deref())
        .collect();
    assert_eq!(told, [Some("news")]);
    let gone: Vec<_> = change
        .gone
        .iter()
        .map(|gone| gone.app.name.as_deref())
        .collect();
    assert_eq!(gone, [Some("shop"), Some("pay")]);
}
