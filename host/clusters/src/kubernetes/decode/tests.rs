use serde_json::{Value, json};

use super::bookkeeping::LAST_APPLIED;
use super::*;

fn decoder(detail: Detail) -> Decoder {
    Decoder {
        gvk: Gvk::new("apps", "v1", "Deployment"),
        rules: MembershipRules::default(),
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

/// The only object of a page.
fn only(page: &Page) -> &Decoded {
    let [Item::Object(decoded)] = &page.objects[..] else {
        panic!("one object: {page:?}");
    };
    decoded
}

#[test]
fn an_item_of_a_list_gets_its_kind_and_loses_unread_members() {
    let page = page(&decoder(Detail::Whole), &json!([deployment()]));
    assert_eq!(
        (&*page.resource_version, page.next.as_deref()),
        ("9", Some("more"))
    );
    let Body::Whole(object) = only(&page).body() else {
        panic!("it can be read: {page:?}");
    };
    assert_eq!(&*object.gvk.kind, "Deployment");
    let read: Value = serde_json::from_str(&object.json).unwrap();
    assert_eq!(read["metadata"]["annotations"], json!({"note": "kept"}));
    assert_eq!(read["metadata"].get("managedFields"), None);
    assert_eq!(read["spec"], json!({"replicas": 3}));
}

#[test]
fn only_requested_metadata_is_kept() {
    let page = page(&decoder(Detail::Metadata), &json!([deployment()]));
    let decoded = only(&page);
    assert!(matches!(decoded.body(), Body::NotAsked));
    assert_eq!((decoded.namespace(), decoded.name()), ("shop", "web"));
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
    let Body::Whole(object) = only(&page).body() else {
        panic!("it can be read: {page:?}");
    };
    let expected = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","uid":"u"}}"#;
    assert_eq!(&*object.json, expected);
}

#[test]
fn an_unreadable_object_affects_no_other_object() {
    let huge = "x".repeat(OBJECT_BYTES_MAX);
    let big = json!({"metadata": {"name": "big", "uid": "u2"}, "spec": huge});
    let page = page(&decoder(Detail::Whole), &json!([big, 7, deployment()]));
    let [Item::Object(big), Item::Object(seven), Item::Object(web)] = &page.objects[..] else {
        panic!("three objects: {page:?}");
    };
    assert!(matches!(
        big.body(),
        Body::Unreadable(it) if matches!(it.1, ObjectError::TooLarge(_))
    ));
    assert_eq!(big.name(), "big");
    assert!(matches!(seven.body(), Body::Unreadable(..)));
    assert!(matches!(web.body(), Body::Whole(_)));
}

#[test]
fn events_have_a_type_and_a_version() {
    let decoder = decoder(Detail::Whole);
    let event = |kind: &str, object: &Value| {
        decoder.event(
            json!({"type": kind, "object": object})
                .to_string()
                .as_bytes(),
        )
    };
    let applied = event("MODIFIED", &deployment()).unwrap();
    let WatchEvent::Applied(item, version) = applied else {
        panic!("an object: {applied:?}");
    };
    assert!(matches!(*item, Item::Object(decoded) if decoded.name() == "web") && version == "7");
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
        "unknown event type `NEWS`"
    );
}
