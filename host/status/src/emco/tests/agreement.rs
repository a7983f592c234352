//! Tests: both dialects agree on every context.

use kindsight_model::SubjectSet;
use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::AppView;

/// Each resource of an app in a cluster: its rsync status if it was sent, and its phase if it exists.
type Resources = Vec<(Option<usize>, Option<usize>)>;

/// An app in a cluster: its resources, whether the cluster has reported, and whether the report is stale.
type Placed = Option<(Resources, bool, bool)>;

const NAMES: [&str; 4] = ["a", "b", "c", "c"];
const NAMESPACES: [&str; 4] = ["default", "default", "default", "other"];

fn placed() -> impl Strategy<Value = Placed> {
    let resource = (
        option::of(0..RsyncStatus::ALL.len()),
        option::of(0..Phase::ALL.len()),
    );
    let resources = vec(resource, 4);
    option::weighted(0.8, (resources, prop::bool::weighted(0.8), any::<bool>()))
}

fn on(number: usize, resources: &Resources, is_reported: bool, is_stale: bool) -> Arc<ClusterView> {
    let kinds = |position: usize| ["Service", "Pod"][position % 2];
    let sent = resources
        .iter()
        .enumerate()
        .filter_map(|(position, (rsync, _))| {
            let manifest = object("v1", kinds(position), NAMESPACES[position], NAMES[position]);
            Some(Expected::new(manifest, Some(RsyncStatus::ALL[(*rsync)?])))
        });
    let mut input = input(&format!("edge{number}"), sent.collect());
    if is_reported {
        let there = resources
            .iter()
            .enumerate()
            .filter_map(|(position, (_, phase))| {
                let kind = kinds(position);
                let object = match position {
                    1 => owned((kind, "default", "b", ""), &[("Service", "a", "")]),
                    _ => object("v1", kind, NAMESPACES[position], NAMES[position]),
                };
                Some(observed(object, verdict(Phase::ALL[(*phase)?], "", "")))
            });
        report(&mut input, there.collect());
        input.reported.as_mut().unwrap().stale = is_stale.then(stale);
    }
    projected(input)
}

fn model(placed: &[Vec<Placed>], status: &str) -> Snapshot {
    let apps = placed.iter().enumerate().map(|(number, clusters)| {
        let views = clusters.iter().enumerate().filter_map(|(number, cluster)| {
            let (resources, is_reported, is_stale) = cluster.as_ref()?;
            Some(on(number, resources, *is_reported, *is_stale))
        });
        app(&format!("app{number}"), views.collect())
    });
    let apps: Vec<Arc<AppView>> = apps.collect();
    snapshot(&vfw(), vfw_record(), vec![context(SECOND, status, apps)])
}

/// EMCO's word for a resource of an answer in the own dialect.
fn word(resource: &Value) -> &'static str {
    let is_sent = resource.get("expected").is_none();
    match (
        resource["phase"].as_str().unwrap(),
        resource["reason"].as_str(),
    ) {
        ("ready" | "present" | "suspended" | "degraded", _) => "Ready",
        ("not-present", _) => "NotPresent",
        ("unknown", Some("NoReportYet" | "NotReported")) if is_sent => "NotPresent",
        _ => "NotReady",
    }
}

/// Every resource of an answer, with its app and its cluster.
fn listed(answer: &Value, provider: &str) -> Vec<(Value, Value)> {
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut listed = Vec::new();
    for app in list(answer, "apps") {
        for cluster in list(&app, "clusters") {
            let place = json!([app["name"], cluster[provider], cluster["cluster"]]);
            for resource in list(&cluster, "resources") {
                let id = json!([place, resource["GVK"], resource["name"]]);
                listed.push((id, resource));
            }
        }
    }
    listed
}

fn sums(words: impl Iterator<Item = &'static str>) -> BTreeMap<String, u32> {
    let mut sums = BTreeMap::new();
    for word in words {
        *sums.entry(word.to_owned()).or_default() += 1;
    }
    sums
}

fn counts(answer: &Value, member: &str) -> BTreeMap<String, u32> {
    answer.get(member).map_or_else(BTreeMap::new, |counts| {
        serde_json::from_value(counts.clone()).unwrap()
    })
}

proptest! {
    #[test]
    fn both_dialects_agree_on_states_and_counts(
        placed in vec(vec(placed(), 2), 1..3),
        status in prop::sample::select(vec!["Instantiated", "Terminating", "Terminated", "Odd"]),
        form in prop::sample::select(vec!["type=rsync", "type=cluster", "status=deployed", "status=ready"]),
        output in prop::sample::select(vec!["summary", "all", "detail"]),
        filters in prop::sample::subsequence(
            vec!["app=app0", "cluster=vfw-cluster-provider+edge1", "resource=c", "resource=a"],
            0..3,
        ),
    ) {
        let model = model(&placed, status);
        let filters = filters.join("&");
        let is_ready = form == "type=cluster" || form == "status=ready";
        let ours_of = |output: &str| {
            let kind = if is_ready { "cluster" } else { "rsync" };
            let text = format!("type={kind}&output={output}&{filters}");
            let query = StatusQuery::parse(pairs(&text)).unwrap();
            let found = model.visible_to(&SubjectSet::Everything).dig(&vfw(), &query).unwrap();
            found.answer(&query).map(|answer| serde_json::to_value(answer).unwrap()).ok()
        };
        let text = format!("{form}&output={output}&{filters}");
        // An unknown name is an error in the own dialect, and usually an empty answer in EMCO's dialect.
        let Some(ours) = ours_of(output) else {
            return Ok(());
        };
        let theirs = ask_group(&model, &text).unwrap();
        let (resource_word, counted) = match form {
            "type=rsync" => ("rsyncStatus", "rsyncStatus"),
            "type=cluster" => ("clusterStatus", "clusterStatus"),
            "status=deployed" => ("deployedStatus", "deployedCounts"),
            _ => ("readyStatus", "readyCounts"),
        };
        let (ours_listed, theirs_listed) =
            (listed(&ours, "cluster-provider"), listed(&theirs, "clusterProvider"));
        let ids = |listed: &[(Value, Value)]| listed.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
        prop_assert_eq!(ids(&ours_listed), ids(&theirs_listed));
        for ((_, ours), (_, theirs)) in ours_listed.iter().zip(&theirs_listed) {
            let expected = if is_ready { word(ours) } else { ours["rsync-status"].as_str().unwrap() };
            prop_assert_eq!(&theirs[resource_word], expected);
            prop_assert_eq!(theirs.get("detail").is_some(), output == "detail");
        }
        // Counts cover everything that is selected, for any output.
        let all = listed(&ours_of("all").unwrap(), "cluster-provider");
        let expected = if is_ready {
            sums(all.iter().map(|(_, resource)| word(resource)))
        } else {
            counts(&ours, "rsync-status")
        };
        prop_assert_eq!(counts(&theirs, counted), expected);
        let context_status = if form.starts_with("type") { "status" } else { "deployedStatus" };
        prop_assert_eq!(&theirs[context_status], status);
        let whole = is_ready.then(|| match word(&json!({"phase": ours["ready-phase"]})) {
            "Ready" => "Ready",
            _ => "NotReady",
        });
        prop_assert_eq!(theirs.get("readyStatus").and_then(Value::as_str), whole);
    }
}
