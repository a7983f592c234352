//! Tests: answers to `type=all`, which have both statuses.

use kindsight_model::{LogicalCloudName, SubjectSet};
use serde_json::{Value, json};

use super::*;
use crate::Subject;
use crate::samples::{cluster, id};

/// The answer about a subject with each of the types `rsync`, `cluster` and `all`.
fn of_each_type<'q>(
    pairs: &[(&'q str, &'q str)],
    subject: impl Fn(&StatusQuery) -> Subject,
) -> [Value; 3] {
    ["rsync", "cluster", "all"].map(|kind| {
        let query = query(&[pairs, &[("type", kind)]].concat());
        serde_json::to_value(subject(&query).answer(&query).unwrap()).unwrap()
    })
}

/// All resources of an answer, with pointers to them.
fn resources(answer: &Value) -> Vec<(String, &Value)> {
    let mut parts = vec![(String::new(), answer)];
    for level in ["apps", "clusters", "resources"] {
        let below = parts.iter().flat_map(|(at, part)| {
            let items = part[level].as_array().into_iter().flatten().enumerate();
            items.map(move |(position, item)| (format!("{at}/{level}/{position}"), item))
        });
        parts = below.collect();
    }
    parts
}

/// App, cluster, Kind and name of a resource.
fn identity(answer: &Value, (at, resource): &(String, &Value)) -> Value {
    let cluster = at.split("/resources").next().unwrap();
    let app = at.split("/clusters").next().unwrap();
    let (app, cluster) = (pointer(answer, app), pointer(answer, cluster));
    json!([
        app["name"],
        cluster["cluster"],
        resource["GVK"],
        resource["name"]
    ])
}

/// The answer to `type=cluster`, with the counts and the statuses of the answer to `type=rsync`, and with its manifests
/// for resources without an object.
fn merged(sent: &Value, reported: &Value) -> Value {
    let mut merged = reported.clone();
    if let Some(counts) = sent.get("rsync-status") {
        merged["rsync-status"] = counts.clone();
    }
    let of_sent: Vec<_> = resources(sent)
        .iter()
        .map(|resource| (identity(sent, resource), resource.1))
        .collect();
    for resource in resources(reported) {
        let known = identity(reported, &resource);
        let Some((_, of_sent)) = of_sent.iter().find(|(identity, _)| *identity == known) else {
            continue;
        };
        let resource = merged.pointer_mut(&resource.0).unwrap();
        resource["rsync-status"] = of_sent["rsync-status"].clone();
        if let (None, Some(manifest)) = (resource.get("detail"), of_sent.get("detail")) {
            resource["detail"] = manifest.clone();
        }
    }
    merged
}

#[test]
fn an_answer_with_both_statuses_has_all_members_of_both_types() {
    let snapshot = sink();
    for filters in [
        vec![],
        vec![("cluster", "vfw-cluster-provider+edge01")],
        vec![("app", "sink"), ("resource", "sink-service")],
        vec![("resource", "fw0-sink-5d5c")],
    ] {
        for output in ["summary", "all", "detail"] {
            let pairs = [&filters[..], &[("output", output), ("explain", "true")]].concat();
            let [sent, reported, both] = of_each_type(&pairs, |query| {
                snapshot
                    .visible_to(&SubjectSet::Everything)
                    .dig(&vfw(), query)
                    .unwrap()
            });
            assert_eq!(both, merged(&sent, &reported), "{pairs:?}");
        }
    }
}

#[test]
fn each_resource_shows_what_was_sent_and_what_the_cluster_reports() {
    let answer = ask(&sink(), &vfw(), &[("type", "all"), ("output", "detail")]);
    assert_eq!(pointer(&answer, "/rsync-status"), &json!({"Applied": 9}));
    let states = json!({"Failed": 1, "NotPresent": 4, "Pending": 1, "Ready": 1, "Unknown": 3});
    assert_eq!(pointer(&answer, "/cluster-status"), &states);
    let lines: Vec<String> = resources(&answer)
        .into_iter()
        .filter(|(at, _)| at.starts_with("/apps/0/clusters/0/"))
        .map(|(_, resource)| {
            let text = |member: &str| resource[member].as_str().unwrap_or("-").to_owned();
            let detail = match &resource["detail"] {
                // Only the manifests have no namespace.
                detail if detail["metadata"]["namespace"].is_null() => "manifest",
                _ => "object",
            };
            let [name, sent, reported] = ["name", "rsync-status", "cluster-status"].map(text);
            format!("{name}: {sent}, {reported}, {detail}")
        })
        .collect();
    assert_eq!(
        lines,
        [
            "fw0-sink: Applied, Pending, object",
            "sink-configmap: Applied, NotPresent, manifest",
            "sink-service: Applied, Ready, object",
            "fw0-sink-5d5c: -, Failed, object",
        ]
    );
}

#[test]
fn clusters_logical_clouds_and_found_applications_are_answered_with_both_statuses() {
    let mut model = Snapshot::default();
    let cloud = LogicalCloudName::new("testvfw", "lc1").unwrap();
    let found = DigName::new("-", "shop", "-", "web").unwrap();
    let own = |name, id_text| {
        let mut input = input("edge01", vec![expected("v1", "Namespace", name)]);
        let object = object("v1", "Namespace", "", name);
        report(
            &mut input,
            vec![observed(object, verdict(Phase::Ready, "", ""))],
        );
        ContextView {
            meta: None,
            ..context(
                id_text,
                "Instantiated",
                vec![app(name, vec![projected(input)])],
            )
        }
    };
    let applied = [("Applied", FIRST, "")];
    model.set_cluster(&cluster("edge01"), Some(record(None, &applied)));
    model.set_context(&id(FIRST), Some(own("network-intents", FIRST)));
    let instantiated = [("Instantiated", SECOND, "")];
    model.set_logical_cloud(&cloud, Some(record(None, &instantiated)));
    model.set_context(&id(SECOND), Some(own("logical-cloud", SECOND)));
    let of_cluster = of_each_type(&[], |query| {
        model
            .visible_to(&SubjectSet::Everything)
            .cluster(&cluster("edge01"), query)
            .unwrap()
    });
    let of_cloud = of_each_type(&[], |query| {
        model
            .visible_to(&SubjectSet::Everything)
            .logical_cloud(&cloud, query)
            .unwrap()
    });
    for [sent, reported, both] in [of_cluster, of_cloud] {
        assert_eq!(both, merged(&sent, &reported));
        assert_eq!(both["rsync-status"], json!({"Applied": 1}));
        assert_eq!(both["cluster-status"], json!({"Ready": 1}));
    }

    let mut edge01 = input("edge01", Vec::new());
    let pod = object("v1", "Pod", "web", "front");
    report(
        &mut edge01,
        vec![observed(pod, verdict(Phase::Ready, "", ""))],
    );
    let view = ContextView {
        id: None,
        meta: Some(found.clone()),
        status: None,
        ..context(FIRST, "", vec![app("front", vec![projected(edge01)])])
    };
    model.set_found(&found, Some(view));
    let [_, reported, both] = of_each_type(&[], |query| {
        model
            .visible_to(&SubjectSet::Everything)
            .dig(&found, query)
            .unwrap()
    });
    assert_eq!(both, reported, "no orchestrator sent anything");
}
