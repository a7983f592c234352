//! Trimming of objects to the fields that an interpreter asks for.

use kindsight_interpreter::Fields;

fn check(pointers: &[&str], json: &str, expected: &str) {
    let mut text = String::new();
    Fields::new(pointers).trim(json, &mut text).expect("JSON");
    assert_eq!(text, expected, "{pointers:?}");
}

const OBJECT: &str = r#"{"kind": "W", "metadata": {"name": "x", "labels": {"a/b": "1"}},
    "spec": {"replicas": 3, "template": {"big": [1, 2]}}, "status": [ {"a": 1} ], "apiVersion": "v1"}"#;

#[test]
fn fields_that_are_asked_for_are_copied_verbatim() {
    check(&[], OBJECT, r#"{"kind":"W","apiVersion":"v1"}"#);
    check(
        &["/spec/replicas"],
        OBJECT,
        r#"{"kind":"W","spec":{"replicas":3},"apiVersion":"v1"}"#,
    );
    check(
        &["/status"],
        OBJECT,
        r#"{"kind":"W","status":[ {"a": 1} ],"apiVersion":"v1"}"#,
    );
    check(
        &["/metadata/labels/a~1b"],
        OBJECT,
        r#"{"kind":"W","metadata":{"labels":{"a/b":"1"}},"apiVersion":"v1"}"#,
    );
}

#[test]
fn a_pointer_that_leads_nowhere_leaves_its_objects_empty() {
    check(
        &["/spec/none"],
        OBJECT,
        r#"{"kind":"W","spec":{},"apiVersion":"v1"}"#,
    );
    check(
        &["/status/conditions"],
        OBJECT,
        r#"{"kind":"W","apiVersion":"v1"}"#,
    );
    check(&["/kind/x"], r#"{"kind": "W"}"#, r#"{"kind":"W"}"#);
}

#[test]
fn the_empty_pointer_asks_for_everything() {
    check(&[""], r#"{"a": [1,  2]}"#, r#"{"a": [1,  2]}"#);
}

#[test]
fn a_wider_pointer_includes_a_narrower_one() {
    check(
        &["/spec/replicas", "/spec"],
        r#"{"spec": {"a": 1, "replicas": 2}}"#,
        r#"{"spec":{"a": 1, "replicas": 2}}"#,
    );
}

#[test]
fn odd_documents_are_errors_or_empty_and_never_a_panic() {
    check(&["/a"], "[1]", "{}");
    check(&["/a"], "3", "{}");
    for bad in ["", "{", r#"{"a": }"#, "{} x"] {
        assert!(
            Fields::new(&["/a"]).trim(bad, &mut String::new()).is_err(),
            "{bad}"
        );
    }
    check(&["/\u{e4}\""], "{\"\u{e4}\\\"\": 1}", "{\"\u{e4}\\\"\":1}");
}
