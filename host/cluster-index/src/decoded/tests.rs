use kindsight_contract::Tree;
use serde_json::json;

use super::*;

fn decoded(labels: &Labels) -> Decoded {
    let text = json!({"metadata": {
        "name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "7",
        "labels": {"app.kubernetes.io/instance": "shop"},
        "ownerReferences": [{"uid": "u0", "kind": "Web", "name": "w"}, {"kind": "NoUid"}],
    }});
    let text = text.to_string();
    let tree = Tree::read(&text).unwrap();
    let document = tree.document(&text);
    let rules = MembershipRules::default();
    let gvk = Gvk::new("", "v1", "Pod");
    Decoded::read(&gvk, document.root(), &rules, labels, Body::NotAsked)
}

#[test]
fn metadata_has_the_owners_the_version_and_the_application_of_an_object() {
    let decoded = decoded(&Labels::None);
    assert_eq!((decoded.namespace(), decoded.name()), ("shop", "web"));
    assert_eq!(&*decoded.owners, &[Uid::of("u0")]);
    assert_eq!(decoded.version, 7);
    assert!(!decoded.membership.claims.is_empty());
}

#[test]
fn labels_are_kept_as_far_as_they_are_asked_for() {
    let kept = |labels| decoded(&labels).labels.len();
    let keys = |key: &str| Labels::Keys([key.into()].into());
    assert_eq!(kept(Labels::None), 0);
    assert_eq!(kept(keys("other")), 0);
    assert_eq!(kept(keys("app.kubernetes.io/instance")), 1);
    assert_eq!(kept(Labels::All), 1);
    assert!(Labels::All.covers(&keys("a")) && keys("a").covers(&Labels::None));
    assert!(!keys("a").covers(&keys("b")) && !keys("a").covers(&Labels::All));
}
