mod audits;
mod comparisons;
mod descent;
mod health_scopes;
mod identities;
mod inventories;
mod memory;
mod parts;
mod passes;
mod related;
mod remote_inventories;
mod updates;

use serde_json::{Value, json};

use super::*;
use crate::decoded::{Body, Decoded};
use crate::kind::ApiKind;
use crate::labels::Labels;
use crate::membership::MembershipRules;
use kindsight_contract::Tree;
use kindsight_model::{Coverage, Gvk, Object, Removal};

/// Watches of this test by Kind.
const KINDS: [(&str, &str); 4] = [
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("", "Pod"),
    ("", "Node"),
];

/// The requested part of each object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Metadata,
    Whole,
}

/// Decodes an object of a Kind as connections do.
fn decode(gvk: &Gvk, object: &Value, detail: Detail, labels: &Labels) -> Decoded {
    let text = object.to_string();
    let body = match detail {
        Detail::Metadata => Body::NotAsked,
        Detail::Whole => match Object::from_json_as(text.clone(), gvk) {
            Ok(object) => Body::Whole(object),
            Err(error) => Body::Unreadable(Box::new((gvk.clone(), error))),
        },
    };
    let tree = Tree::read(&text).unwrap();
    let document = tree.document(&text);
    Decoded::read(
        gvk,
        document.root(),
        &MembershipRules::default(),
        labels,
        body,
    )
}

struct Cluster {
    index: ClusterIndex,
    detail: Detail,
}

impl Cluster {
    fn new(detail: Detail) -> Self {
        let mut index = ClusterIndex::default();
        for (group, kind) in KINDS {
            let kind = ApiKind {
                gvk: Gvk::new(group, "v1", kind),
                plural: kind.to_lowercase(),
                is_namespaced: kind != "Node",
            };
            index.watch(&Arc::new(kind), None, &Labels::None);
        }
        Self { index, detail }
    }

    fn decoded(&self, kind: &str, metadata: &Value) -> (ScopeId, Decoded) {
        let scope = KINDS
            .iter()
            .position(|(_, watched)| *watched == kind)
            .unwrap();
        let gvk = Gvk::new(KINDS[scope].0, "v1", kind);
        let object = json!({"metadata": metadata});
        (scope, decode(&gvk, &object, self.detail, &Labels::None))
    }

    fn apply(&mut self, kind: &str, metadata: &Value) {
        let (scope, decoded) = self.decoded(kind, metadata);
        self.index.init_apply(scope, decoded);
    }

    fn remove(&mut self, kind: &str, metadata: &Value) {
        let (scope, decoded) = self.decoded(kind, metadata);
        self.index.delete(scope, &decoded, Removal::Deleted);
    }

    /// The reports since the last call: the application, its app, and the names of its objects.
    fn reports(&mut self) -> Vec<String> {
        let reports = self.index.take_reports(&Coverage::default());
        let texts = reports.into_iter().map(|(group, report)| {
            let name = match group {
                GroupId::Application { application, app } => format!("{application} {app}"),
                GroupId::Deployment(deployment) => deployment.to_string(),
            };
            let names: Vec<&str> = report.objects.iter().map(|it| &*it.name).collect();
            format!("{name}: {}", names.join(" "))
        });
        texts.collect()
    }
}

/// Metadata of an object of namespace `web`, with an owner and an instance label.
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
fn owned_objects_belong_to_the_application_of_their_owner_in_any_order() {
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
        // A Pod before its Deployment loses its body, so the body is requested again.
        for (kind, metadata) in &orders {
            cluster.apply(kind, metadata);
        }
        let reports = cluster.reports();
        let expected = "-/shop/-/web front: front front-7-x front-7";
        assert!(reports.contains(&expected.to_owned()), "{reports:?}");
        assert_eq!(cluster.index.members(), 3);
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
        cluster.index.take_wanted(),
        BTreeSet::from([(0, "web".into())])
    );
    assert!(cluster.index.is_used(0) && !cluster.index.is_used(2));
    cluster.detail = Detail::Whole;
    cluster.apply("Deployment", &object("front", "", "shop"));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front"]);
    assert!(cluster.reports().is_empty());
}

#[test]
fn an_object_without_its_label_or_its_owner_leaves_the_group() {
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
    assert_eq!(cluster.index.members(), 0);
}

#[test]
fn a_change_of_an_owner_in_its_group_does_not_affect_owned_objects() {
    let mut cluster = Cluster::new(Detail::Whole);
    let mut owner = object("front", "", "");
    cluster.apply("ReplicaSet", &owner);
    cluster.apply("Pod", &object("pod", "front", "shop"));
    assert_eq!(cluster.reports(), ["-/shop/-/web pod: pod"]);
    owner["generation"] = 2.into();
    cluster.apply("ReplicaSet", &owner);
    assert!(cluster.index.groups.take_changed().is_empty());
    owner["labels"] = json!({"app.kubernetes.io/instance": "base"});
    cluster.apply("ReplicaSet", &owner);
    let expected = ["-/base/-/web front: pod front", "-/shop/-/web pod: "];
    assert_eq!(cluster.reports(), expected);
}

#[test]
fn a_pass_removes_the_objects_that_it_does_not_have() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &object("old", "", "shop"));
    cluster.apply("Pod", &object("pod", "", "shop"));
    assert_eq!(cluster.reports().len(), 2);
    let (scope, decoded) = cluster.decoded("Deployment", &object("new", "", "shop"));
    cluster.index.init(scope);
    cluster.index.init_apply(scope, decoded);
    cluster.index.init_done(scope, Removal::Deleted);
    let expected = ["-/shop/-/web new: new", "-/shop/-/web old: "];
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
    assert_eq!(cluster.index.members(), 2);
    let reports = cluster.reports().concat();
    assert!(reports.contains('a') && reports.contains('b'), "{reports}");
}

#[test]
fn the_body_of_an_object_is_requested_when_its_owner_is_added() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Pod", &object("pod", "front", ""));
    assert!(cluster.index.take_wanted().is_empty());
    cluster.apply("Deployment", &object("front", "", "shop"));
    assert_eq!(
        cluster.index.take_wanted(),
        BTreeSet::from([(2, "web".into())])
    );
    assert!(
        cluster.reports().is_empty(),
        "an incomplete group is not reported"
    );
    cluster.apply("Pod", &object("pod", "front", ""));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front pod"]);
}

#[test]
fn an_application_is_kept_by_an_object_that_starts_to_name_it() {
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
    // The role still names the application, so `other` can join it.
    assert_eq!(cluster.reports(), ["-/shop/-/web front: "]);
    cluster.remove("Node", &helm);
    let expected = [
        "-/shop/-/- other: other",
        "-/shop/-/web other: ",
        "-/shop/-/web role: ",
    ];
    assert_eq!(cluster.reports(), expected);
}

/// Metadata of an object in `web`, with labels of an AppContext and of a chart.
fn sent(name: &str, owner: &str, deployment: &str) -> Value {
    let mut metadata = object(name, owner, "shop");
    metadata["labels"][DeploymentId::LABEL] = deployment.into();
    metadata
}

fn id(deployment: &str) -> DeploymentId {
    deployment.parse().unwrap()
}

#[test]
fn objects_of_a_context_and_their_children_are_in_no_found_application() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.apply("Deployment", &sent("front", "", "7-front"));
    cluster.apply("Pod", &object("front-7", "front", "base"));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front front-7"]);
    // No recorded deployment changes this group.
    cluster.index.record(&id("7-other"));
    assert!(cluster.reports().is_empty());

    cluster.index.record(&id("7-front"));
    let reports = cluster.index.take_reports(&Coverage::default());
    let [(GroupId::Application { .. }, report)] = &*reports else {
        panic!("{reports:?}");
    };
    // The objects exist, so they are not deleted.
    let taken = report.removed.iter();
    let taken = taken.filter(|(_, reason)| *reason == Removal::LeftApplication);
    let taken: Vec<&str> = taken.map(|(identity, _)| &*identity.name).collect();
    assert_eq!(
        (report.objects.len(), &*taken),
        (0, &["front-7", "front"][..])
    );
    assert_eq!(cluster.index.members(), 0);

    cluster.index.forget(&id("7-front"));
    let wanted = [(0, "web".into()), (2, "web".into())];
    assert_eq!(cluster.index.take_wanted(), BTreeSet::from(wanted));
    cluster.apply("Deployment", &sent("front", "", "7-front"));
    cluster.apply("Pod", &object("front-7", "front", "base"));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front front-7"]);
}

#[test]
fn a_deployment_without_a_report_is_reported_from_its_objects() {
    let mut cluster = Cluster::new(Detail::Whole);
    cluster.index.record(&id("7-front"));
    cluster.index.set_direct(&id("7-front"), true);
    cluster.index.note_direct(&id("7-front"));
    assert_eq!(cluster.reports(), ["7-front: "]);
    // An owner of another application does not move the object.
    cluster.apply("Deployment", &object("operator", "", "base"));
    cluster.apply("ReplicaSet", &sent("front", "operator", "7-front"));
    cluster.apply("Pod", &object("front-7", "front", ""));
    let expected = ["-/base/-/web operator: operator", "7-front: front-7 front"];
    assert_eq!(cluster.reports(), expected);
    let front = id("7-front");
    let labelled = cluster.index.labelled_with(&front);
    assert_eq!(
        labelled.map(|(_, name)| name).collect::<Vec<_>>(),
        ["front"]
    );
    cluster.index.set_direct(&id("7-front"), false);
    assert!(cluster.reports().is_empty());
    // The body is requested again, and the report follows it.
    cluster.index.set_direct(&id("7-front"), true);
    assert!(cluster.reports().is_empty());
    cluster.apply("ReplicaSet", &sent("front", "operator", "7-front"));
    cluster.apply("Pod", &object("front-7", "front", ""));
    assert_eq!(cluster.reports(), ["7-front: front-7 front"]);
    cluster.remove("ReplicaSet", &sent("front", "operator", "7-front"));
    assert_eq!(cluster.reports(), ["7-front: "]);
}

#[test]
fn a_deployment_that_only_labels_name_is_reported_if_labels_are_records() {
    for are_records in [false, true] {
        let mut cluster = Cluster::new(Detail::Whole);
        cluster.index.set_labels_record(are_records);
        cluster.apply("Deployment", &sent("front", "", "7-front"));
        cluster.apply("ReplicaSet", &object("front-7", "front", ""));
        let reports = cluster.reports();
        assert_eq!(
            reports == ["7-front: front front-7"],
            are_records,
            "{reports:?}"
        );
        cluster.remove("ReplicaSet", &object("front-7", "front", ""));
        cluster.remove("Deployment", &sent("front", "", "7-front"));
        assert_eq!(cluster.reports() == ["7-front: "], are_records);
    }
}
