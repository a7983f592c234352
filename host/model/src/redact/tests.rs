use proptest::prelude::*;
use serde_json::{Value, json};

use std::sync::Arc;

use super::*;
use crate::Object;

/// Redacts an object with its own `kind`.
fn redacted(json: &str) -> Arc<str> {
    Arc::clone(&Object::from_json(json).unwrap().json)
}

#[test]
fn only_the_content_is_removed_from_a_secret() {
    let json = r#"{"kind":"Secret","data":{"password":"aHVudGVyMg=="},"apiVersion":"v1",
        "stringData": {"x":"y"}, "metadata": {"z": 1.50, "name": "s", "annotations": {
        "note":"keep \u003c me","kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{}}"}},
        "type":"Opaque","\u0064ata":{},"immutable":true}"#;
    let expected = json
        .replace("aHVudGVyMg==", "REDACTED")
        .replace(r#"{"x":"y"}"#, r#"{"x":"REDACTED"}"#);
    let (before, rest) = expected
        .split_once(
            r#"{
        "note""#,
        )
        .unwrap();
    let (_, after) = rest.split_once(r#""{\"data\":{}}"}"#).unwrap();
    let expected = format!(r#"{before}{{"note":"keep \u003c me"}}{after}"#);
    assert_eq!(&*redacted(json), expected);
}

#[test]
fn a_secret_without_a_kind_is_redacted_if_its_list_holds_secrets() {
    let gvk = crate::Gvk::new("", "v1", "Secret");
    let object = Object::from_json_as(r#"{"data":{"a":"b"},"type":"Opaque"}"#, &gvk).unwrap();
    assert_eq!(
        &*object.json,
        r#"{"data":{"a":"REDACTED"},"type":"Opaque"}"#
    );
}

#[test]
fn compressed_copies_of_the_applied_configuration_are_removed_from_a_secret() {
    let json = r#"{"kind":"Secret","metadata":{"annotations":{"objectset.rio.cattle.io/applied":"H4sI",
        "banzaicloud.com/last-applied":"UEsD"}}}"#;
    assert_eq!(
        &*redacted(json),
        r#"{"kind":"Secret","metadata":{"annotations":{}}}"#
    );
}

#[test]
fn other_objects_are_unchanged_byte_for_byte() {
    for json in [
        r#"{"kind":"ConfigMap", "data":{"a":"b"}, "metadata":{"annotations":{
            "kubectl.kubernetes.io/last-applied-configuration":"{\"kind\":\"ConfigMap\",\"data\":{}}\n"}}}"#,
        r#"{"kind":"Pod","spec":{"imagePullSecrets":[{"name":"Secret"}],"n":1e2}}"#,
        r#"{"kind":"Secret","apiVersion":"example.org/v1","data":{"a":1}}"#,
        r#"{"kind":"Event","involvedObject":{"kind":"Secret","apiVersion":"v1","name":"s"}}"#,
        r#"{"kind":"X","metadata":{"annotations":{"note":"a Secret, see {below}","n":7}}}"#,
        r#"{"kind":"X","metadata":{"annotations":["Secret"]},"items":"Secret"}"#,
    ] {
        assert_eq!(&*redacted(json), json);
    }
}

#[test]
fn a_secret_in_an_annotation_of_any_object_is_removed() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"p": "hunter2"}});
    for value in [
        secret.to_string(),
        json!([1, {"deep": [secret]}]).to_string(),
        secret.to_string().replace("Secret", "\\u0053ecret"),
        json!({"metadata": {"annotations": {"again": secret.to_string()}}}).to_string(),
    ] {
        let object = json!({
            "kind": "Custom",
            "metadata": {"annotations": {"a": "stays", "applied-by-tool": value}},
        });
        assert_eq!(
            &*redacted(&object.to_string()),
            r#"{"kind":"Custom","metadata":{"annotations":{"a":"stays"}}}"#
        );
    }
}

#[test]
fn secrets_embedded_in_other_objects_are_redacted() {
    let check = |json: &str, expect: &str| assert_eq!(&*redacted(json), expect);
    check(
        r#"{"kind":"List","items":[{"kind":"Pod","data":1},{"kind":"Secret","data":{"a":"b"}}]}"#,
        r#"{"kind":"List","items":[{"kind":"Pod","data":1},{"kind":"Secret","data":{"a":"REDACTED"}}]}"#,
    );
    check(
        r#"{"apiVersion":"v1","kind":"SecretList","items":[{"data":{"a":"b"},"type":"T"}]}"#,
        r#"{"apiVersion":"v1","kind":"SecretList","items":[{"data":{"a":"REDACTED"},"type":"T"}]}"#,
    );
    check(
        r#"{"kind":"Work","spec":{"manifests":[{"kind":"Secret","apiVersion":"v1","data":"x"}]}}"#,
        r#"{"kind":"Work","spec":{"manifests":[{"kind":"Secret","apiVersion":"v1","data":null}]}}"#,
    );
}

#[test]
fn an_annotation_that_is_nested_too_deeply_is_removed() {
    let bomb = format!("{}\"Secret\"{}", "[".repeat(300_000), "]".repeat(300_000));
    let object = json!({"kind": "X", "metadata": {"annotations": {"bomb": bomb}}});
    assert_eq!(
        &*redacted(&object.to_string()),
        r#"{"kind":"X","metadata":{"annotations":{}}}"#
    );
}

#[test]
fn redacted_content_is_unchanged() {
    let json =
        r#"{"kind": "Secret", "data": {"a": "REDACTED", "b": "REDACTED"}, "stringData": null}"#;
    assert_eq!(&*redacted(json), json);
}

#[test]
fn a_secret_whose_kind_is_hidden_in_escapes_is_found() {
    for kind in [
        r"\u0053ecret",
        r"Secre\u0074",
        r"\u0053\u0065\u0063\u0072\u0065\u0074",
    ] {
        let inner = format!(r#"{{"kind":"{kind}","data":{{"a":"hunter2"}}}}"#);
        let embedded = format!(r#"{{"kind":"X","spec":[{inner}]}}"#);
        assert!(!redacted(&inner).contains("hunter2"), "{inner}");
        assert!(!redacted(&embedded).contains("hunter2"), "{embedded}");
        // The same Secret as JSON within a string, plain and with escaped backslashes and digits.
        let text = Value::from(inner).to_string();
        for text in [
            text.clone(),
            text.replace(r"\\u", r"\u005cu"),
            text.replace(r"\\u00", r"\\u\u0030\u0030"),
            text.replace(r#"\""#, r"\u0022"),
        ] {
            let json = format!(r#"{{"kind":"X","metadata":{{"annotations":{{"a":{text}}}}}}}"#);
            assert!(!redacted(&json).contains("hunter2"), "{json}");
        }
    }
}

#[test]
fn an_object_that_names_no_secret_is_not_parsed_again() {
    for json in [
        r#"{"kind":"Pod","spec":{"imagePullSecrets":[{"name":"pull"}],"secretName":"Secrets"}}"#,
        r#"{"kind":"Pod","metadata":{"annotations":{"a":"\u003cb\u003e \u0026 \"mySecret\""}}}"#,
    ] {
        assert!(!may_hold_secret(json), "{json}");
    }
}

#[test]
fn deep_nesting_costs_no_more_than_the_size_of_the_text() {
    // The most expensive object that is accepted: every level is a Secret and contains all deeper levels.
    let mut json = r#"{"kind":"Secret","data":{"a":"hunter2"}}"#.to_owned();
    let pad = "x".repeat(crate::OBJECT_BYTES_MAX - 8000);
    json = format!(r#"{{"kind":"Secret","pad":"{pad}","spec":{json}}}"#);
    for _ in 0..120 {
        json = format!(r#"{{"kind":"Secret","spec":{json}}}"#);
    }
    let begin = std::time::Instant::now();
    let object = Object::from_json(json).unwrap();
    let took = begin.elapsed();
    assert!(!object.json.contains("hunter2"));
    // A few passes over 2 MB in a build without optimization. One pass for each level would take a minute.
    assert!(took.as_secs() < 2, "{took:?}");
}

const HIDDEN: &str = "aHVudGVyMg";

/// JSON of any structure with Secrets anywhere in it.
fn with_secrets() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(Value::from),
        "[a-z\"\\\\é]{0,6}".prop_map(Value::from),
        Just(json!({"kind": "Secret", "data": {"a": HIDDEN}})),
        Just(
            json!({"apiVersion": "v1", "kind": "Secret", "stringData": HIDDEN,
            "metadata": {"annotations": {"x/last-applied": HIDDEN}}})
        ),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let key = prop_oneof![
            Just("metadata".to_owned()),
            Just("items".to_owned()),
            "[a-z]{1,3}"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner.clone(), 0..4)
                .prop_map(|map| map.into_iter().collect()),
            inner.prop_map(|value| json!({"annotations": {"a": value.to_string()}})),
        ]
    })
}

proptest! {
    #[test]
    fn the_content_of_a_secret_is_never_shown(spec in with_secrets(), top in any::<bool>()) {
        let kind = if top { "Secret" } else { "Custom" };
        let object = json!({"kind": kind, "apiVersion": "v1", "spec": spec});
        let shown = redacted(&object.to_string());
        prop_assert!(!shown.contains(HIDDEN), "{shown}");
        prop_assert!(serde_json::from_str::<Value>(&shown).is_ok());
    }

    #[test]
    fn redaction_is_total(json in ".{0,200}") {
        let _ = super::redacted(&json, true);
        let _ = super::redacted(&json, false);
        let _ = with_res(&json, "x");
    }
}
