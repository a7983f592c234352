//! Tests: the answers of the specification, compared member by member.

use kindsight_model::{DigName, Object, Phase, RsyncStatus};
use serde_json::Value;

use crate::samples::{
    FIRST, SECOND, app, ask, cluster, context, expected, input, object, observed, projected, query,
    read_model, record, report, verdict, vfw, vfw_apps, vfw_read_model, vfw_record,
};
use crate::{ContextView, Expected, ReadModel};

const BOTH: [&str; 2] = ["edge01", "edge02"];

/// Asserts that every member of the golden is in the answer with the same value, arrays in the same order.
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

fn check(golden: &str, read_model: &ReadModel, dig: &DigName, pairs: &[(&str, &str)]) {
    let golden: Value = serde_json::from_str(golden).unwrap();
    assert_covers(&golden, &ask(read_model, dig, pairs), "");
}

/// The firewall, terminated once and instantiated again.
fn reinstantiated() -> ReadModel {
    let applied = vfw_apps(&BOTH, RsyncStatus::Applied);
    let deleted = vfw_apps(&BOTH, RsyncStatus::Deleted);
    let contexts = vec![
        context(FIRST, "Terminated", deleted),
        context(SECOND, "Instantiated", applied),
    ];
    read_model(&vfw(), vfw_record(), contexts)
}

#[test]
fn the_default_is_what_was_sent_everywhere() {
    let golden = include_str!("../../../tests/golden/dig-default.json");
    check(golden, &reinstantiated(), &vfw(), &[]);
}

#[test]
fn a_summary_is_the_counts() {
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
fn one_cluster_can_be_asked_for() {
    let golden = include_str!("../../../tests/golden/dig-by-cluster.json");
    let id = "3983785381246146818";
    let actions = [
        ("Created", "", "2020-08-21T18:17:03.503Z"),
        ("Approved", "", "2020-08-21T18:17:18.037Z"),
        ("Instantiated", id, "2020-08-21T18:17:18.275Z"),
    ];
    let record = record(Some("vfw_composite-profile"), &actions);
    let apps = vfw_apps(&BOTH, RsyncStatus::Applied);
    let read_model = read_model(&vfw(), record, vec![context(id, "Instantiated", apps)]);
    let pairs = [("cluster", "vfw-cluster-provider+edge02")];
    check(golden, &read_model, &vfw(), &pairs);
}

#[test]
fn an_older_instance_and_two_resources_can_be_asked_for() {
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
fn the_object_itself_can_be_asked_for() {
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
    let read_model = vfw_read_model(vec![app("sink", vec![on(0), on(1)])]);
    let pairs = [
        ("output", "detail"),
        ("type", "cluster"),
        ("app", "sink"),
        ("resource", "sink-configmap"),
    ];
    check(golden, &read_model, &vfw(), &pairs);
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
    let read_model = ReadModel::default();
    read_model.publish_cluster(&cluster("edge01"), Some(record(None, &actions)));
    read_model.publish_context(&context.id.clone().unwrap(), Some(context));
    let query = query(&[]);
    let subject = read_model.cluster(&cluster("edge01"), &query).unwrap();
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
    let read_model = read_model(&name("v1.0"), record(None, &actions), vec![context]);
    check(golden, &read_model, &name("v1.0"), &[("instance", "")]);
}
