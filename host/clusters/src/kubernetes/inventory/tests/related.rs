//! Objects beside those of an application, by each relation, and the Kinds that are covered.

use kindsight_contract::{KindPattern, Relation};
use kindsight_model::KindCoverage;
use serde_json::{Value, json};

use super::*;
use crate::kubernetes::discovery::ApiKind;
use crate::kubernetes::membership::Rules;
use crate::needs::RelatedKinds;

/// Watches of these tests by group, Kind, and whether it has namespaces.
const KINDS: [(&str, &str, bool); 6] = [
    ("", "Service", true),
    ("", "Pod", true),
    ("", "PersistentVolumeClaim", true),
    ("storage.k8s.io", "StorageClass", false),
    ("discovery.k8s.io", "EndpointSlice", true),
    ("", "Namespace", false),
];

struct Near {
    inventory: Inventory,
    rules: Arc<RelatedRules>,
    detail: Detail,
}

fn pattern(kind: &str) -> KindPattern {
    let group = KINDS.iter().find(|it| it.1 == kind).map_or("*", |it| it.0);
    KindPattern {
        group: group.to_owned(),
        version: "*".to_owned(),
        kind: kind.to_owned(),
    }
}

impl Near {
    /// A cluster whose objects of the first Kind are asked about those of the second one.
    fn asked(judged: &str, related: &str, relation: Relation) -> Self {
        let rule = RelatedKinds {
            judged: pattern(judged),
            related: pattern(related),
            relation,
        };
        let rules = Arc::new(RelatedRules::from_iter([rule]));
        let mut inventory = Inventory::default();
        inventory.set_rules(Arc::clone(&rules));
        for (watch, (group, kind, is_namespaced)) in KINDS.into_iter().enumerate() {
            let kind = ApiKind {
                gvk: Gvk::new(group, "v1", kind),
                plural: kind.to_lowercase(),
                is_namespaced,
            };
            inventory.add_watch(watch, Arc::new(kind), None);
            inventory.set_complete(watch, true);
        }
        let detail = Detail::Whole;
        Self {
            inventory,
            rules,
            detail,
        }
    }

    fn decoded(&self, object: &Value) -> (WatchId, Decoded) {
        let kind = object["kind"].as_str().unwrap();
        let watch = KINDS.iter().position(|it| it.1 == kind).unwrap();
        let kind = &self.inventory.watched[&watch].kind;
        let rules = Rules::default();
        let labels = Labels::needed(&self.rules, kind);
        let decoder = Decoder::new(kind, &rules, self.detail, labels);
        let list = json!({"items": [object]}).to_string();
        let mut page = decoder.page(list.as_bytes()).unwrap();
        (watch, page.objects.pop().unwrap())
    }

    fn apply(&mut self, object: &Value) {
        let (watch, decoded) = self.decoded(object);
        self.inventory.apply(watch, 1, decoded);
    }

    fn remove(&mut self, object: &Value) {
        let (watch, decoded) = self.decoded(object);
        self.inventory.remove(watch, &decoded);
    }

    /// The reports since the last call: its objects, those beside them, and how the Kind is covered.
    fn reports(&mut self, kind: &str) -> Vec<String> {
        let names = |objects: &[Object]| {
            let names: Vec<&str> = objects.iter().map(|it| &*it.name).collect();
            names.join(" ")
        };
        let reports = self.inventory.take_reports(&Coverage::default());
        let told = reports.into_iter().map(|it| {
            let Report::Application(it) = it else {
                panic!("nothing was recorded: {it:?}");
            };
            let (own, related) = (names(&it.objects), names(&it.related));
            let covered = it.covered.covers(&pattern(kind).group, kind);
            format!("{own} beside {related}: {}", covered.as_str())
        });
        told.collect()
    }
}

/// An object of namespace `web`, at a version, in the application `shop` where it is labelled so.
fn of(kind: &str, name: &str, version: u64, labels: &Value, more: &Value) -> Value {
    let mut object = json!({"kind": kind, "metadata": {
        "name": name, "uid": format!("uid-{name}"), "labels": labels,
        "resourceVersion": version.to_string(),
    }});
    if KINDS.iter().any(|it| it.1 == kind && it.2) {
        object["metadata"]["namespace"] = "web".into();
    }
    for (key, value) in more.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
    object
}

fn shop() -> Value {
    json!({"app.kubernetes.io/instance": "shop"})
}

#[test]
fn what_a_selector_finds_elsewhere_comes_changes_and_goes_with_its_labels() {
    let selected = Relation::SelectedBy("/spec/selector".to_owned());
    let mut near = Near::asked("Service", "Pod", selected);
    let selector = json!({"spec": {"selector": {"app": "web", "tier": "a"}}});
    near.apply(&of("Service", "front", 1, &shop(), &selector));
    assert_eq!(near.reports("Pod"), ["front beside : complete"]);
    let labels = json!({"app": "web", "tier": "a"});
    near.apply(&of("Pod", "other", 2, &json!({"app": "web"}), &json!({})));
    assert!(near.reports("Pod").is_empty());
    near.apply(&of("Pod", "pod", 3, &labels, &json!({})));
    assert_eq!(near.reports("Pod"), ["front beside pod: complete"]);
    near.apply(&of("Pod", "pod", 3, &labels, &json!({})));
    assert!(near.reports("Pod").is_empty(), "nothing changed");
    near.apply(&of(
        "Pod",
        "pod",
        4,
        &labels,
        &json!({"status": {"phase": "Running"}}),
    ));
    assert_eq!(near.reports("Pod"), ["front beside pod: complete"]);
    near.apply(&of("Pod", "pod", 5, &json!({"tier": "a"}), &json!({})));
    assert_eq!(near.reports("Pod"), ["front beside : complete"]);
    // Nobody needs it whole any more.
    assert!(
        near.inventory
            .objects
            .iter()
            .filter(|(_, it)| matches!(it.body(), Body::Whole(_)))
            .count()
            == 1
    );
    near.apply(&of("Pod", "pod", 6, &labels, &json!({})));
    near.reports("Pod");
    near.remove(&of("Pod", "pod", 6, &labels, &json!({})));
    assert_eq!(near.reports("Pod"), ["front beside : complete"]);
}

#[test]
fn what_is_found_by_its_metadata_is_read_before_the_group_is_reported() {
    let labelled = Relation::Labelled("kubernetes.io/service-name".to_owned());
    let mut near = Near::asked("Service", "EndpointSlice", labelled);
    near.detail = Detail::Metadata;
    let labels = json!({"kubernetes.io/service-name": "front", "dropped": "x"});
    near.apply(&of("EndpointSlice", "front-1", 1, &labels, &json!({})));
    let (_, slice) = near.inventory.objects.iter().next().unwrap();
    assert_eq!(slice.labels().len(), 1);
    near.detail = Detail::Whole;
    near.apply(&of("Service", "front", 2, &shop(), &json!({})));
    assert!(near.reports("EndpointSlice").is_empty());
    assert_eq!(
        near.inventory.take_wanted(),
        BTreeSet::from([(4, "web".into())])
    );
    let (watch, decoded) = near.decoded(&of("EndpointSlice", "front-1", 1, &labels, &json!({})));
    near.inventory.complete(watch, decoded);
    assert_eq!(
        near.reports("EndpointSlice"),
        ["front beside front-1: complete"]
    );
}

#[test]
fn a_name_leads_to_an_object_of_the_namespace_or_of_the_cluster() {
    let named = Relation::Named("/spec/storageClassName".to_owned());
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named);
    let spec = json!({"spec": {"storageClassName": "fast"}});
    near.apply(&of("PersistentVolumeClaim", "data", 1, &shop(), &spec));
    assert_eq!(near.reports("StorageClass"), ["data beside : complete"]);
    near.apply(&of("StorageClass", "slow", 2, &json!({}), &json!({})));
    near.apply(&of("StorageClass", "fast", 3, &json!({}), &json!({})));
    assert_eq!(near.reports("StorageClass"), ["data beside fast: complete"]);
    assert!(near.inventory.is_used(3) && !near.inventory.is_used(1));
    // Rights that are withdrawn, and given back.
    near.inventory.set_complete(3, false);
    assert_eq!(near.reports("StorageClass"), ["data beside fast: partial"]);
    near.inventory.set_complete(3, true);
    assert_eq!(near.reports("StorageClass"), ["data beside fast: complete"]);
    // Another one is named.
    let spec = json!({"spec": {"storageClassName": "slow"}});
    near.apply(&of("PersistentVolumeClaim", "data", 4, &shop(), &spec));
    assert!(
        near.reports("StorageClass").is_empty(),
        "it is still to be read"
    );
    assert_eq!(
        near.inventory.take_wanted(),
        BTreeSet::from([(3, "".into())])
    );
}

#[test]
fn owners_and_what_is_owned_are_found_whichever_group_they_are_in() {
    let owner =
        |name: &str| json!([{"kind": "Service", "name": name, "uid": format!("uid-{name}")}]);
    let mut slice = of("EndpointSlice", "front-1", 1, &json!({}), &json!({}));
    slice["metadata"]["ownerReferences"] = owner("other");
    let other = of(
        "Service",
        "other",
        2,
        &json!({"app.kubernetes.io/instance": "else"}),
        &json!({}),
    );
    for relation in [Relation::Owned, Relation::Descendant] {
        let mut near = Near::asked("Service", "EndpointSlice", relation);
        near.apply(&other);
        near.apply(&slice);
        // What it owns is in its own group: nothing is beside it.
        assert_eq!(
            near.reports("EndpointSlice"),
            ["front-1 other beside : complete"]
        );
    }
    let mut near = Near::asked("Pod", "Namespace", Relation::Owner);
    let mut pod = of("Pod", "pod", 1, &shop(), &json!({}));
    pod["metadata"]["ownerReferences"] =
        json!([{"kind": "Namespace", "name": "n", "uid": "uid-n"}]);
    near.apply(&pod);
    assert_eq!(near.reports("Namespace"), ["pod beside : complete"]);
    near.apply(&of("Namespace", "n", 2, &json!({}), &json!({})));
    assert_eq!(near.reports("Namespace"), ["pod beside n: complete"]);
}

#[test]
fn a_swap_asks_for_other_objects_and_lets_go_of_those_of_before() {
    let named = Relation::Named("/spec/storageClassName".to_owned());
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named);
    near.apply(&of("StorageClass", "fast", 1, &json!({}), &json!({})));
    let spec = json!({"spec": {"storageClassName": "fast"}});
    near.apply(&of("PersistentVolumeClaim", "data", 2, &shop(), &spec));
    near.inventory.take_wanted();
    let (watch, decoded) = near.decoded(&of("StorageClass", "fast", 1, &json!({}), &json!({})));
    near.reports("StorageClass");
    near.inventory.complete(watch, decoded);
    assert_eq!(near.reports("StorageClass"), ["data beside fast: complete"]);
    let whole = |near: &Near| {
        let bodies = near.inventory.objects.iter().map(|(_, it)| it.body());
        bodies.filter(|it| matches!(it, Body::Whole(_))).count()
    };
    assert_eq!(whole(&near), 2);
    near.inventory.set_rules(Arc::default());
    assert_eq!(near.reports("StorageClass"), ["data beside : partial"]);
    assert_eq!(whole(&near), 1);
    let rules = Arc::clone(&near.rules);
    near.inventory.set_rules(rules);
    assert!(
        near.reports("StorageClass").is_empty(),
        "it is to be read again"
    );
    let class = near.inventory.objects.find(watch, "", "fast");
    assert!(near.inventory.is_missing(class.unwrap()));
}

#[test]
fn what_was_not_searched_is_covered_in_part() {
    let named = || Relation::Named("/spec/storageClassName".to_owned());
    let claim = of("PersistentVolumeClaim", "data", 1, &shop(), &json!({}));
    let covered = |mut near: Near| {
        near.apply(&claim);
        near.reports("StorageClass")
    };
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named());
    near.inventory.remove_watch(3);
    assert_eq!(covered(near), ["data beside : partial"]);
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named());
    near.inventory.is_over = true;
    assert_eq!(covered(near), ["data beside : partial"]);
    // Of an item that cannot be read at all it is not known which one it is.
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named());
    near.apply(&json!({"kind": "StorageClass", "metadata": 7}));
    assert_eq!(covered(near), ["data beside : partial"]);
    // A watch of another namespace has none of this one.
    let mut near = Near::asked("PersistentVolumeClaim", "Pod", named());
    let kind = Arc::clone(&near.inventory.watched[&1].kind);
    near.inventory.remove_watch(1);
    near.inventory.add_watch(1, kind, Some("elsewhere".into()));
    near.inventory.set_complete(1, true);
    near.apply(&claim);
    assert_eq!(near.reports("Pod"), ["data beside : partial"]);
    assert_eq!(KindCoverage::Partial.as_str(), "partial");
}

#[test]
fn searches_do_not_wait_under_a_label_that_all_objects_have() {
    let selected = Relation::SelectedBy("/spec/selector".to_owned());
    let mut near = Near::asked("Service", "Pod", selected);
    let labels = |at: usize| json!({"app": at.to_string(), "release": "shop-of-long-ago"});
    for at in 0..9 {
        let name = format!("service-{at}");
        let selector = json!({"spec": {"selector": labels(at)}});
        near.apply(&of("Service", &name, 1, &shop(), &selector));
        near.apply(&of("Pod", &format!("pod-{at}"), 1, &labels(at), &json!({})));
    }
    let pods = |near: &Near| -> Vec<usize> {
        let pods = near.inventory.objects.of_watch(1);
        let searches = pods.map(|(_, entry)| near.inventory.queries.near(entry).len());
        searches.collect()
    };
    near.reports("Pod");
    assert_eq!(pods(&near), [1; 9]);
    near.inventory.set_rules(Arc::default());
    near.reports("Pod");
    assert_eq!(pods(&near), [0; 9]);
}
