use kindsight_contract::Coverage::{self as RelationCoverage, Complete, Partial, Unknown};
use serde_json::{Value, json};

use super::*;
use crate::{BUNDLE_ITEMS_MAX, Report, decode_status};

fn report(status: &str) -> Report {
    let bundle = decode_status("7-sink".parse().unwrap(), status.as_bytes());
    bundle.unwrap().report
}

fn relation(report: &Report, group: &str, kind: &str) -> RelationCoverage {
    let coverage = &report.related_coverage;
    let found = coverage.of(Some(group), kind, Scope::Cluster);
    found.state.for_relations()
}

fn check(status: &Value, expected: &[(&str, &str, RelationCoverage)]) {
    let report = report(&status.to_string());
    for &(group, kind, covered) in expected {
        assert_eq!(
            relation(&report, group, kind),
            covered,
            "{group}/{kind} in {status}"
        );
    }
}

/// An entry of the list of any Kind; `res` is its base64-encoded object.
fn entry(group: &str, kind: &str, res: &str) -> Value {
    json!({"group": group, "version": "v1", "kind": kind, "name": "one", "res": res})
}

/// `{}` in base64.
const OBJECT: &str = "e30=";

#[test]
fn the_kinds_of_empty_lists_are_complete() {
    let expected = [
        ("", "Pod", Complete),
        ("batch", "Job", Complete),
        ("extensions", "Deployment", Complete),
        ("x.org", "Deployment", Unknown),
        ("", "Secret", Unknown),
        ("apps", "ReplicaSet", Unknown),
    ];
    check(&json!({}), &expected);
    check(
        &json!({"secretStatuses": []}),
        &[
            ("", "Secret", Complete),
            ("networking.k8s.io", "Ingress", Unknown),
        ],
    );
}

#[test]
fn a_list_of_any_kind_covers_the_kinds_of_its_objects() {
    let slices = entry("discovery.k8s.io", "EndpointSlice", OBJECT);
    let expected = [
        ("discovery.k8s.io", "EndpointSlice", Complete),
        ("apps", "ReplicaSet", Unknown),
        ("", "Pod", Complete),
    ];
    check(&json!({"resourceStatuses": [slices]}), &expected);
    // A list that is not an array covers no Kind. A Pod in another list does not prove that all Pods are
    // known.
    let network = json!({"apiVersion": "x.org/v1", "kind": "Network", "metadata": {"name": "n"}});
    let expected = [("x.org", "Network", Partial), ("y.org", "Network", Unknown)];
    check(
        &json!({"resourceStatuses": 7, "podStatuses": [network]}),
        &expected,
    );
}

#[test]
fn a_kind_with_an_unreadable_item_is_partly_covered() {
    let pod = json!({"metadata": {"name": "p"}});
    let expected = [("", "Pod", Partial), ("batch", "Job", Complete)];
    check(&json!({"podStatuses": [pod, 7]}), &expected);
    check(
        &json!({"podStatuses": [7]}),
        &[("", "Pod", Unknown), ("batch", "Job", Complete)],
    );
    check(&json!({"podStatuses": 7}), &[("", "Pod", Unknown)]);
    let thing = [
        entry("x.org", "Thing", OBJECT),
        entry("x.org", "Thing", "?"),
    ];
    check(
        &json!({"podStatuses": [pod], "resourceStatuses": thing}),
        &[("x.org", "Thing", Partial), ("", "Pod", Complete)],
    );
    // An item of an unknown Kind may be of any Kind.
    check(
        &json!({"podStatuses": [pod], "resourceStatuses": [7]}),
        &[("", "Pod", Partial), ("batch", "Job", Unknown)],
    );
}

#[test]
fn a_truncated_report_covers_no_kind_completely() {
    let items = vec!["{}"; BUNDLE_ITEMS_MAX + 1].join(",");
    let report = report(&format!(r#"{{"podStatuses":[{items}]}}"#));
    assert_eq!(relation(&report, "", "Pod"), Partial);
    assert_eq!(relation(&report, "batch", "Job"), Unknown);
}

#[test]
fn a_monitor_of_every_kind_covers_kinds_without_a_list() {
    let network = json!({"apiVersion": "x.org/v1", "kind": "Network", "metadata": {"name": "n"}});
    let status = json!({"podStatuses": [network], "jobStatuses": 7}).to_string();
    let mut report = report(&status);
    report.cover_every_kind();
    let state = |group, kind| {
        let coverage = &report.coverage;
        coverage.of(Some(group), kind, Scope::Cluster).state
    };
    assert_eq!(state("", "Secret"), KindState::Complete);
    assert_eq!(state("y.org", "Thing"), KindState::Presumed);
    assert_eq!(state("batch", "Job"), KindState::Incomplete);
    assert_eq!(relation(&report, "x.org", "Network"), Complete);
    assert_eq!(relation(&report, "batch", "Job"), Unknown);
}
