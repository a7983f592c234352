//! Related objects of which only the identity is needed.

use kindsight_contract::Relation;
use kindsight_model::KindState;
use serde_json::json;

use super::related::{Near, of, pattern, shop};
use super::*;
use crate::related_rules::RelatedKinds;

#[test]
fn an_object_is_known_to_exist_without_its_content() {
    let mut near = Near::by(RelatedKinds {
        judged: pattern("Pod"),
        when: Some("/metadata/deletionTimestamp".to_owned()),
        related: pattern("Node"),
        relation: Relation::Named("/spec/nodeName".to_owned()),
        is_identity_enough: true,
    });
    let node = |version: u64| of("Node", "worker", version, &json!({}), &json!({}));
    near.detail = Detail::Metadata;
    near.apply(&node(1));
    near.detail = Detail::Whole;
    let mut pod = of(
        "Pod",
        "pod",
        2,
        &shop(),
        &json!({"spec": {"nodeName": "worker"}}),
    );
    near.apply(&pod);
    assert_eq!(near.reports("Node"), ["pod beside : complete"]);
    pod["metadata"]["deletionTimestamp"] = "2026-11-23T17:00:00Z".into();
    pod["metadata"]["resourceVersion"] = "3".into();
    near.apply(&pod);
    assert_eq!(near.reports("Node"), ["pod beside worker: complete"]);
    let is_identity_alone = |near: &Near| {
        let mut nodes = near.index.objects.of_scope(6);
        let is_alone = nodes.all(|(_, node)| node.is_identity_alone());
        is_alone && !near.index.is_used(6)
    };
    assert!(is_identity_alone(&near) && near.index.take_wanted().is_empty());
    // Heartbeats are no news.
    near.apply(&node(4));
    assert!(near.reports("Node").is_empty() && is_identity_alone(&near));
    near.remove(&node(4));
    assert_eq!(near.reports("Node"), ["pod beside : complete"]);
    near.cover(6, KindState::Forbidden);
    assert_eq!(near.reports("Node"), ["pod beside : partial"]);
    near.cover(6, KindState::Complete);
    near.apply(&node(5));
    assert_eq!(near.reports("Node"), ["pod beside worker: complete"]);
}

#[test]
fn the_content_of_an_object_is_kept_while_another_relation_needs_it() {
    let rule = |judged: &str, is_identity_enough: bool| RelatedKinds {
        judged: pattern(judged),
        when: None,
        related: pattern("Node"),
        relation: Relation::Named("/spec/nodeName".to_owned()),
        is_identity_enough,
    };
    let mut near = Near::by(rule("Pod", true));
    near.rules = Arc::new(
        [rule("Pod", true), rule("Service", false)]
            .into_iter()
            .collect(),
    );
    near.index.set_rules(Arc::clone(&near.rules));
    let spec = json!({"spec": {"nodeName": "worker"}});
    let node = of("Node", "worker", 1, &json!({}), &json!({}));
    near.apply(&node);
    near.apply(&of("Pod", "pod", 2, &shop(), &spec));
    assert_eq!(near.reports("Node"), ["pod beside worker: complete"]);
    let service = of("Service", "service", 3, &shop(), &spec);
    near.apply(&service);
    assert!(near.reports("Node").is_empty(), "the Node was not read yet");
    assert_eq!(near.index.take_wanted(), BTreeSet::from([(6, "".into())]));
    let (scope, decoded) = near.decoded(&node);
    near.index.complete(scope, decoded);
    let both = [
        "pod beside worker: complete",
        "service beside worker: complete",
    ];
    assert_eq!(near.reports("Node"), both);
    assert!(near.index.is_used(6));
    near.remove(&service);
    near.reports("Node");
    let mut nodes = near.index.objects.of_scope(6);
    assert!(nodes.all(|(_, node)| matches!(node.body(), Body::NotAsked)));
    assert!(!near.index.is_used(6));
}
