//! Health scopes: objects belong to them in addition to their application.

use super::*;
use crate::index::health_scopes::SCOPES_OF_OBJECT_MAX;

/// Watches of this test: group, Kind, and whether it is namespaced.
const WATCHED: [(&str, &str, bool); 5] = [
    ("apps", "Deployment", true),
    ("apps", "ReplicaSet", true),
    ("", "Pod", true),
    ("", "Node", false),
    ("core.oam.dev", "HealthScope", true),
];

struct Scoped {
    index: ClusterIndex,
}

impl Scoped {
    fn new() -> Self {
        let mut index = ClusterIndex::default();
        index.follow_health_scopes(true);
        for (group, kind, is_namespaced) in WATCHED {
            let kind = ApiKind {
                gvk: Gvk::new(group, "v1", kind),
                plural: kind.to_lowercase(),
                is_namespaced,
            };
            index.watch(&Arc::new(kind), None, &Labels::None);
        }
        Self { index }
    }

    fn decoded(kind: &str, object: &Value) -> (ScopeId, Decoded) {
        let mut watched = WATCHED.iter();
        let scope = watched
            .position(|(_, watched, _)| *watched == kind)
            .unwrap();
        let gvk = Gvk::new(WATCHED[scope].0, "v1", kind);
        let text = object.to_string();
        let body = Body::Whole(Object::from_json_as(text.clone(), &gvk).unwrap());
        let tree = Tree::read(&text).unwrap();
        let rules = MembershipRules {
            health_scopes: true,
            ..MembershipRules::default()
        };
        let document = tree.document(&text);
        let decoded = Decoded::read(&gvk, document.root(), &rules, &Labels::None, body);
        (scope, decoded)
    }

    fn apply(&mut self, kind: &str, object: &Value) {
        let (scope, decoded) = Self::decoded(kind, object);
        self.index.apply(scope, decoded);
    }

    fn delete(&mut self, kind: &str, object: &Value) {
        let (scope, decoded) = Self::decoded(kind, object);
        self.index.delete(scope, &decoded, Removal::Deleted);
    }

    /// The reports since the last call, as in the tests of the index.
    fn reports(&mut self) -> Vec<String> {
        let reports = self.index.take_reports(&Coverage::default());
        let texts = reports.into_iter().map(|(group, report)| {
            let GroupId::Application { application, app } = group else {
                unreachable!("no deployment");
            };
            let names: Vec<&str> = report.objects.iter().map(|it| &*it.name).collect();
            format!("{application} {app}: {}", names.join(" "))
        });
        texts.collect()
    }

    fn missing(&mut self) -> Vec<String> {
        let missing = self.index.take_missing().into_iter();
        let missing = missing.map(|missing| {
            let names = missing.resources.iter().map(|it| format!(" {}", it.name));
            format!("{}:{}", missing.application, names.collect::<String>())
        });
        missing.collect()
    }
}

fn scope(name: &str, listed: &[(&str, &str)]) -> Value {
    let refs = listed.iter().map(|(kind, name)| {
        let api_version = if *kind == "Deployment" {
            "apps/v1"
        } else {
            "v1"
        };
        json!({"apiVersion": api_version, "kind": kind, "name": name})
    });
    json!({
        "metadata": {"namespace": "web", "name": name, "uid": format!("uid-{name}")},
        "spec": {"workloadRefs": refs.collect::<Vec<_>>()},
    })
}

fn with_labels(name: &str, labels: &Value) -> Value {
    let mut object = json!({"metadata": object(name, "", "")});
    object["metadata"]["labels"] = labels.clone();
    object
}

fn owned(name: &str, owner: &str) -> Value {
    json!({"metadata": object(name, owner, "")})
}

#[test]
fn a_listed_workload_belongs_to_its_application_and_to_the_scope() {
    let mut cluster = Scoped::new();
    let shop = json!({"app.kubernetes.io/instance": "shop"});
    cluster.apply("Deployment", &with_labels("front", &shop));
    cluster.apply("ReplicaSet", &owned("front-1", "front"));
    assert_eq!(cluster.reports(), ["-/shop/-/web front: front front-1"]);
    cluster.apply("HealthScope", &scope("s", &[("Deployment", "front")]));
    assert_eq!(
        cluster.reports(),
        ["-/s/health-scope/web front: front front-1"]
    );
    // An object that a member owns belongs to both.
    cluster.apply("Pod", &owned("front-1-a", "front-1"));
    assert_eq!(
        cluster.reports(),
        [
            "-/s/health-scope/web front: front front-1-a front-1",
            "-/shop/-/web front: front front-1-a front-1"
        ]
    );
    // A later version is reported in both.
    let mut later = with_labels("front", &shop);
    later["spec"] = json!({"replicas": 2});
    cluster.apply("Deployment", &later);
    assert_eq!(cluster.reports().len(), 2);
    cluster.delete("HealthScope", &scope("s", &[]));
    let reports = cluster.reports();
    assert_eq!(reports[0], "-/s/health-scope/web front: ");
    assert!(
        reports[1..]
            .iter()
            .all(|line| line.ends_with(": front front-1-a front-1"))
    );
    assert!(!cluster.index.inventories.have_scopes());
}

#[test]
fn both_forms_of_labels_name_a_scope_that_exists() {
    let mut cluster = Scoped::new();
    let own = json!({"healthscope.core.oam.dev/s": "true", "healthscope.core.oam.dev/other": "no"});
    cluster.apply("Deployment", &with_labels("front", &own));
    let named = json!({"healthscope.core.oam.dev/name": "s"});
    cluster.apply("Pod", &with_labels("task", &named));
    assert_eq!(cluster.reports(), Vec::<String>::new());
    cluster.apply("HealthScope", &scope("other", &[]));
    cluster.apply("HealthScope", &scope("s", &[]));
    // A session reads the bodies that are needed now.
    cluster.apply("Deployment", &with_labels("front", &own));
    cluster.apply("Pod", &with_labels("task", &named));
    assert_eq!(
        cluster.reports(),
        [
            "-/s/health-scope/web front: front",
            "-/s/health-scope/web task: task"
        ]
    );
    cluster.apply("Deployment", &with_labels("front", &json!({})));
    assert_eq!(cluster.reports(), ["-/s/health-scope/web front: "]);
}

#[test]
fn a_listed_workload_that_does_not_exist_is_missing() {
    let mut cluster = Scoped::new();
    let front = with_labels("front", &json!({}));
    cluster.apply("HealthScope", &scope("s", &[("Deployment", "front")]));
    assert_eq!(cluster.missing(), ["-/s/health-scope/web: front"]);
    cluster.apply("Deployment", &front);
    assert_eq!(cluster.missing(), ["-/s/health-scope/web:"]);
    cluster.delete("Deployment", &front);
    assert_eq!(cluster.missing(), ["-/s/health-scope/web: front"]);
}

#[test]
fn a_scope_contains_no_scopes_and_no_objects_outside_its_namespace() {
    let mut cluster = Scoped::new();
    let node = json!({"metadata": {"name": "n1", "uid": "uid-n1"}});
    cluster.apply("Node", &node);
    let mut listing = scope("s", &[("Node", "n1")]);
    listing["spec"]["workloadRefs"]
        .as_array_mut()
        .unwrap()
        .push(json!({"apiVersion": "core.oam.dev/v1alpha2", "kind": "HealthScope", "name": "t"}));
    cluster.apply("HealthScope", &listing);
    cluster.apply("HealthScope", &scope("t", &[]));
    assert_eq!(cluster.reports(), Vec::<String>::new());
    // An object of another namespace names an owner in the scope.
    cluster.apply("HealthScope", &scope("u", &[("Deployment", "front")]));
    cluster.apply("Deployment", &with_labels("front", &json!({})));
    let mut foreign = owned("foreign", "front");
    foreign["metadata"]["namespace"] = "dev".into();
    cluster.apply("Pod", &foreign);
    assert_eq!(cluster.reports(), ["-/u/health-scope/web front: front"]);
}

#[test]
fn the_scopes_of_an_object_and_the_workloads_of_scopes_are_limited() {
    let mut cluster = Scoped::new();
    for number in 0..SCOPES_OF_OBJECT_MAX + 3 {
        cluster.apply(
            "HealthScope",
            &scope(&format!("s{number:02}"), &[("Deployment", "front")]),
        );
    }
    cluster.apply("Deployment", &with_labels("front", &json!({})));
    assert_eq!(cluster.reports().len(), SCOPES_OF_OBJECT_MAX);
    // One hostile scope lists more than all scopes may.
    let names: Vec<String> = (0..10_000).map(|number| format!("w{number}")).collect();
    let listed: Vec<(&str, &str)> = names.iter().map(|name| ("Pod", &**name)).collect();
    cluster.apply("HealthScope", &scope("hostile", &listed));
    let missing = cluster.missing();
    assert!(
        missing.iter().all(|line| line.matches(' ').count() <= 12),
        "{missing:?}"
    );
}

#[test]
fn scopes_are_followed_only_on_request() {
    let mut cluster = Scoped::new();
    let front = with_labels("front", &json!({}));
    cluster.apply("HealthScope", &scope("s", &[("Deployment", "front")]));
    cluster.apply("Deployment", &front);
    assert_eq!(cluster.reports().len(), 1);
    cluster.index.follow_health_scopes(false);
    assert_eq!(cluster.reports(), ["-/s/health-scope/web front: "]);
    cluster.index.follow_health_scopes(true);
    cluster.apply("HealthScope", &scope("s", &[("Deployment", "front")]));
    cluster.apply("Deployment", &front);
    assert_eq!(cluster.reports(), ["-/s/health-scope/web front: front"]);
}
