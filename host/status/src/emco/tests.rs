use std::sync::Arc;

use expect_test::{expect, expect_file};
use kindsight_api::status::QueryType;
use kindsight_model::{Connectivity, LogicalCloudName, RsyncStatus, SubjectSet};
use serde_json::Value;

use super::*;
use crate::samples::{
    FIRST, NOW_MS, SECOND, app, cluster, context, expected, id, input, object, observed, owned,
    projected, record, report, snapshot, verdict, vfw, vfw_record,
};
use crate::{
    ClusterView, ContextView, Expected, Instance, Missing, Snapshot, Staleness, StatusQuery,
    Subject,
};

mod agreement;
mod words;

/// The parameters of a query without percent-encoding.
fn pairs(text: &str) -> Vec<(&str, &str)> {
    let parts = text.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .collect()
}

/// The answer to a query as JSON, or the error.
fn ask(
    subject: EmcoSubject,
    text: &str,
    look_up: impl Fn(&StatusQuery) -> Result<Subject, Missing>,
) -> Result<Value, EmcoError> {
    let query = EmcoQuery::parse(subject, text, &pairs(text))?;
    let found = look_up(&query.selection).map_err(|missing| query.missing(missing.into()))?;
    let answer = found.emco_answer(&query)?;
    Ok(serde_json::to_value(answer).unwrap())
}

fn ask_group(model: &Snapshot, text: &str) -> Result<Value, EmcoError> {
    ask(EmcoSubject::Group, text, |query| {
        model.visible_to(&SubjectSet::Everything).dig(&vfw(), query)
    })
}

/// The answer as formatted JSON.
fn written(subject: EmcoSubject, text: &str, found: &Subject) -> String {
    let query = EmcoQuery::parse(subject, text, &pairs(text)).unwrap();
    let answer = found.emco_answer(&query).unwrap();
    format!(
        "GET status?{text}\n{}\n",
        serde_json::to_string_pretty(&answer).unwrap()
    )
}

fn with(view: &Arc<ClusterView>, connectivity: Connectivity) -> Arc<ClusterView> {
    Arc::new(ClusterView::clone(view).with_connectivity(connectivity))
}

fn sent() -> Vec<Expected> {
    vec![
        expected("apps/v1", "Deployment", "fw0-sink"),
        expected("v1", "ConfigMap", "sink-configmap"),
        Expected {
            rsync: Some(RsyncStatus::Failed),
            ..expected("v1", "Service", "sink-service")
        },
    ]
}

/// The sink in three clusters, and a firewall in one of them. The first cluster has a pending resource, a
/// missing resource and a failed Pod; the second cannot be reached; the third has no report.
fn apps() -> Vec<Arc<crate::AppView>> {
    let mut edge01 = input("edge01", sent());
    let deployment = object("apps/v1", "Deployment", "default", "fw0-sink");
    let pod = owned(
        ("Pod", "default", "fw0-sink-5d5c", ""),
        &[("Deployment", "fw0-sink", "")],
    );
    report(
        &mut edge01,
        vec![
            observed(pod, verdict(Phase::Failed, "Evicted", "")),
            observed(
                deployment.clone(),
                verdict(Phase::Pending, "Progressing", ""),
            ),
            observed(
                object("v1", "Service", "default", "sink-service"),
                verdict(Phase::Ready, "", ""),
            ),
        ],
    );
    let mut edge02 = input("edge02", sent());
    report(
        &mut edge02,
        vec![observed(deployment, verdict(Phase::Ready, "", ""))],
    );
    edge02.reported.as_mut().unwrap().stale = Some(stale());
    let edge03 = input("edge03", sent());
    let sink = [edge01, edge02, edge03].map(projected);
    let available = Connectivity::Available;
    let sink = vec![
        with(&sink[0], available),
        with(&sink[1], available),
        Arc::clone(&sink[2]),
    ];
    let firewall = vec![expected("apps/v1", "Deployment", "fw0-firewall")];
    let mut firewall = input("edge01", firewall);
    let object = object("apps/v1", "Deployment", "default", "fw0-firewall");
    report(
        &mut firewall,
        vec![observed(object, verdict(Phase::Suspended, "Paused", ""))],
    );
    vec![
        app("firewall", vec![projected(firewall)]),
        app("sink", sink),
    ]
}

fn stale() -> Staleness {
    Staleness {
        since_ms: NOW_MS,
        reason: "no answer".into(),
    }
}

/// The firewall after an update: the first context stores the statuses of the second instance.
fn group() -> Snapshot {
    let mut record = record(
        Some("vfw_composite-profile"),
        &[
            ("Created", "", "2020-08-21T05:36:54.186Z"),
            ("Instantiated", FIRST, "2020-08-21T05:37:28.947Z"),
            ("Instantiated", SECOND, "2020-08-21T05:39:34.64Z"),
        ],
    );
    record.status_context = Some(id(FIRST));
    (record.actions[1].revision, record.actions[2].revision) = (1, 2);
    let view = ContextView {
        children: vec![id("77"), id("78")],
        ..context(SECOND, "Instantiated", apps())
    };
    snapshot(&vfw(), record, vec![view])
}

#[test]
fn all_answers_about_a_group() {
    let model = group();
    let found = model
        .visible_to(&SubjectSet::Everything)
        .dig(&vfw(), &StatusQuery::default())
        .unwrap();
    let answers = [
        "",
        "type=cluster&app=sink&cluster=vfw-cluster-provider%2Bedge01",
        "type=all&app=sink&cluster=vfw-cluster-provider%2Bedge01&resource=fw0-sink&resource=sink-service",
        "status=deployed&resource=sink-service",
        "status=ready&type=rsync",
        "status=ready&output=summary",
        "status=ready&output=detail&app=sink&resource=sink-configmap&resource=fw0-sink",
        "type=rsync&output=detail&resource=fw0-firewall",
        "apps&clusters",
        "clusters&app=sink&app=nobody",
        "resources&type=cluster&app=sink&resource=x",
    ];
    let answers = answers.map(|text| {
        let decoded = text.replace("%2B", "+");
        written(EmcoSubject::Group, &decoded, &found)
    });
    expect_file!["group.txt"].assert_eq(&answers.concat());
}

#[test]
fn all_answers_about_a_cluster_and_a_logical_cloud() {
    let mut model = Snapshot::default();
    let cloud = LogicalCloudName::new("testvfw", "lc1").unwrap();
    let actions = [
        ("Created", "", "2020-08-21T18:17:02.464Z"),
        ("Applied", FIRST, ""),
    ];
    model.set_cluster(&cluster("edge01"), Some(record(None, &actions)));
    let actions = [
        ("Created", "", "2020-08-21T18:17:02.464Z"),
        ("Instantiated", SECOND, ""),
    ];
    model.set_logical_cloud(&cloud, Some(record(None, &actions)));
    let idle = LogicalCloudName::new("testvfw", "idle").unwrap();
    model.set_logical_cloud(&idle, Some(record(None, &actions[..1])));
    let idle_cluster = cluster("edge09");
    model.set_cluster(&idle_cluster, Some(record(None, &actions[..1])));
    let one = |name: &str, kind| {
        let mut input = input("edge01", vec![expected("v1", kind, name)]);
        let object = object("v1", kind, "", name);
        report(
            &mut input,
            vec![observed(object, verdict(Phase::Present, "", ""))],
        );
        with(&projected(input), Connectivity::Retrying)
    };
    for (id_text, name, kind) in [
        (FIRST, "network-intents", "ProviderNetwork"),
        (SECOND, "logical-cloud", "Namespace"),
    ] {
        let view = ContextView {
            meta: None,
            status_context: Some(id(id_text)),
            ..context(
                id_text,
                "Instantiated",
                vec![app(name, vec![one("net", kind)])],
            )
        };
        model.set_context(&id(id_text), Some(view));
    }
    let query = StatusQuery::default();
    let model = model.visible_to(&SubjectSet::Everything);
    let mut answers = String::new();
    let found = model.cluster(&cluster("edge01"), &query).unwrap();
    for text in [
        "instance=",
        "type=cluster",
        "status=ready",
        "status=ready&output=summary",
        "apps",
    ] {
        answers += &written(EmcoSubject::Cluster, text, &found);
    }
    answers += &written(
        EmcoSubject::Cluster,
        "status=deployed",
        &model.cluster(&idle_cluster, &query).unwrap(),
    );
    let found = model.logical_cloud(&cloud, &query).unwrap();
    for text in ["type=what", "status=deployed&apps", "clusters", "resources"] {
        answers += &written(EmcoSubject::LogicalCloud, text, &found);
    }
    answers += &written(
        EmcoSubject::LogicalCloud,
        "",
        &model.logical_cloud(&idle, &query).unwrap(),
    );
    expect_file!["other.txt"].assert_eq(&answers);
}

#[test]
fn every_error_is_one_line_in_emcos_words() {
    let model = group();
    let lines = [
        "app=%zz&type=x",
        "app=%4",
        "type=cluster;output=all",
        "instance&type=x",
        "type=x&status=x&output=x",
        "status=x&output=x",
        "output=small&app=-",
        "app=-&cluster=x",
        "cluster=edge01&resource=a/b",
        "resource=a/b",
        "app=sink&app=nobody",
        "instance=99",
        "instance=x%20y&type=cluster",
        &format!("instance={FIRST}"),
        &format!("instance={FIRST}&clusters"),
    ]
    .map(|text| format!("{text}: {}\n", ask_group(&model, text).unwrap_err()));
    expect![[r#"
        app=%zz&type=x: invalid URL escape "%zz"
        app=%4: invalid URL escape "%4"
        type=cluster;output=all: invalid semicolon separator in query
        instance&type=x: Invalid query instance
        type=x&status=x&output=x: Invalid query type
        status=x&output=x: Invalid query status
        output=small&app=-: Invalid query output
        app=-&cluster=x: Invalid app query
        cluster=edge01&resource=a/b: Invalid cluster query
        resource=a/b: Invalid resources query
        app=sink&app=nobody: Filter app nobody not in list of apps for composite app compositevfw
        instance=99: No state information for 99
        instance=x%20y&type=cluster: No state information for x%20y
        instance=2621114006130701074: AppContext for status query not found: Error finding the context id: Error getting run time context metadata: Key doesn't exist
        instance=2621114006130701074&clusters: AppContext for Apps List status query not found: Error finding the context id: Error getting run time context metadata: Key doesn't exist
    "#]]
    .assert_eq(&lines.concat());
}

#[test]
fn missing_subjects_are_reported_in_emcos_words() {
    let model = group();
    let other = kindsight_model::DigName::new("testvfw", "compositevfw", "v1", "other").unwrap();
    let group = ask(EmcoSubject::Group, "", |query| {
        model.visible_to(&SubjectSet::Everything).dig(&other, query)
    });
    let other = cluster("edge09");
    let of_cluster = ask(EmcoSubject::Cluster, "", |query| {
        model
            .visible_to(&SubjectSet::Everything)
            .cluster(&other, query)
    });
    let other = LogicalCloudName::new("testvfw", "lc1").unwrap();
    let cloud = ask(EmcoSubject::LogicalCloud, "", |query| {
        model
            .visible_to(&SubjectSet::Everything)
            .logical_cloud(&other, query)
    });
    let missing = [group, of_cluster, cloud].map(Result::unwrap_err);
    assert!(missing.iter().all(EmcoError::is_missing));
    let begun = context(SECOND, "", Vec::new());
    let begun = ContextView {
        status: None,
        ..begun
    };
    let model = snapshot(&vfw(), vfw_record(), vec![begun]);
    let error = ask_group(&model, "").unwrap_err();
    assert!(!error.is_missing());
    let lines = missing.iter().chain([&error]);
    let lines: Vec<_> = lines.map(|error| format!("{error}\n")).collect();
    expect![[r#"
        DeploymentIntentGroup not found: there is no `testvfw/compositevfw/v1/other`; expected one of `testvfw/compositevfw/v1/vfw_deployment_intent_group`
        cluster state not found: there is no `vfw-cluster-provider+edge09`; expected one that is known; there is none yet
        Logical Cloud state not found: there is no `testvfw/lc1`; expected one that is known; there is none yet
        AppContext status handle not found: Error getting run time context handles: Key doesn't exist
    "#]]
    .assert_eq(&lines.concat());
}

#[test]
fn the_first_value_of_a_parameter_counts_and_unknown_parameters_are_ignored() {
    let text = "type=cluster&type=x&output=detail&output=y&x=y&instance=7&instance=z&apps=1";
    let query = EmcoQuery::parse(EmcoSubject::Group, text, &pairs(text)).unwrap();
    let selection = &query.selection;
    assert_eq!(selection.kind, Some(QueryType::Cluster));
    assert_eq!(selection.instance, Instance::Of("7".parse().unwrap()));
    assert_eq!(
        selection.listing,
        Some(kindsight_api::status::Listing::Apps)
    );
    assert!(!query.asks_status);
    let none: &[(&str, &str)] = &[];
    let query = EmcoQuery::parse(EmcoSubject::LogicalCloud, "", none).unwrap();
    assert_eq!(
        (query.selection.kind, query.asks_status),
        (Some(QueryType::Cluster), true)
    );
    let lists = EmcoQuery::parse(EmcoSubject::LogicalCloud, "", &[("apps", "")]).unwrap();
    assert_eq!(lists.selection.listing, None);
}

#[test]
fn a_group_that_was_never_instantiated_has_states_and_empty_lists() {
    let created = record(None, &[("Created", "", "2020-08-21T05:36:54.186Z")]);
    let model = snapshot(&vfw(), created, vec![]);
    let answer = ask_group(&model, "status=ready&app=nobody").unwrap();
    let members: Vec<&str> = answer
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        members,
        [
            "compositeApp",
            "compositeAppVersion",
            "name",
            "project",
            "states"
        ]
    );
    for (list, member) in [
        ("apps", "apps"),
        ("clusters", "clustersByApp"),
        ("resources", "resourcesByApp"),
    ] {
        assert_eq!(
            ask_group(&model, list).unwrap()[member],
            serde_json::json!([])
        );
    }
}

#[test]
fn an_empty_selection_is_not_ready() {
    let answer = ask_group(&group(), "status=ready&resource=nobody").unwrap();
    assert_eq!(answer["readyStatus"], "NotReady");
    assert_eq!(
        (answer.get("apps"), answer.get("readyCounts")),
        (None, None)
    );
}
