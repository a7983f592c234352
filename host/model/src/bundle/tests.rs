use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{KindState, Scope};

fn bundle_of(status: &Value) -> Bundle {
    let document = json!({
        "apiVersion": "k8splugin.io/v1alpha1",
        "kind": "ResourceBundleState",
        "metadata": {"name": "7-sink", "labels": {"emco/deployment-id": "7-sink"}},
        "spec": {"selector": {}},
        "status": status,
    });
    decode_bundle(document.to_string().as_bytes()).unwrap()
}

fn res(object: &Value) -> String {
    BASE64_STANDARD.encode(object.to_string())
}

/// One line for each object and each rejected item.
fn check(bundle: &Bundle, expect: &Expect) {
    let mut lines = String::new();
    for object in &bundle.report.objects {
        let (gvk, namespace, name) = (&object.gvk, &object.namespace, &object.name);
        writeln!(lines, "{gvk} {namespace}/{name} {}", object.json).unwrap();
    }
    for rejected in &bundle.report.rejected {
        writeln!(lines, "{}: {}", rejected.pointer, rejected.error).unwrap();
    }
    expect.assert_eq(&lines);
}

#[test]
fn a_bundle_is_read_in_the_reference_order() {
    let named = |name: &str| json!([{"metadata": {"name": name, "namespace": "d"}}]);
    let network = json!({"kind": "Network", "apiVersion": "k8s.plugin.opnfv.org/v1alpha1"});
    let bundle = bundle_of(&json!({
        "ready": "nonsense", "resourceCount": -1, "new": [1],
        "resourceStatuses": [
            {"group": "x", "version": "v9", "kind": "Y", "name": "net", "namespace": "d", "res": res(&network)},
            {"group": "g", "version": "v1", "kind": "K", "name": "k", "res": res(&json!({"metadata": {"name": "own"}}))},
        ],
        "csrStatuses": named("csr"), "statefulSetStatuses": named("sts"), "jobStatuses": named("job"),
        "ingressStatuses": [{"kind": "Ingress", "apiVersion": "extensions/v1beta1"}, {}],
        "daemonSetStatuses": named("ds"), "secretStatuses": named("secret"),
        "configMapStatuses": named("cm"), "deploymentStatuses": named("deploy"),
        "serviceStatuses": null, "podStatuses": named("pod"),
    }));
    assert_eq!(bundle.deployment.to_string(), "7-sink");
    check(
        &bundle,
        &expect![[r#"
            v1 Pod d/pod {"metadata":{"name":"pod","namespace":"d"}}
            apps/v1 Deployment d/deploy {"metadata":{"name":"deploy","namespace":"d"}}
            v1 ConfigMap d/cm {"metadata":{"name":"cm","namespace":"d"}}
            v1 Secret d/secret {"metadata":{"name":"secret","namespace":"d"}}
            apps/v1 DaemonSet d/ds {"metadata":{"name":"ds","namespace":"d"}}
            extensions/v1beta1 Ingress / {"apiVersion":"extensions/v1beta1","kind":"Ingress"}
            networking.k8s.io/v1 Ingress / {}
            batch/v1 Job d/job {"metadata":{"name":"job","namespace":"d"}}
            apps/v1 StatefulSet d/sts {"metadata":{"name":"sts","namespace":"d"}}
            certificates.k8s.io/v1 CertificateSigningRequest d/csr {"metadata":{"name":"csr","namespace":"d"}}
            k8s.plugin.opnfv.org/v1alpha1 Network d/net {"apiVersion":"k8s.plugin.opnfv.org/v1alpha1","kind":"Network"}
            g/v1 K /own {"metadata":{"name":"own"}}
        "#]],
    );
}

#[test]
fn each_bad_item_is_reported_with_its_location_and_reason() {
    let bad = |res: &str| json!({"kind": "K", "name": "k", "res": res});
    let unnamed = json!({"name": "k", "res": res(&json!({}))});
    let mut padless = res(&json!({"a": "bc"}));
    padless.truncate(padless.trim_end_matches('=').len());
    check(
        &bundle_of(&json!({
            "podStatuses": [7, "Secret text", {"metadata": {"name": "good"}}, null, []],
            "serviceStatuses": "none",
            "jobStatuses": {},
            "resourceStatuses": [
                [], {}, bad("?"), bad("/w=="), bad("W10="), bad("e30x"), unnamed, bad(&padless),
            ],
        })),
        &expect![[r#"
            v1 Pod /good {"metadata":{"name":"good"}}
             K /k {"a":"bc"}
            /status/podStatuses/0: not a Kubernetes object: it does not start with `{`
            /status/podStatuses/1: not a Kubernetes object: it does not start with `{`
            /status/podStatuses/3: not a Kubernetes object: it does not start with `{`
            /status/podStatuses/4: not a Kubernetes object: it does not start with `{`
            /status/serviceStatuses: not a Kubernetes object: expected an array of objects
            /status/jobStatuses: not a Kubernetes object: expected an array of objects
            /status/resourceStatuses/0: not a Kubernetes object: it does not start with `{`
            /status/resourceStatuses/1/res: not a Kubernetes object: `res` is missing or not a string
            /status/resourceStatuses/2/res: not a Kubernetes object: `res` is not base64
            /status/resourceStatuses/3/res: not a Kubernetes object: `res` is not UTF-8
            /status/resourceStatuses/4/res: not a Kubernetes object: it does not start with `{`
            /status/resourceStatuses/5/res: not a Kubernetes object: text after the end at byte 2
            /status/resourceStatuses/6/res: not a Kubernetes object: it has no `kind`
        "#]],
    );
}

#[test]
fn a_duplicate_object_keeps_the_first_position_and_the_last_content() {
    let pod = |name: &str, n: u32| json!({"n": n, "metadata": {"name": name}});
    let entry = json!({"version": "v1", "kind": "Pod", "res": res(&pod("a", 3))});
    check(
        &bundle_of(&json!({
            "podStatuses": [pod("a", 1), pod("b", 1), pod("a", 2), {"n": 1}, {"n": 2}],
            "serviceStatuses": [pod("a", 1)],
            "resourceStatuses": [entry],
        })),
        &expect![[r#"
            v1 Pod /a {"metadata":{"name":"a"},"n":3}
            v1 Pod /b {"metadata":{"name":"b"},"n":1}
            v1 Pod / {"n":1}
            v1 Pod / {"n":2}
            v1 Service /a {"metadata":{"name":"a"},"n":1}
        "#]],
    );
}

#[test]
fn an_unusable_bundle_is_rejected_with_the_reason() {
    let check = |document: &str, expect: &Expect| {
        let error = decode_bundle(document.as_bytes()).unwrap_err();
        expect.assert_eq(&error.to_string());
    };
    check(
        r#"{"metadata":"#,
        &expect!["not a ResourceBundleState: no value before the end at byte 12"],
    );
    check(
        "[]",
        &expect!["not a ResourceBundleState: it does not start with `{`"],
    );
    check(
        r#"{"kind":"Pod"}"#,
        &expect!["not a ResourceBundleState: its `kind` is not `ResourceBundleState`"],
    );
    check(
        r#"{"metadata":{"labels":[]},"status":{}}"#,
        &expect!["label `emco/deployment-id`: it is missing"],
    );
    check(
        r#"{"metadata":{"labels":{"emco/deployment-id":"x"}},"status":{}}"#,
        &expect![
            "label `emco/deployment-id`: `x` is not a deployment id: write `<context id>-<app>`"
        ],
    );
    let labelled = |rest: &str| {
        format!(r#"{{"metadata":{{"labels":{{"emco/deployment-id":"7-sink"}}}}{rest}}}"#)
    };
    let without_status = expect!["the ResourceBundleState has no status yet"];
    check(&labelled(""), &without_status);
    check(&labelled(r#","status": null"#), &without_status);
    check(
        &labelled(r#","status":"fine""#),
        &expect!["not a ResourceBundleState: `status`: it does not start with `{`"],
    );
    assert!(matches!(
        decode_bundle(b"{\"\xff\":1}"),
        Err(BundleError::NotABundle(_))
    ));
}

#[test]
fn a_bundle_over_the_limit_is_refused_without_being_read() {
    let big = vec![b' '; BUNDLE_BYTES_MAX + 1];
    let refused = BundleError::TooLarge(BUNDLE_BYTES_MAX + 1);
    assert_eq!(decode_bundle(&big).unwrap_err(), refused);
    let deployment = "7-sink".parse().unwrap();
    assert_eq!(decode_status(deployment, &big).unwrap_err(), refused);
}

#[test]
fn items_over_the_limit_are_dropped_and_counted() {
    let items = |count: usize| vec!["{}"; count].join(",");
    let (pods, jobs) = (items(BUNDLE_ITEMS_MAX - 1), items(4));
    let status =
        format!(r#"{{"podStatuses":[{pods}],"jobStatuses":[{jobs}],"csrStatuses":[{jobs}]}}"#);
    let bundle = decode_status("7-sink".parse().unwrap(), status.as_bytes()).unwrap();
    assert_eq!(bundle.report.objects.len(), BUNDLE_ITEMS_MAX);
    let rejected = Rejected {
        pointer: "/status/jobStatuses/1".to_owned(),
        error: ObjectError::TooMany(7),
        identity: None,
    };
    assert_eq!(bundle.report.rejected, [rejected]);
}

#[test]
fn an_item_that_is_too_large_is_rejected_and_its_neighbours_are_kept() {
    let big = json!({"kind": "K", "pad": "x".repeat(crate::OBJECT_BYTES_MAX)});
    let small = json!({"kind": "K"});
    let bundle = bundle_of(&json!({
        "podStatuses": [big, small],
        "resourceStatuses": [{"res": res(&big)}, {"res": res(&small)}],
    }));
    assert_eq!(bundle.report.objects.len(), 2);
    let pointers: Vec<&str> = bundle.report.rejected.iter().map(|r| &*r.pointer).collect();
    assert_eq!(
        pointers,
        ["/status/podStatuses/0", "/status/resourceStatuses/0/res"]
    );
    for rejected in &bundle.report.rejected {
        assert!(matches!(rejected.error, ObjectError::TooLarge(_)));
    }
}

#[test]
fn a_stored_status_decodes_to_the_same_bundle() {
    let status = json!({"podStatuses": [{"metadata": {"name": "a"}}, 7]});
    let bundle = bundle_of(&status);
    assert_eq!(&*bundle.status_json(), status.to_string());
    let again = decode_status(bundle.deployment.clone(), bundle.status_json().as_bytes()).unwrap();
    assert_eq!(format!("{bundle:?}"), format!("{again:?}"));
}

const HIDDEN: [&str; 2] = ["hunter2", "aHVudGVyMg"];

fn assert_hidden(text: &str) {
    let mut texts = vec![text.to_owned()];
    let status: Value = serde_json::from_str(text).unwrap();
    for entry in status["resourceStatuses"].as_array().into_iter().flatten() {
        let decoded = BASE64_STANDARD.decode(entry["res"].as_str().unwrap_or_default());
        texts.extend(decoded.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    }
    for text in texts {
        for hidden in HIDDEN {
            assert!(!text.contains(hidden), "{text}");
        }
    }
}

#[test]
fn a_decoded_bundle_holds_no_content_of_secrets() {
    let secret = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name},
            "type": "Opaque", "data": {"password": "aHVudGVyMg=="}})
    };
    let bare = json!({"metadata": {"name": "bare"}, "stringData": {"password": "hunter2"}});
    let entry =
        |kind: &str, res: &str| json!({"kind": kind, "version": "v1", "name": "s", "res": res});
    let applied = json!({"kind": "ConfigMap", "metadata": {"name": "c", "annotations": {
        "kubectl.kubernetes.io/last-applied-configuration": secret("c").to_string()}}});
    let mut big = secret("big");
    big["pad"] = Value::from("x".repeat(crate::OBJECT_BYTES_MAX));
    let broken = secret("broken").to_string().replace("\"data\"", "data");
    let status = json!({
        "secretStatuses": [bare, secret("typed"), 7, big],
        "configMapStatuses": [applied],
        "podStatuses": [{"metadata": {"name": "p"}}],
        "serviceStatuses": secret("no-list"),
        "resourceStatuses": [
            entry("Secret", &res(&secret("entry"))),
            entry("", &res(&secret("own"))),
            entry("Secret", &res(&bare)),
            entry("Secret", "aHVudGVyMg!"),
            entry("K", &BASE64_STANDARD.encode(broken)),
            {"kind": "Secret", "data": {"a": "aHVudGVyMg"}},
        ],
        "other": [secret("unread")],
    });
    let bundle = bundle_of(&status);
    assert_eq!(bundle.report.objects.len(), 6);
    for object in &bundle.report.objects {
        assert!(
            !HIDDEN.iter().any(|hidden| object.json.contains(hidden)),
            "{object:?}"
        );
    }
    assert!(
        bundle
            .report
            .objects
            .iter()
            .any(|object| object.json.contains(r#""password":"REDACTED""#))
    );
    assert_hidden(&bundle.status_json());
    let again = decode_status(bundle.deployment.clone(), bundle.status_json().as_bytes()).unwrap();
    assert_eq!(again.status_json(), bundle.status_json());
    let json = |bundle: &Bundle| {
        bundle
            .report
            .objects
            .iter()
            .map(|object| object.json.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(json(&again), json(&bundle));
    assert_eq!(again.report.rejected.len(), bundle.report.rejected.len());
}

#[test]
fn secrets_among_dropped_items_are_not_kept() {
    let secret = r#"{"kind":"Secret","data":{"a":"hunter2"}}"#;
    let items = vec!["{}"; BUNDLE_ITEMS_MAX].join(",");
    let status = format!(
        r#"{{"secretStatuses":[{secret}],"podStatuses":[{items},{secret},{secret}],
            "resourceStatuses":[{secret}],"podStatuses":[{items},{secret},{secret}]}}"#
    );
    let bundle = decode_status("7-sink".parse().unwrap(), status.as_bytes()).unwrap();
    assert_hidden(&bundle.status_json());
    let again = decode_status("7-sink".parse().unwrap(), bundle.status_json().as_bytes()).unwrap();
    assert_eq!(again.report.rejected, bundle.report.rejected);
}

#[test]
fn a_rejected_item_names_its_object() {
    let entry = |res: &str| json!({"group": "g", "version": "v1", "kind": "K", "name": "k", "namespace": "n", "res": res});
    let big = json!({"metadata": {"name": "big", "namespace": "n"}, "pad": "x".repeat(crate::OBJECT_BYTES_MAX)});
    let bundle = bundle_of(&json!({
        "podStatuses": [big, 7],
        "resourceStatuses": [entry("?"), entry(""), {"kind": "K", "res": "?"}],
    }));
    let named = bundle.report.rejected.iter().map(|rejected| {
        rejected
            .identity
            .as_ref()
            .map(|id| format!("{} {}/{}", id.gvk, id.namespace, id.name))
    });
    let (pod, k) = (
        Some("v1 Pod n/big".to_owned()),
        Some("g/v1 K n/k".to_owned()),
    );
    assert_eq!(named.collect::<Vec<_>>(), [pod, None, k.clone(), k, None]);
}

#[test]
fn a_bundle_covers_the_kinds_of_its_lists_or_every_kind_with_resource_statuses() {
    use KindState::{Complete, Incomplete, NotRequested, Presumed};

    let state = |status: Value, group: &str, kind: &str| {
        let coverage = bundle_of(&status).report.coverage;
        coverage.of(Some(group), kind, Scope::Cluster).state
    };
    let original = || json!({"secretStatuses": null, "ingressStatuses": []});
    for (status, group, kind, expected) in [
        (json!({}), "", "Pod", Complete),
        (json!({}), "apps", "Deployment", Complete),
        (json!({}), "extensions", "Deployment", Complete),
        (json!({}), "x", "Deployment", NotRequested),
        (json!({}), "k8s.plugin.opnfv.org", "Network", NotRequested),
        // Some monitors do not have these lists.
        (json!({}), "", "Secret", NotRequested),
        (original(), "", "Secret", Complete),
        (original(), "networking.k8s.io", "Ingress", Complete),
        (original(), "g", "K", NotRequested),
        (json!({"resourceStatuses": []}), "g", "K", Presumed),
        (json!({"resourceStatuses": []}), "", "Secret", Complete),
        (json!({"resourceStatuses": 7}), "g", "K", NotRequested),
        (
            json!({"resourceStatuses": [], "podStatuses": 7}),
            "",
            "Pod",
            Incomplete,
        ),
    ] {
        assert_eq!(
            state(status.clone(), group, kind),
            expected,
            "{status} {group}/{kind}"
        );
    }
    let items = vec!["{}"; BUNDLE_ITEMS_MAX + 1].join(",");
    let status = format!(r#"{{"podStatuses":[{items}]}}"#);
    let cut = decode_status("7-sink".parse().unwrap(), status.as_bytes()).unwrap();
    let job = cut.report.coverage.of(None, "Job", Scope::Cluster);
    assert_eq!(job.state, Incomplete);
}

#[test]
fn a_reporter_that_covers_every_kind_is_stored_as_one() {
    for (status, stored) in [
        ("{}", r#"{"resourceStatuses":[]}"#),
        (
            " { \"podStatuses\": [] }",
            r#"{"resourceStatuses":[], "podStatuses": [] }"#,
        ),
        (r#"{"resourceStatuses":[]}"#, r#"{"resourceStatuses":[]}"#),
    ] {
        let mut bundle = decode_status("7-sink".parse().unwrap(), status.as_bytes()).unwrap();
        bundle.report.cover_every_kind();
        assert_eq!(&*bundle.status_json(), stored);
        let again = decode_status(bundle.deployment.clone(), stored.as_bytes()).unwrap();
        assert!(again.report.coverage.is_every_kind());
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![
            Just("kind".to_owned()),
            Just("metadata".to_owned()),
            Just("res".to_owned()),
            ".{0,4}"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// A header with these members, or only the JSON if it is no object.
fn any_header(header: Value, coverage: Vec<Value>, parts: Value) -> Value {
    match header {
        Value::Object(mut members) => {
            members.insert("format".to_owned(), json!(1));
            members.insert("coverage".to_owned(), coverage.into());
            if !parts.is_number() {
                members.insert("parts".to_owned(), parts);
            }
            members.into()
        }
        other => other,
    }
}

fn any_list() -> impl Strategy<Value = (&'static str, Value)> {
    let field = prop::sample::select(vec![
        "podStatuses",
        "serviceStatuses",
        "secretStatuses",
        "csrStatuses",
        "resourceStatuses",
        "other",
    ]);
    (field, any_json())
}

proptest! {
    #[test]
    fn decoding_any_bytes_ends(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode_bundle(&bytes);
        let _ = decode_status("7-sink".parse().unwrap(), &bytes);
    }

    #[test]
    fn any_json_in_any_place_is_decoded(
        labels in any_json(),
        lists in prop::collection::vec(any_list(), 0..5),
        spec in any_json(),
    ) {
        let status: Value = lists.into_iter().collect();
        let document = json!({"metadata": {"labels": labels}, "status": status, "spec": spec});
        let _ = decode_bundle(document.to_string().as_bytes());
        let _ = bundle_of(&status);
    }

    #[test]
    fn any_header_is_read_or_refused(
        header in any_json(),
        coverage in prop::collection::vec(any_json(), 0..3),
        parts in any_json(),
        is_stored: bool,
    ) {
        let header = any_header(header, coverage, parts);
        let deployment = "7-sink";
        let status = json!({"podStatuses": [{"metadata": {"name": "a"}}], "resourceCount": 1});
        if is_stored {
            let mut status = status;
            status[header::MEMBER] = header;
            let _ = decode_status(deployment.parse().unwrap(), status.to_string().as_bytes());
        } else {
            let document = json!({"status": status, "metadata": {
                "labels": {DeploymentId::LABEL: deployment},
                "annotations": {REPORT_ANNOTATION: header.to_string()},
            }});
            if let Ok(BundleDocument::Split(split)) = read_bundle(document.to_string().as_bytes()) {
                prop_assert!(split.join(|_| None).is_err());
            }
        }
    }

    #[test]
    fn one_bad_item_never_loses_its_neighbours(bad in any_json(), place in 0_usize..4) {
        let good = |n: usize| json!({"kind": "Good", "metadata": {"name": n.to_string()}});
        let mut pods: Vec<Value> = (0..3).map(good).collect();
        let mut entries: Vec<Value> = (3..6).map(|n| json!({"res": res(&good(n))})).collect();
        pods.insert(place, bad.clone());
        entries.insert(place, bad.clone());
        entries.insert(place, json!({"res": res(&bad)}));
        let bundle = bundle_of(&json!({"podStatuses": pods, "resourceStatuses": entries}));
        let kept = bundle.report.objects.iter().filter(|object| &*object.gvk.kind == "Good").count();
        prop_assert_eq!(kept, 6);
        prop_assert!(bundle.report.objects.len() + bundle.report.rejected.len() <= 9);
    }

    #[test]
    fn a_status_without_secrets_is_kept_byte_for_byte(lists in prop::collection::vec(any_list(), 0..5)) {
        let status: Value = lists.into_iter().collect();
        prop_assert_eq!(&*bundle_of(&status).status_json(), status.to_string());
    }
}
