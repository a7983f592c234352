//! Tests of reducing objects to the fields that an interpreter requests, in both encodings.

use proptest::prelude::*;

use super::*;
use crate::{Document, TextWriter, Tree, ViewWriter};

const OBJECT: &str = r#"{"kind": "W", "metadata": {"name": "x", "labels": {"a/b": "1"}},
    "spec": {"replicas": 3, "template": {"big": [1, 2]}}, "status": [ {"a": 1} ], "apiVersion": "v1"}"#;

fn cut(pointers: &[&str], json: &str, identity: Option<Identity<'_>>) -> String {
    let fields = Fields::new(pointers);
    let tree = Tree::read(json).expect("JSON");
    let source = tree.document(json);
    let mut text = TextWriter::default();
    write_object(&mut text, None, source.root(), &fields, identity);
    let mut writer = ViewWriter::default();
    write_object(&mut writer, None, source.root(), &fields, identity);
    let mut view = Vec::new();
    writer.finish(&mut view);
    let view = Document::view(&view).expect("a view");
    let read = Tree::read(text.text()).expect("JSON");
    let read = read.document(text.text());
    assert!(read.root().is_same(view.root()), "{pointers:?} of {json}");
    text.text().to_owned()
}

fn check(pointers: &[&str], json: &str, expected: &str) {
    assert_eq!(cut(pointers, json, None), expected, "{pointers:?}");
}

#[test]
fn fields_that_are_asked_for_are_copied() {
    check(&[], OBJECT, r#"{"kind":"W","apiVersion":"v1"}"#);
    check(
        &["/spec/replicas"],
        OBJECT,
        r#"{"kind":"W","spec":{"replicas":3},"apiVersion":"v1"}"#,
    );
    check(
        &["/status"],
        OBJECT,
        r#"{"kind":"W","status":[{"a":1}],"apiVersion":"v1"}"#,
    );
    check(
        &["/metadata/labels/a~1b"],
        OBJECT,
        r#"{"kind":"W","metadata":{"labels":{"a/b":"1"}},"apiVersion":"v1"}"#,
    );
}

#[test]
fn a_star_leads_to_every_item_of_an_array_and_is_a_key_in_an_object() {
    let conditions = r#"{"c": [{"type": "A", "t": 1}, 3, {"t": 2}, [{"type": 4}], null], "d": {"*": 1, "x": 2}}"#;
    check(
        &["/c/*/type", "/d/*"],
        conditions,
        r#"{"c":[{"type":"A"},null,{},null,null],"d":{"*":1}}"#,
    );
    check(
        &["/c/*"],
        conditions,
        r#"{"c":[{"type":"A","t":1},3,{"t":2},[{"type":4}],null]}"#,
    );
    check(&["/c/0/type"], conditions, "{}");
    check(
        &["/c/*/*/type"],
        conditions,
        r#"{"c":[{},null,{},[{"type":4}],null]}"#,
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
    check(&[""], r#"{"a": [1,  2]}"#, r#"{"a":[1,2]}"#);
}

#[test]
fn a_wider_pointer_includes_a_narrower_one() {
    check(
        &["/spec/replicas", "/spec"],
        r#"{"spec": {"a": 1, "replicas": 2}}"#,
        r#"{"spec":{"a":1,"replicas":2}}"#,
    );
}

#[test]
fn a_value_that_is_not_an_object_is_written_as_an_empty_one() {
    check(&["/a"], "[1]", "{}");
    check(&[""], "3", "{}");
}

#[test]
fn strings_with_escapes_keep_their_meaning() {
    check(&["/\u{e4}\""], "{\"\u{e4}\\\"\": 1}", "{\"\u{e4}\\\"\":1}");
    check(
        &["/a"],
        r#"{"a": "\u000a\"\ud83d\ude00"}"#,
        "{\"a\":\"\\n\\\"\u{1f600}\"}",
    );
}

#[test]
fn of_members_of_one_name_the_last_is_written() {
    check(
        &["/a", "/b"],
        r#"{"a": 1, "b": {"c": 1, "c": {"d": 1, "d": 2}}, "a": 2}"#,
        r#"{"b":{"c":{"d":2}},"a":2}"#,
    );
    let many: Vec<String> = (0..200)
        .map(|number| format!(r#""k{}":{number}"#, number % 150))
        .collect();
    let cut = cut(&[""], &format!("{{{}}}", many.join(",")), None);
    assert!(
        cut.contains(r#""k49":199"#) && !cut.contains(r#""k49":49"#),
        "{cut}"
    );
}

#[test]
fn an_identity_takes_the_place_of_the_objects_own() {
    let identity = Some(Identity {
        api_version: "apps/v1",
        kind: "Deployment",
    });
    let expected = r#"{"a":1,"apiVersion":"apps/v1","kind":"Deployment"}"#;
    for json in ["{\"a\": 1}", r#"{"kind": "", "a": 1}"#] {
        assert_eq!(cut(&["/a"], json, identity), expected);
        assert_eq!(cut(&[""], json, identity), expected);
    }
}

proptest! {
    #[test]
    fn any_object_is_cut_alike_in_both_encodings(
        json in crate::tree::tests::json(),
        pointers in prop::collection::vec("(/([a-c]{0,2}|\\*)){0,4}", 0..6),
    ) {
        let pointers: Vec<&str> = pointers.iter().map(String::as_str).collect();
        cut(&pointers, &json.to_string(), None);
    }

    #[test]
    fn any_bytes_are_read_as_a_view_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        count in 0_u8..12,
    ) {
        if let Some(first) = bytes.first_mut() {
            *first = count;
        }
        for byte in bytes.iter_mut().skip(1).take(3) {
            *byte = 0;
        }
        read_all(&bytes);
    }

    #[test]
    fn a_damaged_view_is_read_to_its_end(
        json in crate::tree::tests::json(),
        at in any::<prop::sample::Index>(),
        put in any::<u32>(),
    ) {
        let json = json.to_string();
        let tree = Tree::read(&json).expect("JSON");
        let mut writer = ViewWriter::default();
        writer.copy(None, tree.document(&json).root());
        let mut bytes = Vec::new();
        writer.finish(&mut bytes);
        let at = at.index(bytes.len());
        for (byte, put) in bytes.iter_mut().skip(at).zip(put.to_le_bytes()) {
            *byte = put;
        }
        read_all(&bytes);
    }
}

/// Reads every reachable value with every reader. The work is bounded by the number of nodes.
fn read_all(bytes: &[u8]) {
    let Ok(document) = Document::view(bytes) else {
        return;
    };
    let mut left = 10_000;
    walk(document.root(), &mut left);
}

fn walk(node: Node<'_>, left: &mut u32) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let _ = (
        node.text(),
        node.integer(),
        node.flag(),
        node.time_ms(),
        node.is_empty(),
    );
    let _ = (
        node.get("a").is_present(),
        node.at("/a/0/b").is_present(),
        node.items().len(),
    );
    for (key, member) in node.members() {
        let _ = node.get(key).is_object();
        walk(member, left);
    }
    for item in node.items() {
        walk(item, left);
    }
}
