use super::*;

fn object(json: &str) -> Object {
    Object::from_json(json).unwrap()
}

#[test]
fn an_object_has_the_identity_from_its_type_and_metadata() {
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
fn the_restarts_are_those_of_the_container_that_restarted_most() {
    for (status, restarts) in [
        ("{}", 0),
        (r#"{"containerStatuses": "none"}"#, 0),
        (
            r#"{"containerStatuses": [{"restartCount": 2}, {"restartCount": 7}, {"restartCount": 3}]}"#,
            7,
        ),
        (
            r#"{"initContainerStatuses": [{"restartCount": 4}], "containerStatuses": [{"restartCount": 1}]}"#,
            4,
        ),
        (
            r#"{"containerStatuses": [{"restartCount": -1}, {"restartCount": "many"}, {}, 7]}"#,
            0,
        ),
    ] {
        let pod = object(&format!(r#"{{"kind":"Pod","status":{status}}}"#));
        assert_eq!(pod.restarts, restarts, "{status}");
    }
}

#[test]
fn the_last_of_duplicate_members_counts() {
    let pod = object(
        r#"{"kind":"A","metadata":{"name":"a"},"x":1,"x":2,"metadata":{"name":"b"},"kind":"\u0042"}"#,
    );
    assert_eq!((&*pod.gvk.kind, &*pod.name), ("B", "b"));
}

#[test]
fn an_api_version_with_two_slashes_is_kept_and_is_not_the_core_group() {
    let object = object(r#"{"kind":"Pod","apiVersion":"a/b/v1"}"#);
    assert_eq!(object.gvk, Gvk::new("a/b", "v1", "Pod"));
}

#[test]
fn an_item_without_a_kind_has_the_kind_of_its_list() {
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
fn invalid_objects_are_rejected_with_the_reason() {
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
fn labels_are_strings_and_the_last_of_duplicate_keys_counts() {
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

#[test]
fn as_many_labels_as_an_object_can_have_are_read() {
    let labels = (0..150_000).map(|at| format!(r#""{at}":"""#));
    let labels = labels.collect::<Vec<String>>().join(",");
    let pod = object(&format!(
        r#"{{"kind":"Pod","metadata":{{"labels":{{{labels},"7":"last"}}}}}}"#
    ));
    assert_eq!(pod.labels.len(), 150_000);
    assert_eq!(pod.label("7"), Some("last"));
}

#[test]
fn an_object_without_a_spec_receives_the_spec_of_its_manifest() {
    let reported = r#"{"kind": "Deployment", "metadata": {"name": "a", "annotations": {"x": "y"}}, "status": {}}"#;
    let reported = Object::from_json(reported).unwrap();
    assert!(reported.lacks_spec());
    let manifest = r#"{"kind": "Deployment", "metadata": {"name": "a"}, "spec": {"replicas": 3}}"#;
    let manifest = Object::from_json(manifest).unwrap();
    let completed = reported.with_spec_of(Some(&manifest), None);
    let json: serde_json::Value = serde_json::from_str(&completed.json).unwrap();
    assert_eq!(json["spec"]["replicas"], 3);
    assert_eq!(
        json["metadata"]["annotations"],
        serde_json::json!({"x": "y", "kindsight.dev/spec-source": "manifest"})
    );
    assert!(completed.has_manifest_spec() && !reported.has_manifest_spec());
    let scaled = reported.with_spec_of(Some(&manifest), Some("HorizontalPodAutoscaler/a"));
    let json: serde_json::Value = serde_json::from_str(&scaled.json).unwrap();
    assert_eq!(
        json["metadata"]["annotations"]["kindsight.dev/scaled-by"],
        "HorizontalPodAutoscaler/a"
    );
    assert!(reported.with_spec_of(None, None).is_unchanged(&reported));
}

#[test]
fn only_the_host_may_mark_the_source_of_a_spec() {
    let json = r#"{"kind": "Service", "metadata": {"name": "a",
        "annotations": {"kindsight.dev/spec-source": "manifest", "kindsight.dev/scaled-by": "A/b", "x": "y"}}, "spec": {}}"#;
    let object = Object::from_json(json).unwrap();
    assert!(!object.has_manifest_spec());
    assert!(!object.json.contains("kindsight.dev") && object.json.contains(r#""x":"y""#));
    let fixture = Object::from_fixture(json).unwrap();
    assert!(
        fixture.has_manifest_spec() && fixture.json.contains(r#""kindsight.dev/scaled-by":"A/b""#)
    );
    // The second annotation alone is removed too.
    let json =
        r#"{"kind": "Service", "metadata": {"annotations": {"kindsight.dev/scaled-by": "A/b"}}}"#;
    assert!(
        !Object::from_json(json)
            .unwrap()
            .json
            .contains("kindsight.dev")
    );
}

#[test]
fn an_autoscaler_names_its_target() {
    let autoscaler = |reference: &str| {
        let json = format!(
            r#"{{"kind": "HorizontalPodAutoscaler", "spec": {{"scaleTargetRef": {reference}}}}}"#
        );
        Object::from_json(json).unwrap().scale_target()
    };
    let front = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "front"}}"#;
    let front = Object::from_json(front).unwrap();
    let names = |reference: &str| autoscaler(reference).is_some_and(|target| target.is(&front));
    assert!(names(
        r#"{"apiVersion": "apps/v1", "kind": "Deployment", "name": "front"}"#
    ));
    assert!(names(r#"{"kind": "Deployment", "name": "front"}"#));
    assert!(!names(
        r#"{"apiVersion": "v1", "kind": "Deployment", "name": "front"}"#
    ));
    assert!(!names(r#"{"kind": "Deployment", "name": "back"}"#));
    assert!(!names(r#"{"kind": "StatefulSet", "name": "front"}"#));
    assert_eq!(autoscaler(r#"{"name": "front"}"#), None);
    assert_eq!(autoscaler(r#""scaleTargetRef""#), None);
}

#[test]
fn an_old_spec_without_a_manifest_is_removed() {
    let json = r#"{"kind": "Deployment", "metadata": {"name": "a"}, "spec": {"replicas": 1}}"#;
    let mut object = Object::from_json(json).unwrap();
    assert!(!object.lacks_spec());
    object.has_old_spec = true;
    assert!(object.lacks_spec());
    assert!(!object.with_spec_of(None, None).has_spec());
}
