use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    Bundle, BundleDocument, Coverage, Gvk, KindCoverage, KindState, Object, ObjectError,
    ObjectList, Origin, PartDocument, Rejected, RejectedIdentity, Scope, decode_bundle,
    decode_status, read_bundle,
};

pub(super) fn deployment() -> DeploymentId {
    "7-sink".parse().unwrap()
}

pub(super) fn report(objects: &[Value]) -> Report {
    let objects = objects
        .iter()
        .map(|object| Object::from_json(object.to_string()).unwrap());
    Report {
        objects: objects.collect(),
        ..Report::empty(Origin::Direct)
    }
}

pub(super) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "d", "uid": format!("uid-{name}")},
        "spec": {"nodeName": "n"}, "status": {"phase": "Running", "message": "a long message"},
    })
}

fn owned(mut object: Value) -> Value {
    object["metadata"]["ownerReferences"] =
        json!([{"kind": "ReplicaSet", "name": "rs", "uid": "uid-rs"}]);
    object
}

fn of_kind(api_version: &str, kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {"name": name, "namespace": "d", "uid": format!("uid-{kind}-{name}")},
        "spec": {"a": 1}, "status": {"b": 2},
    })
}

fn format(dialect: BundleDialect, bytes_max: usize) -> BundleFormat {
    BundleFormat { dialect, bytes_max }
}

fn encode(report: &Report, dialect: BundleDialect) -> EncodedBundle {
    encode_bundle(&deployment(), report, &format(dialect, REPORT_BYTES_MAX))
}

/// The text of a part as an API server returns it.
pub(super) fn document(part: &BundlePart) -> String {
    let manifest = part.manifest("default").to_string();
    let members = manifest.strip_suffix('}').unwrap();
    format!(r#"{members},"status":{}}}"#, part.status)
}

pub(super) fn parts(encoded: &EncodedBundle) -> BTreeMap<String, PartDocument> {
    let parts = encoded.further.iter().map(|part| {
        let read = read_bundle(document(part).as_bytes()).unwrap();
        let BundleDocument::Part(read) = read else {
            panic!("a further object");
        };
        (part.name.clone(), read)
    });
    parts.collect()
}

fn decoded(encoded: &EncodedBundle) -> Bundle {
    let parts = parts(encoded);
    match read_bundle(document(&encoded.first).as_bytes()).unwrap() {
        BundleDocument::Whole(bundle) => *bundle,
        BundleDocument::Split(split) => split.join(|name| parts.get(name)).unwrap(),
        BundleDocument::Part(_) => panic!("the first object"),
    }
}

/// Each object with its content, in an order that does not depend on the lists.
pub(super) fn contents(objects: &ObjectList) -> Vec<(String, Value)> {
    let contents = objects.iter().map(|object| {
        let name = format!("{} {}/{}", object.gvk, object.namespace, object.name);
        (name, serde_json::from_str(&object.json).unwrap())
    });
    let mut contents: Vec<(String, Value)> = contents.collect();
    contents.sort_by(|left, right| left.0.cmp(&right.0));
    contents
}

fn status(encoded: &EncodedBundle) -> Value {
    serde_json::from_str(&encoded.first.status).unwrap()
}

fn fields(status: &Value) -> Vec<String> {
    let members = status.as_object().unwrap().iter();
    let members = members.map(|(name, value)| match value.as_array() {
        Some(items) => format!("{name}:{}", items.len()),
        None => format!("{name}={value}"),
    });
    members.collect()
}

#[test]
fn each_object_is_in_the_list_of_its_version_or_in_the_list_of_any_kind() {
    let objects = [
        of_kind("v1", "Pod", "p"),
        of_kind("v1", "Service", "s"),
        of_kind("apps/v1", "Deployment", "d"),
        of_kind("apps/v1beta1", "Deployment", "old"),
        of_kind("apps/v1", "ReplicaSet", "rs"),
        of_kind("networking.k8s.io/v1", "Ingress", "i"),
        of_kind("certificates.k8s.io/v1", "CertificateSigningRequest", "c"),
        of_kind("v1", "Secret", "s"),
    ];
    let encoded = encode(&report(&objects), BundleDialect::V22);
    assert!(encoded.further.is_empty());
    let found = fields(&status(&encoded));
    let expected = [
        "configMapStatuses:0",
        "csrStatuses:1",
        "daemonSetStatuses:0",
        "deploymentStatuses:1",
        "jobStatuses:0",
        "podStatuses:1",
        "ready=false",
        "resourceCount=8",
        "resourceStatuses:4",
        "serviceStatuses:1",
        "statefulSetStatuses:0",
    ];
    assert_eq!(found, expected);
    let item = &status(&encoded)["deploymentStatuses"][0];
    assert_eq!(
        (&item["metadata"]["name"], &item["spec"]["a"]),
        (&json!("d"), &json!(1))
    );
}

#[test]
fn onap_gets_ten_lists_and_the_other_kinds_are_in_a_further_object() {
    let objects = [
        of_kind("v1", "Pod", "p"),
        of_kind("apps/v1", "ReplicaSet", "rs"),
        of_kind("networking.k8s.io/v1", "Ingress", "i"),
        of_kind("certificates.k8s.io/v1", "CertificateSigningRequest", "c"),
        of_kind("v1", "Secret", "s"),
    ];
    let encoded = encode(&report(&objects), BundleDialect::Onap);
    let status = status(&encoded);
    assert_eq!(fields(&status).len(), 12, "{status}");
    assert!(status.get("resourceStatuses").is_none());
    assert!(status["podStatuses"][0].get("spec").is_some());
    // Readers expect the spec of an old version.
    assert!(status["ingressStatuses"][0].get("spec").is_none());
    assert_eq!(status["ingressStatuses"][0]["status"], json!({"b": 2}));
    assert!(status["csrStatuses"][0].get("spec").is_none());
    assert!(status["secretStatuses"][0].get("status").is_none());
    let [part] = &*encoded.further else {
        panic!("one further object");
    };
    assert!(!part.labels.contains_key(DeploymentId::LABEL));
    assert_eq!(part.items, 1);
    assert_eq!(decoded(&encoded).report.objects.len(), 5);
}

#[test]
fn an_empty_list_means_that_the_app_has_no_object_of_the_kind() {
    let mut report = report(&[pod("a")]);
    for (kind, state) in [
        ("Pod", KindState::Forbidden),
        ("Service", KindState::Forbidden),
        ("ConfigMap", KindState::Incomplete),
        ("Secret", KindState::Forbidden),
    ] {
        report
            .coverage
            .set("", kind, Scope::Cluster, KindCoverage::new(state));
    }
    for dialect in [BundleDialect::V22, BundleDialect::Onap] {
        let encoded = encode(&report, dialect);
        let status = status(&encoded);
        for absent in ["serviceStatuses", "configMapStatuses", "secretStatuses"] {
            assert!(status.get(absent).is_none(), "{absent} of {dialect:?}");
        }
        // The last known Pod was not deleted.
        assert_eq!(status["podStatuses"].as_array().unwrap().len(), 1);
        assert_eq!(status["jobStatuses"], json!([]));
        let coverage = decoded(&encoded).report.coverage;
        assert_eq!(coverage, report.coverage, "{dialect:?}");
    }
}

#[test]
fn bookkeeping_and_the_content_of_secrets_are_removed() {
    let applied = "kubectl.kubernetes.io/last-applied-configuration";
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "kept"},
        "metadata": {"name": "c", "uid": "u", "managedFields": [{"manager": "m"}],
            "annotations": {applied: "{}", "other": "kept"}},
    });
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "data": {"key": "aGlkZGVu"}, "type": "Opaque",
        "metadata": {"name": "s", "uid": "u"},
    });
    let encoded = encode(&report(&[object, secret]), BundleDialect::V22);
    let objects = contents(&decoded(&encoded).report.objects);
    let expected = [
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "kept"},
            "metadata": {"name": "c", "uid": "u", "annotations": {"other": "kept"}}}),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "uid": "u"}}),
    ];
    let found: Vec<Value> = objects.into_iter().map(|(_, object)| object).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_object_without_a_type_gets_it_where_the_list_does_not_show_it() {
    let read = |gvk: &Gvk| Object::from_json_as(r#"{"metadata": {"name": "a"}}"#, gvk).unwrap();
    let objects = [
        read(&Gvk::new("", "v1", "Pod")),
        read(&Gvk::new("apps", "v1", "ReplicaSet")),
        read(&Gvk::new("networking.k8s.io", "v1beta1", "Ingress")),
    ];
    let report = Report {
        objects: objects.into(),
        ..Report::empty(Origin::Direct)
    };
    let encoded = encode(&report, BundleDialect::Onap);
    let status = status(&encoded);
    assert_eq!(status["podStatuses"][0], json!({"metadata": {"name": "a"}}));
    assert_eq!(
        status["ingressStatuses"][0]["apiVersion"],
        "networking.k8s.io/v1beta1"
    );
    let kinds = decoded(&encoded).report.objects;
    let kinds: Vec<String> = kinds.iter().map(|object| object.gvk.to_string()).collect();
    assert_eq!(
        kinds,
        [
            "v1 Pod",
            "networking.k8s.io/v1beta1 Ingress",
            "apps/v1 ReplicaSet"
        ]
    );
}

/// The cause of the state of a Kind; none if it is complete.
fn cause(bundle: &Bundle, group: &str, kind: &str) -> Option<String> {
    let found = bundle.report.coverage.of(Some(group), kind, Scope::Cluster);
    (found.state != KindState::Complete).then(|| found.cause().to_owned())
}

#[test]
fn messages_are_dropped_first_then_specs_of_owned_objects_then_owned_objects() {
    let services = (0..6).map(|at| of_kind("v1", "Service", &at.to_string()));
    let pods = (0..20).map(|at| owned(pod(&at.to_string())));
    let report = report(&services.chain(pods).collect::<Vec<_>>());
    let whole = encode(&report, BundleDialect::V22).first.status.len() + status::FRAME_BYTES;
    let lacks = |bytes_max: usize| {
        let format = format(BundleDialect::V22, bytes_max);
        let bundle = decoded(&encode_bundle(&deployment(), &report, &format));
        assert!(cause(&bundle, "", "Service").is_none(), "{bytes_max}");
        let cause = cause(&bundle, "", "Pod")?;
        let (_, lacks) = cause.split_once(" lacks ").unwrap();
        let is_all = bundle.report.objects.len() == report.objects.len();
        Some((lacks.to_owned(), is_all))
    };
    assert_eq!(lacks(whole), None);
    let mut seen: Vec<(String, bool)> = Vec::new();
    for bytes_max in (4200..whole).rev().step_by(7) {
        seen.extend(lacks(bytes_max).filter(|found| Some(found) != seen.last()));
    }
    let specs = "messages, specs of owned objects";
    let expected = [
        ("messages".to_owned(), true),
        (specs.to_owned(), true),
        (format!("{specs}, owned objects"), false),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_report_that_is_still_too_large_continues_in_further_objects() {
    let objects: Vec<Value> = (0..40)
        .map(|n| of_kind("v1", "Service", &n.to_string()))
        .collect();
    let report = report(&objects);
    let encoded = encode_bundle(&deployment(), &report, &format(BundleDialect::V22, 3000));
    assert!(encoded.further.len() > 1, "{}", encoded.further.len());
    for part in encoded.further.iter().chain([&encoded.first]) {
        assert!(part.status.len() <= 3000, "{}", part.status.len());
    }
    let header: Value =
        serde_json::from_str(&encoded.first.annotations[REPORT_ANNOTATION]).unwrap();
    let names = header["parts"].as_array().unwrap().iter();
    let names: Vec<(&str, usize)> = names
        .map(|part| {
            (
                part["name"].as_str().unwrap(),
                part["items"].to_string().parse().unwrap(),
            )
        })
        .collect();
    let expected = encoded.further.iter().map(|part| (&*part.name, part.items));
    assert_eq!(names, expected.collect::<Vec<_>>());
    let bundle = decoded(&encoded);
    assert_eq!(contents(&bundle.report.objects), contents(&report.objects));
    assert!(cause(&bundle, "", "Service").is_none());
    // A reader of the stored status finds the same.
    let stored = decode_status(deployment(), bundle.status_json().as_bytes()).unwrap();
    assert_eq!(contents(&stored.report.objects), contents(&report.objects));
    assert_eq!(stored.report.coverage, bundle.report.coverage);
}

#[test]
fn two_first_objects_of_one_deployment_share_no_further_object() {
    let objects: Vec<Value> = (0..40)
        .map(|n| of_kind("v1", "Service", &n.to_string()))
        .collect();
    let report = report(&objects);
    let usual = encode_bundle(&deployment(), &report, &format(BundleDialect::V22, 3000));
    assert_eq!(usual.clone().in_object("7-sink"), usual);
    let names = |encoded: &EncodedBundle| -> BTreeSet<String> {
        let names = encoded.further.iter().map(|part| part.name.clone());
        names.collect()
    };
    let mut seen = names(&usual);
    let count = seen.len();
    for (name, of_all) in [("second", 2 * count), (&*"x".repeat(253), 3 * count)] {
        let other = usual.clone().in_object(name);
        assert_eq!(other.first.name, name);
        let found = contents(&decoded(&other).report.objects);
        assert_eq!(found, contents(&report.objects));
        assert!(names(&other).iter().all(|name| name.len() < 100));
        seen.extend(names(&other));
        assert_eq!(seen.len(), of_all);
        // An object keeps its names, so an unchanged report is not written again.
        assert_eq!(usual.clone().in_object(name), other);
    }
}

#[test]
fn a_report_with_a_missing_or_changed_object_is_torn() {
    let objects: Vec<Value> = (0..20)
        .map(|n| of_kind("v1", "Service", &n.to_string()))
        .collect();
    let encoded = encode_bundle(
        &deployment(),
        &report(&objects),
        &format(BundleDialect::V22, 3000),
    );
    let read = |document: &str| match read_bundle(document.as_bytes()).unwrap() {
        BundleDocument::Split(split) => split,
        other => panic!("{other:?}"),
    };
    let first = document(&encoded.first);
    let error = read(&first).join(|_| None).unwrap_err().to_string();
    let name = &encoded.further[0].name;
    let missing = format!("`{name}` is missing");
    assert!(error.ends_with(&missing), "{error}");
    let other = parts(&encode(&report(&[]), BundleDialect::V22));
    assert!(other.is_empty());
    let changed = encoded.further[0].clone();
    let changed = BundlePart {
        status: changed.status.replacen("v1", "v2", 1),
        ..changed
    };
    let Ok(BundleDocument::Part(changed)) = read_bundle(document(&changed).as_bytes()) else {
        panic!("a further object");
    };
    let error = read(&first)
        .join(|_| Some(&changed))
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("has another content"), "{error}");
    let later = first.replacen("\"spec\":{\"a\":1}", "\"spec\":{\"a\":2}", 1);
    assert_ne!(later, first);
    let error = read(&later).join(|_| None).unwrap_err().to_string();
    assert!(error.ends_with("belongs to another status"), "{error}");
    // A reader of files has only the first object.
    assert!(decode_bundle(first.as_bytes()).is_err());
}

#[test]
fn a_large_object_affects_only_itself() {
    let mut annotated = of_kind("v1", "ConfigMap", "annotated");
    annotated["metadata"]["annotations"] = json!({"a": "x".repeat(1_000_000)});
    let mut labelled = of_kind("v1", "ConfigMap", "labelled");
    labelled["metadata"]["labels"] = json!({"a": "x".repeat(1_000_000)});
    let mut data = of_kind("v1", "ConfigMap", "data");
    data["data"] = json!({"a": "x".repeat(1_000_000)});
    let mut full = of_kind("example.org/v1", "Thing", "status");
    full["status"] = json!({"a": "x".repeat(1_000_000)});
    let named = of_kind("example.org/v1", "Thing", &"x".repeat(1_000_000));
    let good = pod("good");
    let report = report(&[annotated, labelled, data, full, named, good.clone()]);
    let encoded = encode(&report, BundleDialect::V22);
    assert!(encoded.further.is_empty());
    let bundle = decoded(&encoded);
    let found = contents(&bundle.report.objects);
    assert_eq!(found.len(), 5);
    let of = |name: &str| {
        &found
            .iter()
            .find(|(found, _)| found.ends_with(name))
            .unwrap()
            .1
    };
    assert_eq!(of("good"), &good);
    assert_eq!(of("annotated")["spec"], json!({"a": 1}));
    assert_eq!(of("data")["status"], json!({"b": 2}));
    assert_eq!(of("labelled")["metadata"]["uid"], "uid-ConfigMap-labelled");
    assert!(of("status").get("status").is_none());
    let lost = cause(&bundle, "", "ConfigMap").unwrap();
    assert!(lost.contains("annotations of large objects"), "{lost}");
    // The name of the last object does not fit into the header, so its Kind is incomplete.
    let lost = cause(&bundle, "example.org", "Thing").unwrap();
    assert!(
        lost.contains("statuses of large objects, objects"),
        "{lost}"
    );
    assert!(cause(&bundle, "", "Pod").is_none());
}

#[test]
fn a_deeply_nested_object_keeps_its_neighbours() {
    let deep = |levels: usize| {
        let (open, close) = (r#"{"message":"#.repeat(levels), "}".repeat(levels));
        let status: String = format!("{open}\"{}\"{close}", "x".repeat(3000));
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"deep","uid":"u"}},"status":{status}}}"#
        )
    };
    assert!(Object::from_json(deep(127)).is_err());
    let mut report = report(&[pod("a"), owned(pod("b"))]);
    let objects = report.objects.iter().cloned();
    let objects = objects.chain([Object::from_json(deep(126)).unwrap()]);
    report.objects = objects.collect();
    for bytes_max in [100_000, 4000] {
        for dialect in [BundleDialect::V22, BundleDialect::Onap] {
            let encoded = encode_bundle(&deployment(), &report, &format(dialect, bytes_max));
            let found = decoded(&encoded).report.objects;
            assert!(
                found.iter().any(|object| &*object.name == "a"),
                "{bytes_max}"
            );
        }
    }
}

#[test]
fn objects_that_the_monitor_cannot_read_stay_known() {
    let mut report = report(&[pod("a")]);
    let identity = RejectedIdentity::of(Gvk::new("", "v1", "ConfigMap"), "d", "large");
    report.rejected.push(Rejected {
        pointer: "ConfigMap/d/large".to_owned(),
        error: ObjectError::TooLarge(3_000_000),
        identity: identity.clone(),
    });
    let bundle = decoded(&encode(&report, BundleDialect::V22));
    let [rejected] = &*bundle.report.rejected else {
        panic!("{:?}", bundle.report.rejected);
    };
    assert_eq!(rejected.identity, identity);
    assert_eq!(
        rejected.error.to_string(),
        ObjectError::TooLarge(3_000_000).to_string()
    );
}

#[test]
fn hooks_are_still_hooks() {
    let mut report = report(&[
        of_kind("apps/v1", "ReplicaSet", "a"),
        of_kind("batch/v1", "Job", "b"),
    ]);
    report.hooks.insert(1);
    let bundle = decoded(&encode(&report, BundleDialect::V22)).report;
    let hooks = bundle
        .hooks
        .iter()
        .map(|at| &*bundle.objects.get(*at).unwrap().name);
    assert_eq!(hooks.collect::<Vec<_>>(), ["b"]);
}

#[test]
fn a_definition_that_removes_uids_and_objects_is_reported() {
    let mut child = owned(pod("rs-x1"));
    child["metadata"]["ownerReferences"][0]["name"] = json!("rs");
    let objects = [child, of_kind("apps/v1", "ReplicaSet", "rs"), pod("alone")];
    let encoded = encode(&report(&objects), BundleDialect::V22);
    assert!(decoded(&encoded).report.faults.is_empty());
    let mut pruned = encoded.clone();
    let mut status = status(&pruned);
    for item in status["podStatuses"].as_array_mut().unwrap() {
        let metadata = item["metadata"].as_object_mut().unwrap();
        metadata.retain(|key, _| key == "name" || key == "namespace");
    }
    pruned.first.status = status.to_string();
    let report = decoded(&pruned).report;
    assert_eq!(report.faults.len(), 1);
    assert!(report.faults[0].contains("by name"), "{}", report.faults[0]);
    let pods = report
        .objects
        .iter()
        .filter(|object| &*object.gvk.kind == "Pod");
    let owners: Vec<usize> = pods.map(|pod| pod.owners.len()).collect();
    assert_eq!(owners, [1, 0]);
    status["resourceStatuses"] = json!([]);
    pruned.first.status = status.to_string();
    let lost = decoded(&pruned);
    let lost = cause(&lost, "apps", "ReplicaSet").unwrap();
    assert!(lost.contains("removed objects"), "{lost}");
}

#[test]
fn the_spec_of_kindsights_monitor_is_up_to_date() {
    let bundle = decoded(&encode(
        &report(&[of_kind("v1", "Service", "s")]),
        BundleDialect::V22,
    ));
    assert!(!bundle.report.objects.get(0).unwrap().lacks_spec());
    let stored = decode_status(deployment(), bundle.status_json().as_bytes()).unwrap();
    assert!(!stored.report.objects.get(0).unwrap().lacks_spec());
}

#[test]
fn an_earlier_report_of_another_monitor_does_not_change_the_coverage() {
    let mut report = report(&[]);
    report.coverage = Coverage::nothing();
    let mut bundle = decoded(&encode(&report, BundleDialect::V22)).report;
    bundle.cover_every_kind();
    assert_eq!(bundle.coverage, report.coverage);
}

/// Any JSON, at most a few levels deep, with all characters.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z\\x00-\\x1f\"]{0,6}", inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec![
        ("v1", "Pod"),
        ("v1", "Service"),
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "ReplicaSet"),
        ("apps/v1beta1", "StatefulSet"),
        ("apps/v1", "DaemonSet"),
        ("batch/v1", "Job"),
        ("networking.k8s.io/v1", "Ingress"),
        ("certificates.k8s.io/v1", "CertificateSigningRequest"),
        ("example.org/v1", "Thing"),
    ]);
    (
        kinds,
        any::<String>(),
        any_value(),
        any_value(),
        any::<bool>(),
    )
        .prop_map(|((api_version, kind), name, spec, status, is_owned)| {
            let object = json!({
                "apiVersion": api_version, "kind": kind, "spec": spec, "status": status,
                "metadata": {"name": format!("a{name}"), "namespace": "d", "uid": "u"},
            });
            if is_owned { owned(object) } else { object }
        })
}

proptest! {
    #[test]
    fn any_objects_survive(objects in prop::collection::vec(any_object(), 0..12)) {
        let report = report(&objects);
        let bundle = decoded(&encode(&report, BundleDialect::V22)).report;
        prop_assert!(bundle.rejected.is_empty());
        let last: BTreeMap<String, Value> = contents(&report.objects).into_iter().collect();
        let found: BTreeMap<String, Value> = contents(&bundle.objects).into_iter().collect();
        for (name, mut object) in last {
            if object["kind"] == "Secret" {
                object.as_object_mut().unwrap().retain(|key, _| key != "spec" && key != "status");
            }
            if objects.iter().filter(|other| other["metadata"] == object["metadata"]).count() == 1 {
                prop_assert_eq!(found.get(&name), Some(&object));
            }
        }
    }

    #[test]
    fn any_report_fits_any_limit(
        objects in prop::collection::vec(any_object(), 0..12),
        bytes_max in 0_usize..6000,
        is_onap: bool,
    ) {
        let dialect = if is_onap { BundleDialect::Onap } else { BundleDialect::V22 };
        let report = report(&objects);
        let encoded = encode_bundle(&deployment(), &report, &format(dialect, bytes_max));
        for part in encoded.further.iter().chain([&encoded.first]) {
            prop_assert!(part.status.len() <= bytes_max.max(status::FRAME_BYTES));
        }
        let bundle = decoded(&encoded).report;
        let is_known = |object: &Object| {
            let state = bundle.coverage.of(Some(&object.gvk.group), &object.gvk.kind, Scope::Cluster);
            let same = |other: &Object| other.gvk.kind == object.gvk.kind && other.name == object.name;
            let mut rejected = bundle.rejected.iter().filter_map(|item| item.identity.as_ref());
            bundle.objects.iter().any(same)
                || state.state == KindState::Incomplete
                || rejected.any(|identity| identity.name == object.name)
        };
        prop_assert!(report.objects.iter().all(is_known));
    }
}
