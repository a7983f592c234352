mod memory;
mod parts;
mod related;

use serde_json::{Value, json};

use super::*;
use crate::kubernetes::decode::{Body, Decoder, Detail, Labels};
use crate::kubernetes::membership::Rules;
use kindsight_model::{Coverage, Gvk};

/// Watches of this test by Kind.
const KINDS: [(&str, &str); 4] = [
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("", "Pod"),
    ("", "Node"),
];

struct Cluster {
    inventory: Inventory,
    detail: Detail,
}

impl Cluster {
    fn new(detail: Detail) -> Self {
        let inventory = Inventory::default();
        Self { inventory, detail }
    }

    fn decoded(&self, kind: &str, metadata: &Value) -> (WatchId, Decoded) {
        let watch = KINDS.iter().position(|(_, it)| *it == kind).unwrap();
        let decoder = Decoder {
            gvk: Gvk::new(KINDS[watch].0, "v1", kind),
            rules: Rules::default(),
            detail: self.detail,
            labels: Labels::None,
            is_metadata_enough: false,
            is_bundle_state: kind == "ResourceBundleState",
        };
        let list = json!({"items": [{"metadata": metadata}]}).to_string();
        let mut page = decoder.page(list.as_bytes()).unwrap();
        (watch, page.objects.pop().unwrap())
    }

    fn apply(&mut self, kind: &str, metadata: &Value) {
        let (watch, decoded) = self.decoded(kind, metadata);
        self.inventory.apply(watch, 1, decoded);
    }

    fn remove(&mut self, kind: &str, metadata: &Value) {
        let (watch, decoded) = self.decoded(kind, metadata);
        self.inventory.remove(watch, &decoded);
    }

    /// The reports since the last call: the application, its app, and the names of its objects.
    fn reports(&mut self) -> Vec<String> {
        let reports = self.inventory.take_reports(&Coverage::default());
        let told = reports.into_iter().map(|it| {
            let (name, objects) = match it {
                Report::Application(it) => (format!("{} {}", it.application, it.app), it.objects),
                Report::Deployment(it) => (it.deployment.to_string(), it.objects),
            };
            let names: Vec<&str> = objects.iter().map(|it| &*it.name).collect();
            format!("{name}: {}", names.join(" "))
        });
        told.collect()
    }
}

/// Metadata of an object of namespace `web`, with an owner and the instance it is labelled with.
fn object(name: &str, owner: &str, instance: &str) -> Value {
    let mut metadata = json!({"namespace": "web", "name": name, "uid": format!("uid-{name}")});
    if !owner.is_empty() {
        let owner = json!({"kind": "Owner", "name": owner, "uid": format!("uid-{owner}")});
        metadata["ownerReferences"] = json!([owner]);
    }
    if !instance.is_empty() {
        metadata["labels"] = json!({"app.kubernetes.io/instance": instance});
    }
    metadata
}

#[test]
fn what_an_object_owns_belongs_to_its_application_whichever_comes_first() {
    let mut orders = vec![
        ("Deployment", object("front", "", "shop")),
        ("ReplicaSet", object("front-7", "front", "")),
        // The label of another chart does not split the Pod from its Deployment.
        ("Pod", object("front-7-x", "front-7", "base")),
        ("Pod", object("alone", "", "")),
    ];
    for _ in 0..2 {
        let mut cluster = Cluster::new(Detail::Whole);
        for (kind, metadata) in &orders {
            cluster.apply(kind, metadata);
        }
        // A Pod that came first was dropped until its Deployment was seen: it is asked for again.
        for (kind, metadata) in &orders {
            cluster.apply(kind, metadata);
        }
        let reports = cluster.reports();
        let expected = "-/shop/-/web front: front front-7-x front-7";
        assert!(reports.contains(&expected.to_owned()), "{reports:?}");
        assert_eq!(cluster.inventory.members(), 3);
        orders.reverse();
    }
}

#[test]
fn a_group_waits_until_each_of_its_objects_was_read() {
    let mut cluster = Cluster::new(Detail::Metadata);
    cluster.apply("Deployment", &object("front", "", "shop"));
    cluster.apply("Pod", &object("other", "", ""));
    assert!(cluster.reports().is_empty());
    assert_eq!(
        cluster.inventory.take_wanted(),
        BTreeSet::from([(0, "web".into())])
    );
    assert!(cluster.inventory.is_used(0) && !cluster.inventory.is_used(2));
    cluster.detail = Detail::Whole;
    cluster.apply("Deployment", &object("front", "", "shop"));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front"]);
    assert!(cluster.reports().is_empty());
}

#[test]
fn what_lost_its_label_or_its_owner_leaves_the_group() {
    let mut cluster = Cluster::new(Detail::Whole);
    let deployment = object("front", "", "shop");
    cluster.apply("Deployment", &deployment);
    cluster.apply("Pod", &object("pod", "front", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front pod"]);
    cluster.apply("Deployment", &object("front", "", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: "]);
    cluster.apply("Deployment", &deployment);
    cluster.apply("Pod", &object("pod", "front", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front pod"]);
    cluster.remove("Deployment", &deployment);
    assert_eq!(cluster.reports(), ["-/shop/-/web front: "]);
    assert_eq!(cluster.inventory.members(), 0);
}

#[test]
fn a_change_of_an_owner_that_moves_nothing_does_not_concern_what_it_owns() {
    let mut cluster = Cluster::new(Detail::Whole);
    let mut owner = object("front", "", "");
    cluster.apply("ReplicaSet", &owner);
    cluster.apply("Pod", &object("pod", "front", "shop"));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
    owner["generation"] = 2.into();
    cluster.apply("ReplicaSet", &owner);
    assert!(cluster.inventory.groups.take_changed().is_empty());
    owner["labels"] = json!({"app.kubernetes.io/instance": "base"});
    cluster.apply("ReplicaSet", &owner);
    let expected = ["-/base/-/web front: pod front", "-/shop/-/web pod: "];
    assert_eq!(cluster.reports(), expected);
}

#[test]
fn a_new_pass_over_a_kind_forgets_what_it_does_not_see() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("old", "", "shop"));
    cluster.apply("Pod", &object("pod", "", "shop"));
    let (watch, decoded) = cluster.decoded("Deployment", &object("new", "", "shop"));
    cluster.inventory.apply(watch, 2, decoded);
    cluster.inventory.sweep(watch, 2);
    let expected = [
        "-/shop/-/web new: new",
        "-/shop/-/web old: ",
        "-/shop/-/web pod: pod",
    ];
    assert_eq!(cluster.reports(), expected);
}

#[test]
fn a_cluster_scoped_object_joins_the_only_application_of_its_name() {
    let mut cluster = Cluster::new(Detail::Whole);
    let node = json!({"name": "role", "labels": {"app.kubernetes.io/instance": "shop"}});
    cluster.apply("Node", &node);
    assert_eq!(cluster.reports(), ["-/shop/-/- role: role"]);
    cluster.apply("Deployment", &object("front", "", "shop"));
    let expected = [
        "-/shop/-/- role: ",
        "-/shop/-/web front: front",
        "-/shop/-/web role: role",
    ];
    assert_eq!(cluster.reports(), expected);
    let mut elsewhere = object("front", "", "shop");
    elsewhere["namespace"] = "other".into();
    cluster.apply("Deployment", &elsewhere);
    let expected = [
        "-/shop/-/- role: role",
        "-/shop/-/other front: front",
        "-/shop/-/web role: ",
    ];
    assert_eq!(cluster.reports(), expected);
    cluster.remove("Deployment", &elsewhere);
    let expected = [
        "-/shop/-/- role: ",
        "-/shop/-/other front: ",
        "-/shop/-/web role: role",
    ];
    assert_eq!(cluster.reports(), expected);
}

#[test]
fn owners_in_a_circle_are_followed_to_an_end() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Pod", &object("a", "b", "shop"));
    cluster.apply("Pod", &object("b", "a", ""));
    cluster.apply("Pod", &object("b", "a", ""));
    assert_eq!(cluster.inventory.members(), 2);
    let reports = cluster.reports().concat();
    assert!(reports.contains('a') && reports.contains('b'), "{reports}");
}

#[test]
fn an_object_that_was_passed_over_before_its_owner_came_is_asked_for() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Pod", &object("pod", "front", ""));
    assert!(cluster.inventory.take_wanted().is_empty());
    cluster.apply("Deployment", &object("front", "", "shop"));
    assert_eq!(
        cluster.inventory.take_wanted(),
        BTreeSet::from([(2, "web".into())])
    );
    assert!(cluster.reports().is_empty(), "half of it is no report");
    cluster.apply("Pod", &object("pod", "front", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front pod"]);
}

#[test]
fn an_object_that_comes_to_name_its_application_by_itself_keeps_it() {
    let mut cluster = Cluster::new(Detail::Whole);
    let role = json!({"name": "role", "labels": {"app.kubernetes.io/instance": "shop"}});
    let mut helm = role.clone();
    helm["annotations"] = json!({
        "meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "web",
    });
    cluster.apply("Deployment", &object("front", "", "shop"));
    cluster.apply("Node", &role);
    cluster.apply("Node", &helm);
    let mut other = role.clone();
    other["name"] = "other".into();
    cluster.apply("Node", &other);
    cluster.reports();
    cluster.remove("Deployment", &object("front", "", "shop"));
    // The role still names it, so that the other one has an application to join.
    assert_eq!(cluster.reports(), ["-/shop/-/web front: "]);
    cluster.remove("Node", &helm);
    let expected = [
        "-/shop/-/- other: other",
        "-/shop/-/web other: ",
        "-/shop/-/web role: ",
    ];
    assert_eq!(cluster.reports(), expected);
}

/// Metadata of an object of `web` that is sent by an AppContext, and is of a chart besides.
fn sent(name: &str, owner: &str, deployment: &str) -> Value {
    let mut metadata = object(name, owner, "shop");
    metadata["labels"][DeploymentId::LABEL] = deployment.into();
    metadata
}

fn id(deployment: &str) -> DeploymentId {
    deployment.parse().unwrap()
}

#[test]
fn what_a_context_covers_is_not_found_and_its_children_neither() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &sent("front", "", "7-front"));
    cluster.apply("Pod", &object("front-7", "front", "base"));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front front-7"]);
    // Nobody recorded another one.
    cluster.inventory.record(&id("7-other"));
    assert!(cluster.reports().is_empty());

    cluster.inventory.record(&id("7-front"));
    let reports = cluster.inventory.take_reports(&Coverage::default());
    let [Report::Application(report)] = &*reports else {
        panic!("{reports:?}");
    };
    // They are still there, so they are not gone.
    let taken: Vec<&str> = report.taken.iter().map(|it| &*it.name).collect();
    assert_eq!(
        (report.objects.len(), &*taken),
        (0, &["front", "front-7"][..])
    );
    assert_eq!(cluster.inventory.members(), 0);

    cluster.inventory.forget(&id("7-front"));
    let wanted = [(0, "web".into()), (2, "web".into())];
    assert_eq!(cluster.inventory.take_wanted(), BTreeSet::from(wanted));
    cluster.apply("Deployment", &sent("front", "", "7-front"));
    cluster.apply("Pod", &object("front-7", "front", "base"));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front front-7"]);
}

#[test]
fn a_deployment_without_a_report_of_its_own_is_reported_by_its_objects() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.inventory.record(&id("7-front"));
    cluster.inventory.set_direct(&id("7-front"), true);
    cluster.inventory.note_direct(&id("7-front"));
    assert_eq!(cluster.reports(), ["7-front: "]);
    // An owner that somebody else deployed does not take it away.
    cluster.apply("Deployment", &object("operator", "", "base"));
    cluster.apply("ReplicaSet", &sent("front", "operator", "7-front"));
    cluster.apply("Pod", &object("front-7", "front", ""));
    let expected = ["-/base/-/web operator: operator", "7-front: front-7 front"];
    assert_eq!(cluster.reports(), expected);
    let front = id("7-front");
    let labelled = cluster.inventory.labelled_with(&front);
    assert_eq!(
        labelled.map(|(_, name)| name).collect::<Vec<_>>(),
        ["front"]
    );
    cluster.inventory.set_direct(&id("7-front"), false);
    assert!(cluster.reports().is_empty());
    // Asked for again, and told once it was read.
    cluster.inventory.set_direct(&id("7-front"), true);
    assert!(cluster.reports().is_empty());
    cluster.apply("ReplicaSet", &sent("front", "operator", "7-front"));
    cluster.apply("Pod", &object("front-7", "front", ""));
    assert_eq!(cluster.reports(), ["7-front: front-7 front"]);
    cluster.remove("ReplicaSet", &sent("front", "operator", "7-front"));
    assert_eq!(cluster.reports(), ["7-front: "]);
}
