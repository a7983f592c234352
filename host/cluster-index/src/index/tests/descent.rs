//! Objects that are owned through objects of other groups, by a rule about any Kind.

use kindsight_contract::{KindPattern, Relation};
use serde_json::{Value, json};

use super::related::{Near, of, pattern, shop};
use super::*;
use crate::related_rules::RelatedKinds;

/// A cluster whose interpreters request the Pods of every object.
fn near() -> Near {
    Near::by(RelatedKinds {
        judged: KindPattern {
            group: "*".to_owned(),
            version: "*".to_owned(),
            kind: "*".to_owned(),
        },
        when: None,
        related: pattern("Pod"),
        relation: Relation::Descendant,
        is_identity_enough: false,
    })
}

/// An object with these owners.
fn owned(kind: &str, name: &str, labels: &Value, owners: &[&str]) -> Value {
    let mut object = of(kind, name, 1, labels, &json!({}));
    let owners = owners
        .iter()
        .map(|name| json!({"kind": "Owner", "name": name, "uid": format!("uid-{name}")}));
    object["metadata"]["ownerReferences"] = owners.collect();
    object
}

/// The Service `front` of the application `shop` owns a Pod through a claim, which belongs to its first owner: the
/// Service `other` of another application.
fn objects() -> [Value; 4] {
    let bank = json!({"app.kubernetes.io/instance": "bank"});
    [
        owned("Service", "front", &shop(), &[]),
        owned("Service", "other", &bank, &[]),
        owned(
            "PersistentVolumeClaim",
            "data",
            &json!({}),
            &["other", "front"],
        ),
        owned("Pod", "pod", &json!({}), &["data"]),
    ]
}

/// Applies an object, and reads the bodies that are needed then.
fn apply(near: &mut Near, object: &Value) {
    near.apply(object);
    read_bodies(near);
}

fn read_bodies(near: &mut Near) {
    for object in objects() {
        let (scope, decoded) = near.decoded(&object);
        near.index.complete(scope, decoded);
    }
}

/// The last report of each group.
#[derive(Default)]
struct LastReports(BTreeMap<String, String>);

impl LastReports {
    fn take(&mut self, near: &mut Near) {
        for report in near.reports("Pod") {
            let group = if report.contains("front") {
                "shop"
            } else {
                "bank"
            };
            self.0.insert(group.to_owned(), report);
        }
    }
}

#[test]
fn the_pods_of_an_owner_are_related_in_each_order_of_arrival() {
    let objects = objects();
    for order in permutations() {
        let mut near = near();
        let mut last = LastReports::default();
        for at in order {
            apply(&mut near, &objects[at]);
            last.take(&mut near);
        }
        assert_eq!(
            last.0["shop"], "front beside data pod: complete",
            "{order:?}"
        );
    }
}

/// All orders of four objects.
fn permutations() -> Vec<[usize; 4]> {
    let all = (0..256).map(|number| [number / 64, number / 16 % 4, number / 4 % 4, number % 4]);
    let is_order = |order: &[usize; 4]| BTreeSet::from(*order).len() == 4;
    all.filter(is_order).collect()
}

#[test]
fn a_removed_link_between_an_owner_and_a_pod_ends_their_relation() {
    let [front, other, data, pod] = objects();
    for removed in [&data, &pod] {
        let mut near = near();
        for object in [&front, &other, &data, &pod] {
            near.apply(object);
        }
        assert!(
            near.reports("Pod")
                .contains(&"front beside data pod: complete".to_owned())
        );
        near.remove(removed);
        read_bodies(&mut near);
        let reports = near.reports("Pod");
        assert!(
            reports.contains(&"front beside : complete".to_owned()),
            "{reports:?}"
        );
        apply(&mut near, removed);
        let reports = near.reports("Pod");
        assert!(
            reports.contains(&"front beside data pod: complete".to_owned()),
            "{reports:?}"
        );
    }
}

#[test]
fn an_object_that_gets_another_owner_is_no_longer_a_descendant() {
    let mut near = near();
    for object in objects() {
        near.apply(&object);
    }
    near.reports("Pod");
    let mut data = owned("PersistentVolumeClaim", "data", &json!({}), &["other"]);
    data["metadata"]["resourceVersion"] = "2".into();
    near.apply(&data);
    let reports = near.reports("Pod");
    assert!(
        reports.contains(&"front beside : complete".to_owned()),
        "{reports:?}"
    );
}

/// The labels of an object of one app of the application `shop`.
fn in_one_app() -> Value {
    json!({"app.kubernetes.io/instance": "shop", "app.kubernetes.io/component": "all"})
}

/// A search for each object would exceed the limit on searches, and each Pod would be compared with its own.
#[test]
fn objects_that_own_nothing_have_no_search() {
    const OBJECTS: usize = 50_000;
    let mut near = near();
    let labels = in_one_app();
    for at in 0..OBJECTS {
        let name = format!("claim-{at}");
        near.apply(&of("PersistentVolumeClaim", &name, 1, &labels, &json!({})));
    }
    near.apply(&owned("Pod", "pod", &json!({}), &["claim-7"]));
    let reports = near.index.take_reports(&Coverage::default());
    let [(_, report)] = &*reports else {
        panic!("{} reports", reports.len());
    };
    assert_eq!(report.objects.len(), OBJECTS + 1);
    assert_eq!(near.index.queries.len(), 1);
}

#[test]
fn owners_in_a_circle_end() {
    let mut near = near();
    near.apply(&owned("Service", "front", &shop(), &["data"]));
    near.apply(&owned(
        "PersistentVolumeClaim",
        "data",
        &json!({}),
        &["front"],
    ));
    near.apply(&owned("Pod", "pod", &json!({}), &["data"]));
    assert_eq!(near.reports("Pod"), ["data pod front beside : complete"]);
}
