//! Related objects of applications by each relation, and the Kinds with complete coverage.

use kindsight_contract::{Coverage as RelationCoverage, KindPattern, Relation};
use kindsight_model::{KindCoverage, KindState, ObjectList, Scope};
use serde_json::{Value, json};

use super::*;
use crate::related_rules::RelatedKinds;

/// Watches of these tests by group, Kind, and whether it has namespaces.
const KINDS: [(&str, &str, bool); 7] = [
    ("", "Service", true),
    ("", "Pod", true),
    ("", "PersistentVolumeClaim", true),
    ("storage.k8s.io", "StorageClass", false),
    ("discovery.k8s.io", "EndpointSlice", true),
    ("", "Namespace", false),
    ("", "Node", false),
];

pub(super) struct Near {
    pub(super) index: ClusterIndex,
    pub(super) rules: Arc<RelatedRules>,
    pub(super) detail: Detail,
}

pub(super) fn pattern(kind: &str) -> KindPattern {
    let group = KINDS.iter().find(|it| it.1 == kind).map_or("*", |it| it.0);
    KindPattern {
        group: group.to_owned(),
        version: "*".to_owned(),
        kind: kind.to_owned(),
    }
}

impl Near {
    /// A cluster with one relation, from the judged Kind to the related Kind.
    fn asked(judged: &str, related: &str, relation: Relation) -> Self {
        let rule = RelatedKinds {
            judged: pattern(judged),
            when: None,
            related: pattern(related),
            relation,
            is_identity_enough: false,
        };
        Self::by(rule)
    }

    /// A cluster with one relation.
    pub(super) fn by(rule: RelatedKinds) -> Self {
        let rules = Arc::new(RelatedRules::from_iter([rule]));
        let mut index = ClusterIndex::default();
        index.set_rules(Arc::clone(&rules));
        for (number, (group, kind, is_namespaced)) in KINDS.into_iter().enumerate() {
            let kind = ApiKind {
                gvk: Gvk::new(group, "v1", kind),
                plural: kind.to_lowercase(),
                is_namespaced,
            };
            let scope = index.watch(&Arc::new(kind), None, &Labels::All);
            assert_eq!(scope, number);
            index.set_coverage(scope, KindCoverage::new(KindState::Complete), true);
        }
        let detail = Detail::Whole;
        Self {
            index,
            rules,
            detail,
        }
    }

    pub(super) fn decoded(&self, object: &Value) -> (ScopeId, Decoded) {
        let kind = object["kind"].as_str().unwrap();
        let scope = KINDS.iter().position(|entry| entry.1 == kind).unwrap();
        let kind = &self.index.scopes[&scope].kind;
        let labels = Labels::needed(&self.rules, kind);
        (scope, decode(&kind.gvk, object, self.detail, &labels))
    }

    pub(super) fn apply(&mut self, object: &Value) {
        let (scope, decoded) = self.decoded(object);
        self.index.init_apply(scope, decoded);
    }

    pub(super) fn cover(&mut self, scope: ScopeId, state: KindState) {
        let is_complete = state == KindState::Complete;
        let coverage = KindCoverage::new(state);
        self.index.set_coverage(scope, coverage, is_complete);
    }

    pub(super) fn remove(&mut self, object: &Value) {
        let (scope, decoded) = self.decoded(object);
        self.index.delete(scope, &decoded, Removal::Deleted);
    }

    /// The reports since the last call: the objects, the related objects, and the coverage of the Kind.
    pub(super) fn reports(&mut self, kind: &str) -> Vec<String> {
        let names = |objects: &ObjectList| {
            let names: Vec<&str> = objects.iter().map(|object| &*object.name).collect();
            names.join(" ")
        };
        let reports = self.index.take_reports(&Coverage::default());
        let texts = reports.into_iter().map(|(group, report)| {
            let GroupId::Application { .. } = group else {
                panic!("no deployment was recorded: {group:?}");
            };
            let (own, related) = (names(&report.objects), names(&report.related));
            let covered = &report.related_coverage;
            let covered = covered.of(Some(&pattern(kind).group), kind, Scope::Cluster);
            let covered = covered.state.for_relations();
            format!("{own} beside {related}: {}", covered.as_str())
        });
        texts.collect()
    }
}

/// An object of namespace `web` at a version. It is in the application `shop` if it has that label.
pub(super) fn of(kind: &str, name: &str, version: u64, labels: &Value, more: &Value) -> Value {
    let mut object = json!({"kind": kind, "metadata": {
        "name": name, "uid": format!("uid-{name}"), "labels": labels,
        "resourceVersion": version.to_string(),
    }});
    if KINDS.iter().any(|entry| entry.1 == kind && entry.2) {
        object["metadata"]["namespace"] = "web".into();
    }
    for (key, value) in more.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
    object
}

pub(super) fn shop() -> Value {
    json!({"app.kubernetes.io/instance": "shop"})
}

#[test]
fn an_object_of_another_group_is_related_while_the_selector_matches_its_labels() {
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
    // No search needs its body any more.
    assert!(
        near.index
            .objects
            .iter()
            .filter(|(_, entry)| matches!(entry.body(), Body::Whole(_)))
            .count()
            == 1
    );
    near.apply(&of("Pod", "pod", 6, &labels, &json!({})));
    near.reports("Pod");
    near.remove(&of("Pod", "pod", 6, &labels, &json!({})));
    assert_eq!(near.reports("Pod"), ["front beside : complete"]);
}

/// A reader of one application may not see the other one, so no verdict may depend on its objects.
#[test]
fn an_object_of_another_application_is_not_related_by_its_labels() {
    let selected = Relation::SelectedBy("/spec/selector".to_owned());
    let mut near = Near::asked("Service", "Pod", selected);
    let selector = json!({"spec": {"selector": {"app": "web"}}});
    near.apply(&of("Service", "front", 1, &shop(), &selector));
    assert_eq!(near.reports("Pod"), ["front beside : complete"]);
    let plain = json!({"app": "web"});
    let labelled = |instance: &str| json!({"app": "web", "app.kubernetes.io/instance": instance});
    near.apply(&of("Pod", "pod", 2, &plain, &json!({})));
    assert_eq!(near.reports("Pod"), ["front beside pod: complete"]);
    near.apply(&of("Pod", "pod", 3, &labelled("bank"), &json!({})));
    let mut reports = near.reports("Pod");
    reports.sort();
    // A Pod was left out, so no rule may conclude that there is none.
    assert_eq!(reports, ["front beside : partial", "pod beside : partial"]);
    near.apply(&of("Pod", "pod", 4, &plain, &json!({})));
    assert!(
        near.reports("Pod")
            .contains(&"front beside pod: complete".to_owned())
    );
    // Another app of the same application.
    near.apply(&of("Pod", "pod", 5, &labelled("shop"), &json!({})));
    let reports = near.reports("Pod");
    assert!(
        reports.contains(&"front beside pod: complete".to_owned()),
        "{reports:?}"
    );
}

#[test]
fn a_report_waits_for_the_bodies_of_related_objects() {
    let labelled = Relation::Labelled("kubernetes.io/service-name".to_owned());
    let mut near = Near::asked("Service", "EndpointSlice", labelled);
    near.detail = Detail::Metadata;
    let labels = json!({"kubernetes.io/service-name": "front", "dropped": "x"});
    near.apply(&of("EndpointSlice", "front-1", 1, &labels, &json!({})));
    let (_, slice) = near.index.objects.iter().next().unwrap();
    assert_eq!(slice.labels().len(), 1);
    near.detail = Detail::Whole;
    near.apply(&of("Service", "front", 2, &shop(), &json!({})));
    assert!(near.reports("EndpointSlice").is_empty());
    assert_eq!(
        near.index.take_wanted(),
        BTreeSet::from([(4, "web".into())])
    );
    let (scope, decoded) = near.decoded(&of("EndpointSlice", "front-1", 1, &labels, &json!({})));
    near.index.complete(scope, decoded);
    assert_eq!(
        near.reports("EndpointSlice"),
        ["front beside front-1: complete"]
    );
}

#[test]
fn a_named_object_is_found_in_the_namespace_or_in_the_cluster() {
    let named = Relation::Named("/spec/storageClassName".to_owned());
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named);
    let spec = json!({"spec": {"storageClassName": "fast"}});
    near.apply(&of("PersistentVolumeClaim", "data", 1, &shop(), &spec));
    assert_eq!(near.reports("StorageClass"), ["data beside : complete"]);
    near.apply(&of("StorageClass", "slow", 2, &json!({}), &json!({})));
    near.apply(&of("StorageClass", "fast", 3, &json!({}), &json!({})));
    assert_eq!(near.reports("StorageClass"), ["data beside fast: complete"]);
    assert!(near.index.is_used(3) && !near.index.is_used(1));
    // Permissions are withdrawn, and granted again.
    near.cover(3, KindState::Forbidden);
    assert_eq!(near.reports("StorageClass"), ["data beside fast: partial"]);
    near.cover(3, KindState::Complete);
    assert_eq!(near.reports("StorageClass"), ["data beside fast: complete"]);
    // The claim names another StorageClass.
    let spec = json!({"spec": {"storageClassName": "slow"}});
    near.apply(&of("PersistentVolumeClaim", "data", 4, &shop(), &spec));
    assert!(
        near.reports("StorageClass").is_empty(),
        "the body of the object was not read yet"
    );
    assert_eq!(near.index.take_wanted(), BTreeSet::from([(3, "".into())]));
}

#[test]
fn owners_and_owned_objects_are_found_in_any_group() {
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
        // The owned EndpointSlice is in the same group, so it is no related object.
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
fn new_rules_request_other_objects_and_drop_the_previous_bodies() {
    let named = Relation::Named("/spec/storageClassName".to_owned());
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named);
    near.apply(&of("StorageClass", "fast", 1, &json!({}), &json!({})));
    let spec = json!({"spec": {"storageClassName": "fast"}});
    near.apply(&of("PersistentVolumeClaim", "data", 2, &shop(), &spec));
    near.index.take_wanted();
    let (scope, decoded) = near.decoded(&of("StorageClass", "fast", 1, &json!({}), &json!({})));
    near.reports("StorageClass");
    near.index.complete(scope, decoded);
    assert_eq!(near.reports("StorageClass"), ["data beside fast: complete"]);
    let whole = |near: &Near| {
        let bodies = near.index.objects.iter().map(|(_, entry)| entry.body());
        bodies.filter(|body| matches!(body, Body::Whole(_))).count()
    };
    assert_eq!(whole(&near), 2);
    near.index.set_rules(Arc::default());
    assert_eq!(near.reports("StorageClass"), ["data beside : partial"]);
    assert_eq!(whole(&near), 1);
    let rules = Arc::clone(&near.rules);
    near.index.set_rules(rules);
    assert!(
        near.reports("StorageClass").is_empty(),
        "the body of the object must be read again"
    );
    let class = near.index.objects.find(scope, "", "fast");
    assert!(near.index.is_missing(class.unwrap()));
}

#[test]
fn an_incomplete_search_makes_the_coverage_partial() {
    let named = || Relation::Named("/spec/storageClassName".to_owned());
    let claim = of("PersistentVolumeClaim", "data", 1, &shop(), &json!({}));
    let covered = |mut near: Near| {
        near.apply(&claim);
        near.reports("StorageClass")
    };
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named());
    near.index.retain(|scope| scope != 3, |_, _| false);
    assert_eq!(covered(near), ["data beside : partial"]);
    // No watch follows the objects that remain of an old scope.
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named());
    near.apply(&of("StorageClass", "fast", 1, &json!({}), &json!({})));
    near.index.retain(|scope| scope != 3, |_, _| true);
    assert_eq!(covered(near), ["data beside : partial"]);
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named());
    near.index.is_over = true;
    assert_eq!(covered(near), ["data beside : partial"]);
    // An object without a readable identity may be any object of its Kind.
    let mut near = Near::asked("PersistentVolumeClaim", "StorageClass", named());
    near.apply(&json!({"kind": "StorageClass", "metadata": 7}));
    assert_eq!(covered(near), ["data beside : partial"]);
    // A watch of another namespace has no object of this namespace.
    let mut near = Near::asked("PersistentVolumeClaim", "Pod", named());
    let kind = Arc::clone(&near.index.scopes[&1].kind);
    near.index.retain(|scope| scope != 1, |_, _| false);
    let elsewhere = Arc::from("elsewhere");
    let scope = near.index.watch(&kind, Some(&elsewhere), &Labels::All);
    near.cover(scope, KindState::Complete);
    near.apply(&claim);
    assert_eq!(near.reports("Pod"), ["data beside : partial"]);
    assert_eq!(RelationCoverage::Partial.as_str(), "partial");
}

#[test]
fn searches_are_not_registered_under_a_label_that_all_objects_have() {
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
        let pods = near.index.objects.of_scope(1);
        let searches = pods.map(|(_, entry)| near.index.queries.near(entry).len());
        searches.collect()
    };
    near.reports("Pod");
    assert_eq!(pods(&near), [1; 9]);
    near.index.set_rules(Arc::default());
    near.reports("Pod");
    assert_eq!(pods(&near), [0; 9]);
}
