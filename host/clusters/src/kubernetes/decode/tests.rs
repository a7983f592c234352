use serde_json::{Value, json};

use super::bookkeeping::LAST_APPLIED;
use super::*;

fn decoder(detail: Detail) -> Decoder {
    Decoder {
        gvk: Gvk::new("apps", "v1", "Deployment"),
        rules: Rules::default(),
        detail,
        labels: Labels::None,
        is_metadata_enough: false,
        is_bundle_state: false,
    }
}

fn deployment() -> Value {
    json!({"metadata": {
        "name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "7",
        "labels": {"app.kubernetes.io/instance": "shop"},
        "annotations": {LAST_APPLIED: "{}", "note": "kept"},
        "managedFields": [{"manager": "kubectl"}],
        "ownerReferences": [{"uid": "u0", "kind": "Web", "name": "w"}, {"kind": "NoUid"}],
    }, "spec": {"replicas": 3}})
}

fn page(decoder: &Decoder, items: &Value) -> Page {
    let list = json!({"metadata": {"resourceVersion": "9", "continue": "more"}, "items": items});
    decoder.page(list.to_string().as_bytes()).unwrap()
}

#[test]
fn an_item_of_a_list_gets_its_kind_and_loses_what_nobody_reads() {
    let page = page(&decoder(Detail::Whole), &json!([deployment()]));
    assert_eq!(
        (&*page.resource_version, page.next.as_deref()),
        ("9", Some("more"))
    );
    let [decoded] = &page.objects[..] else {
        panic!("one object: {page:?}");
    };
    let Body::Whole(object) = &decoded.body else {
        panic!("it can be read: {decoded:?}");
    };
    assert_eq!(&*object.gvk.kind, "Deployment");
    let read: Value = serde_json::from_str(&object.json).unwrap();
    assert_eq!(read["metadata"]["annotations"], json!({"note": "kept"}));
    assert_eq!(read["metadata"].get("managedFields"), None);
    assert_eq!(read["spec"], json!({"replicas": 3}));
    assert_eq!(&*decoded.owners, &[Uid::of("u0")]);
    assert!(decoded.membership.claim.is_some());
}

#[test]
fn of_metadata_nothing_else_is_kept() {
    let page = page(&decoder(Detail::Metadata), &json!([deployment()]));
    let decoded = &page.objects[0];
    assert!(matches!(decoded.body, Body::NotAsked));
    assert_eq!((&*decoded.namespace, &*decoded.name), ("shop", "web"));
}

#[test]
fn labels_are_kept_as_far_as_they_are_asked_for() {
    let kept = |labels| {
        let decoder = Decoder {
            labels,
            ..decoder(Detail::Metadata)
        };
        page(&decoder, &json!([deployment()])).objects[0]
            .labels
            .len()
    };
    let keys = |key: &str| Labels::Keys([key.into()].into());
    assert_eq!(kept(Labels::None), 0);
    assert_eq!(kept(keys("other")), 0);
    assert_eq!(kept(keys("app.kubernetes.io/instance")), 1);
    assert_eq!(kept(Labels::All), 1);
    assert!(Labels::All.covers(&keys("a")) && keys("a").covers(&Labels::None));
    assert!(!keys("a").covers(&keys("b")) && !keys("a").covers(&Labels::All));
}

#[test]
fn a_secret_is_an_object_of_its_metadata() {
    let secrets = Decoder {
        gvk: Gvk::new("", "v1", "Secret"),
        is_metadata_enough: true,
        ..decoder(Detail::Metadata)
    };
    let secret = json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
        "metadata": {"name": "s", "uid": "u"}, "data": {"k": "dg=="}});
    let page = page(&secrets, &json!([secret]));
    let Body::Whole(object) = &page.objects[0].body else {
        panic!("it can be read: {page:?}");
    };
    let expected = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","uid":"u"}}"#;
    assert_eq!(&*object.json, expected);
}

#[test]
fn an_object_that_cannot_be_read_costs_no_other() {
    let huge = "x".repeat(OBJECT_BYTES_MAX);
    let big = json!({"metadata": {"name": "big", "uid": "u2"}, "spec": huge});
    let page = page(&decoder(Detail::Whole), &json!([big, 7, deployment()]));
    let [big, seven, web] = &page.objects[..] else {
        panic!("three objects: {page:?}");
    };
    assert!(matches!(
        &big.body,
        Body::Unreadable(it) if matches!(it.1, ObjectError::TooLarge(_))
    ));
    assert_eq!(&*big.name, "big");
    assert!(matches!(seven.body, Body::Unreadable(..)));
    assert!(matches!(web.body, Body::Whole(_)));
}

#[test]
fn events_tell_what_happened_and_up_to_which_version() {
    let decoder = decoder(Detail::Whole);
    let event = |kind: &str, object: &Value| {
        decoder.event(
            json!({"type": kind, "object": object})
                .to_string()
                .as_bytes(),
        )
    };
    let applied = event("MODIFIED", &deployment()).unwrap();
    assert!(
        matches!(&applied, WatchEvent::Applied(it, version) if &*it.name == "web" && version == "7")
    );
    let deleted = event("DELETED", &deployment()).unwrap();
    assert!(matches!(deleted, WatchEvent::Deleted(..)));
    let bookmark = json!({"kind": "Deployment", "metadata": {"resourceVersion": "12"}});
    let bookmark = event("BOOKMARK", &bookmark).unwrap();
    assert!(matches!(bookmark, WatchEvent::Bookmark(version) if version == "12"));
    let end = json!({"metadata": {"resourceVersion": "13", "annotations": {"k8s.io/initial-events-end": "true"}}});
    let end = event("BOOKMARK", &end).unwrap();
    assert!(matches!(end, WatchEvent::AllSent(version) if version == "13"));
    let gone = event("ERROR", &json!({"code": 410, "message": "too old"})).unwrap();
    assert!(matches!(gone, WatchEvent::Error(status) if status.code == 410));
    assert_eq!(
        event("NEWS", &json!({})).unwrap_err(),
        "an event of type `NEWS`"
    );
}
