use super::*;

fn object(json: &str) -> Object {
    Object::from_json(json).unwrap()
}

#[test]
fn an_object_is_known_by_its_type_and_metadata() {
    let json = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u",
        "ownerReferences":[{"kind":"ReplicaSet","name":"r","uid":"ru","controller":true}]}}"#;
    let pod = object(json);
    assert_eq!(pod.gvk, Gvk::new("", "v1", "Pod"));
    assert_eq!((&*pod.namespace, &*pod.name, &*pod.uid), ("n", "a", "u"));
    assert_eq!(pod.owners.len(), 1);
    assert_eq!(&*pod.owners[0].uid, "ru");
    assert_eq!(&*pod.json, json);
}

#[test]
fn metadata_of_the_wrong_type_counts_as_missing() {
    for metadata in [
        "null",
        "7",
        "\"x\"",
        "[]",
        r#"{"name":7,"namespace":{},"uid":[],"ownerReferences":"x"}"#,
        r#"{"name":null,"ownerReferences":[null,7,"x",{},[],{"kind":"K"},{"name":[],"uid":1.5}]}"#,
        r#"{"ownerReferences":{"kind":"K","name":"n"}}"#,
    ] {
        let pod = object(&format!(r#"{{"kind":"Pod","metadata":{metadata}}}"#));
        assert_eq!((&*pod.namespace, &*pod.name, &*pod.uid), ("", "", ""));
        assert!(pod.owners.is_empty(), "{metadata}");
    }
}

#[test]
fn of_a_duplicate_member_the_last_one_counts() {
    let pod = object(
        r#"{"kind":"A","metadata":{"name":"a"},"x":1,"x":2,"metadata":{"name":"b"},"kind":"\u0042"}"#,
    );
    assert_eq!((&*pod.gvk.kind, &*pod.name), ("B", "b"));
}

#[test]
fn an_api_version_with_two_slashes_is_kept_and_never_taken_for_core() {
    let object = object(r#"{"kind":"Pod","apiVersion":"a/b/v1"}"#);
    assert_eq!(object.gvk, Gvk::new("a/b", "v1", "Pod"));
}

#[test]
fn a_kind_that_an_item_leaves_out_is_that_of_its_list() {
    let pod = Gvk::new("apps", "v1", "Deployment");
    let read = |json: &str| Object::from_json_as(json, &pod).unwrap().gvk.clone();
    assert_eq!(read("{}"), pod);
    assert_eq!(read(r#"{"kind":"","apiVersion":""}"#), pod);
    assert_eq!(
        read(r#"{"kind":"ReplicaSet"}"#),
        Gvk::new("apps", "v1", "ReplicaSet")
    );
    assert_eq!(
        read(r#"{"apiVersion":"v1","kind":"Pod"}"#),
        Gvk::new("", "v1", "Pod")
    );
}

#[test]
fn what_is_no_object_is_rejected_with_the_reason() {
    let rejected = |json: &str| Object::from_json(json).unwrap_err();
    for json in [
        "",
        "nonsense",
        "null",
        "[]",
        "\"{\"",
        "{",
        "{}x",
        r#"{"a":01}"#,
        r#"{"a":"\ud800"}"#,
    ] {
        assert!(
            matches!(rejected(json), ObjectError::NotAnObject(_)),
            "{json}"
        );
    }
    for json in [
        "{}",
        r#"{"kind":""}"#,
        r#"{"kind":7}"#,
        r#"{"apiVersion":"v1"}"#,
    ] {
        assert_eq!(rejected(json), ObjectError::NoKind);
    }
}

#[test]
fn an_object_nested_too_deeply_is_refused() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        Object::from_json(format!(r#"{{"kind":"Deep","spec":{open}{close}}}"#))
    };
    assert!(nested(126).is_ok());
    assert!(matches!(nested(127), Err(ObjectError::NotAnObject(_))));
    assert!(matches!(nested(500_000), Err(ObjectError::NotAnObject(_))));
}

#[test]
fn an_object_at_the_limit_is_read_and_one_over_it_is_not() {
    let frame = r#"{"kind":"Big","pad":""}"#.len();
    let big = |bytes: usize| {
        let pad = "x".repeat(bytes - frame);
        Object::from_json(format!(r#"{{"kind":"Big","pad":"{pad}"}}"#))
    };
    assert!(big(OBJECT_BYTES_MAX).is_ok());
    assert_eq!(
        big(OBJECT_BYTES_MAX + 1).unwrap_err(),
        ObjectError::TooLarge(OBJECT_BYTES_MAX + 1)
    );
}

#[test]
fn an_owner_is_known_by_uid_and_else_by_kind_and_name() {
    let owner = object(r#"{"kind":"Job","metadata":{"name":"j","namespace":"n","uid":"1"}}"#);
    let owned = |namespace: &str, reference: &str| {
        object(&format!(
            r#"{{"kind":"Pod","metadata":{{"namespace":"{namespace}","ownerReferences":[{reference}]}}}}"#
        ))
    };
    let check = |namespace: &str, reference: &str, expect: bool| {
        assert_eq!(
            owned(namespace, reference).is_owned_by(&owner),
            expect,
            "{reference}"
        );
    };
    check("n", r#"{"kind":"Job","name":"j","uid":"1"}"#, true);
    check("n", r#"{"kind":"Job","name":"j","uid":"2"}"#, false);
    check("n", r#"{"kind":"Job","name":"j"}"#, true);
    check("m", r#"{"kind":"Job","name":"j"}"#, false);
    check("n", r#"{"kind":"CronJob","name":"j"}"#, false);
    check(
        "n",
        r#"{"kind":"X","name":"x"},{"kind":"Job","name":"j"}"#,
        true,
    );
    check("n", "", false);

    let nameless = object(r#"{"kind":"Job","metadata":{"namespace":"n"}}"#);
    assert!(!owned("n", r#"{"kind":"Job","uid":"1"}"#).is_owned_by(&nameless));
}

#[test]
fn labels_are_texts_and_the_last_of_a_key_counts() {
    let pod = object(
        r#"{"kind":"Pod","metadata":{"labels":{"app":"sink","empty":"","odd":7,"app":"last"}}}"#,
    );
    assert_eq!(pod.label("app"), Some("last"));
    assert_eq!(pod.label("empty"), Some(""));
    assert_eq!(pod.label("odd"), None);
    assert!(
        object(r#"{"kind":"Pod","metadata":{"labels":[]}}"#)
            .labels
            .is_empty()
    );
}
