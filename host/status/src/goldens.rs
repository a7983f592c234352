//! Tests: answers have every member of the goldens.

use kindsight_model::{DigName, Object, Phase, RsyncStatus, SubjectSet};
use serde_json::Value;

use crate::samples::{
    FIRST, SECOND, app, ask, cluster, context, expected, input, object, observed, projected, query,
    record, report, snapshot, verdict, vfw, vfw_apps, vfw_record, vfw_snapshot,
};
use crate::{ContextView, Expected, Snapshot};

const BOTH: [&str; 2] = ["edge01", "edge02"];

/// Asserts that the answer has every member of the golden with the same value, and arrays in the same order.
fn assert_covers(golden: &Value, answer: &Value, path: &str) {
    match (golden, answer) {
        (Value::Object(golden), Value::Object(answer)) => {
            for (key, value) in golden {
                let found = answer.get(key);
                let found = found.unwrap_or_else(|| panic!("{path}/{key} is missing"));
                assert_covers(value, found, &format!("{path}/{key}"));
            }
        }
        (Value::Array(golden), Value::Array(answer)) => {
            assert_eq!(golden.len(), answer.len(), "{path}");
            for (index, (golden, answer)) in golden.iter().zip(answer).enumerate() {
                assert_covers(golden, answer, &format!("{path}/{index}"));
            }
        }
        _ => assert_eq!(golden, answer, "{path}"),
    }
}

fn check(golden: &str, snapshot: &Snapshot, dig: &DigName, pairs: &[(&str, &str)]) {
    let golden: Value = serde_json::from_str(golden).unwrap();
    assert_covers(&golden, &ask(snapshot, dig, pairs), "");
}

/// The firewall after a termination and another instantiation.
fn reinstantiated() -> Snapshot {
    let applied = vfw_apps(&BOTH, RsyncStatus::Applied);
    let deleted = vfw_apps(&BOTH, RsyncStatus::Deleted);
    let contexts = vec![
        context(FIRST, "Terminated", deleted),
        context(SECOND, "Instantiated", applied),
    ];
    snapshot(&vfw(), vfw_record(), contexts)
}

#[test]
fn the_default_answer_has_all_resources_that_were_sent() {
    let golden = include_str!("../../../tests/golden/dig-default.json");
    check(golden, &reinstantiated(), &vfw(), &[]);
}

#[test]
fn a_summary_has_only_counts() {
    let golden = include_str!("../../../tests/golden/dig-summary.json");
    for word in ["summary", "small"] {
        check(golden, &reinstantiated(), &vfw(), &[("output", word)]);
        assert_eq!(
            ask(&reinstantiated(), &vfw(), &[("output", word)]).get("apps"),
            None
        );
    }
}

#[test]
fn a_query_can_select_one_cluster() {
    let golden = include_str!("../../../tests/golden/dig-by-cluster.json");
    let id = "3983785381246146818";
    let actions = [
        ("Created", "", "2020-08-21T18:17:03.503Z"),
        ("Approved", "", "2020-08-21T18:17:18.037Z"),
        ("Instantiated", id, "2020-08-21T18:17:18.275Z"),
    ];
    let record = record(Some("vfw_composite-profile"), &actions);
    let apps = vfw_apps(&BOTH, RsyncStatus::Applied);
    let snapshot = snapshot(&vfw(), record, vec![context(id, "Instantiated", apps)]);
    let pairs = [("cluster", "vfw-cluster-provider+edge02")];
    check(golden, &snapshot, &vfw(), &pairs);
}

#[test]
fn a_query_can_select_an_older_instance_and_two_resources() {
    let golden = include_str!("../../../tests/golden/dig-instance-two-resources.json");
    let pairs = [
        ("output", "all"),
        ("type", "rsync"),
        ("resource", "fw0-packetgen"),
        ("resource", "sink-configmap"),
        ("instance", FIRST),
    ];
    check(golden, &reinstantiated(), &vfw(), &pairs);
}

#[test]
fn a_query_can_request_objects() {
    let golden = include_str!("../../../tests/golden/dig-detail-cluster-sink-configmap.json");
    let answer: Value = serde_json::from_str(golden).unwrap();
    let on = |index: usize| {
        let pointer = format!("/apps/0/clusters/{index}/resources/0/detail");
        let live = Object::from_json(answer.pointer(&pointer).unwrap().to_string()).unwrap();
        let pod = object("v1", "Pod", "default", "fw0-sink-5d5c");
        let mut input = input(
            BOTH[index],
            vec![expected("v1", "ConfigMap", "sink-configmap")],
        );
        report(
            &mut input,
            vec![
                observed(pod, verdict(Phase::Ready, "", "")),
                observed(live, verdict(Phase::Present, "", "")),
            ],
        );
        projected(input)
    };
    let snapshot = vfw_snapshot(vec![app("sink", vec![on(0), on(1)])]);
    let pairs = [
        ("output", "detail"),
        ("type", "cluster"),
        ("app", "sink"),
        ("resource", "sink-configmap"),
    ];
    check(golden, &snapshot, &vfw(), &pairs);
}

#[test]
fn a_cluster_has_a_status_of_its_own() {
    let golden = include_str!("../../../tests/golden/cluster-network-intents.json");
    let id = "9116473999070524329";
    let resources: Vec<Expected> = [
        ("ProviderNetwork", "emco-private-net"),
        ("Network", "protected-private-net"),
        ("ProviderNetwork", "unprotected-private-net"),
    ]
    .map(|(kind, name)| expected("k8s.plugin.opnfv.org/v1alpha1", kind, name))
    .into();
    let apps = vec![app(
        "network-intents",
        vec![projected(input("edge01", resources))],
    )];
    let context = ContextView {
        meta: None,
        ..context(id, "Instantiated", apps)
    };
    let actions = [
        ("Created", "", "2020-08-21T18:17:02.464Z"),
        ("Applied", id, "2020-08-21T18:17:11.983Z"),
    ];
    let mut snapshot = Snapshot::default();
    snapshot.set_cluster(&cluster("edge01"), Some(record(None, &actions)));
    snapshot.set_context(&context.id.clone().unwrap(), Some(context));
    let query = query(&[]);
    let subject = snapshot
        .visible_to(&SubjectSet::Everything)
        .cluster(&cluster("edge01"), &query)
        .unwrap();
    let answer = serde_json::to_value(subject.answer(&query).unwrap()).unwrap();
    assert_covers(&serde_json::from_str(golden).unwrap(), &answer, "");
}

#[test]
fn instances_are_listed_under_the_version_that_was_instantiated() {
    let golden = include_str!("../../../tests/golden/dig-instances-list.json");
    let name =
        |version| DigName::new("myproject", "composite-app-xyz", version, "dig-xyz").unwrap();
    let ids = [
        "8369380046269976283",
        "5693804306826847621",
        "3393800466288997627",
        "2369300486868279620",
    ];
    let time = "2021-01-01T00:00:00Z";
    let actions: Vec<_> = ids
        .iter()
        .flat_map(|&id| [("Instantiated", id, time), ("Terminated", id, time)])
        .collect();
    let context = ContextView {
        meta: Some(name("v1")),
        ..context(ids[3], "Terminated", Vec::new())
    };
    let snapshot = snapshot(&name("v1.0"), record(None, &actions), vec![context]);
    check(golden, &snapshot, &name("v1.0"), &[("instance", "")]);
}
