//! Inventories, the applications that they name, and the resources that are missing.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::configured::{ConfiguredApp, ConfiguredApplication};
use kindsight_model::DigName;

/// Watches of this test: group, Kind, and whether it is namespaced.
const WATCHED: [(&str, &str, bool); 5] = [
    ("apps", "Deployment", true),
    ("", "Pod", true),
    ("", "Namespace", false),
    ("kustomize.toolkit.fluxcd.io", "Kustomization", true),
    ("argoproj.io", "Application", true),
];

pub(super) struct Listing {
    pub(super) index: ClusterIndex,
}

impl Listing {
    pub(super) fn new() -> Self {
        let mut index = ClusterIndex::default();
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

    fn decoded(kind: &str, object: &Value, detail: Detail) -> (ScopeId, Decoded) {
        let scope = WATCHED
            .iter()
            .position(|(_, watched, _)| *watched == kind)
            .unwrap();
        let gvk = Gvk::new(WATCHED[scope].0, "v1", kind);
        (scope, decode(&gvk, object, detail, &Labels::None))
    }

    pub(super) fn apply(&mut self, kind: &str, object: &Value) {
        let (scope, decoded) = Self::decoded(kind, object, Detail::Whole);
        self.index.init_apply(scope, decoded);
    }

    pub(super) fn delete(&mut self, kind: &str, object: &Value) {
        let (scope, decoded) = Self::decoded(kind, object, Detail::Metadata);
        self.index.delete(scope, &decoded, Removal::Deleted);
    }

    /// The changed missing resources: the application, and the Kinds and names of the resources.
    pub(super) fn missing(&mut self) -> Vec<String> {
        let missing = self.index.take_missing().into_iter();
        let missing = missing.map(|missing| {
            let names = missing.resources.iter();
            let names = names.map(|resource| format!(" {}/{}", resource.gvk.kind, resource.name));
            format!("{}:{}", missing.application, names.collect::<String>())
        });
        missing.collect()
    }

    /// The application of an object; empty if it has none.
    pub(super) fn application_of(&self, kind: &str, name: &str) -> String {
        let scope = WATCHED
            .iter()
            .position(|(_, watched, _)| *watched == kind)
            .unwrap();
        let id = self.index.objects.find(scope, "web", name).unwrap();
        match self.index.objects.get(id).unwrap().place().group.as_deref() {
            Some(GroupId::Application { application, .. }) => application.to_string(),
            _ => String::new(),
        }
    }
}

fn kustomization(name: &str, entries: &[&str]) -> Value {
    let entries = entries.iter().map(|id| json!({"id": id, "v": "v1"}));
    json!({
        "metadata": {"namespace": "flux", "name": name, "uid": format!("uid-{name}")},
        "status": {"inventory": {"entries": entries.collect::<Vec<_>>()}},
    })
}

pub(super) fn deployment(name: &str, labels: &Value) -> Value {
    json!({"metadata": {"namespace": "web", "name": name, "uid": format!("uid-{name}"), "labels": labels}})
}

#[test]
fn a_listed_resource_is_missing_until_it_exists() {
    let mut cluster = Listing::new();
    let front = deployment("front", &json!({}));
    let entries = ["web_front_apps_Deployment", "_web__Namespace"];
    cluster.apply("Kustomization", &kustomization("shop", &entries));
    assert_eq!(
        cluster.missing(),
        ["-/shop/-/flux: Namespace/web Deployment/front"]
    );
    assert_eq!(cluster.missing(), Vec::<String>::new());
    cluster.apply("Deployment", &front);
    cluster.apply("Namespace", &json!({"metadata": {"name": "web"}}));
    assert_eq!(cluster.missing(), ["-/shop/-/flux:"]);
    cluster.delete("Deployment", &front);
    assert_eq!(cluster.missing(), ["-/shop/-/flux: Deployment/front"]);
    // The inventory no longer lists it.
    cluster.apply(
        "Kustomization",
        &kustomization("shop", &["_web__Namespace"]),
    );
    assert_eq!(cluster.missing(), ["-/shop/-/flux:"]);
}

#[test]
fn an_inventory_beyond_the_limit_is_a_fault_of_its_application() {
    let mut cluster = Listing::new();
    let labels = json!({"kustomize.toolkit.fluxcd.io/name": "shop", "kustomize.toolkit.fluxcd.io/namespace": "flux"});
    cluster.apply("Deployment", &deployment("front", &labels));
    let entries: Vec<String> = (0..51)
        .map(|n| format!("web_{n}_apps_Deployment"))
        .collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    cluster.apply("Kustomization", &kustomization("shop", &entries));
    let faults = |cluster: &mut Listing| -> Vec<String> {
        let reports = cluster.index.take_reports(&Coverage::default());
        let faults = reports.into_iter().flat_map(|(_, report)| report.faults);
        faults.map(|fault| fault.to_string()).collect()
    };
    let fault = "Kustomization flux/shop lists more resources than kindsight reads; missing ones may be unknown";
    assert_eq!(faults(&mut cluster), [fault]);
    // Only so many resources of the cluster are compared.
    assert_eq!(cluster.index.take_missing()[0].resources.len(), 50);
    cluster.apply("Kustomization", &kustomization("shop", &entries[..1]));
    assert_eq!(faults(&mut cluster), Vec::<String>::new());
    assert_eq!(cluster.index.take_missing()[0].resources.len(), 1);
}

#[test]
fn a_deleted_inventory_lists_nothing() {
    let mut cluster = Listing::new();
    let shop = kustomization("shop", &["web_front_apps_Deployment"]);
    cluster.apply("Kustomization", &shop);
    assert_eq!(cluster.missing(), ["-/shop/-/flux: Deployment/front"]);
    cluster.delete("Kustomization", &shop);
    assert_eq!(cluster.missing(), ["-/shop/-/flux:"]);
}

#[test]
fn a_namespaced_resource_without_a_namespace_is_not_missing() {
    let mut cluster = Listing::new();
    cluster.apply(
        "Kustomization",
        &kustomization("shop", &["_front_apps_Deployment"]),
    );
    assert_eq!(cluster.missing(), Vec::<String>::new());
}

#[test]
fn a_listed_object_without_marks_belongs_to_the_application() {
    let mut cluster = Listing::new();
    let pod = json!({"metadata": {
        "namespace": "web", "name": "front-1", "uid": "uid-front-1",
        "ownerReferences": [{"kind": "Deployment", "name": "front", "uid": "uid-front"}],
    }});
    cluster.apply("Deployment", &deployment("front", &json!({})));
    cluster.apply("Pod", &pod);
    assert_eq!(cluster.application_of("Deployment", "front"), "");
    let shop = kustomization("shop", &["web_front_apps_Deployment"]);
    cluster.apply("Kustomization", &shop);
    for (kind, name) in [("Deployment", "front"), ("Pod", "front-1")] {
        assert_eq!(cluster.application_of(kind, name), "-/shop/-/flux");
    }
    cluster.delete("Kustomization", &shop);
    for (kind, name) in [("Deployment", "front"), ("Pod", "front-1")] {
        assert_eq!(cluster.application_of(kind, name), "");
    }
}

#[test]
fn an_inventory_precedes_later_marks_and_follows_the_marks_of_its_rule() {
    let mut cluster = Listing::new();
    let listed = ["web_front_apps_Deployment", "web_side_apps_Deployment"];
    cluster.apply("Kustomization", &kustomization("shop", &listed));
    let chart = json!({"app.kubernetes.io/instance": "chart"});
    cluster.apply("Deployment", &deployment("front", &chart));
    assert_eq!(
        cluster.application_of("Deployment", "front"),
        "-/shop/-/flux"
    );
    let flux = json!({
        "kustomize.toolkit.fluxcd.io/name": "other", "kustomize.toolkit.fluxcd.io/namespace": "flux",
    });
    cluster.apply("Deployment", &deployment("side", &flux));
    assert_eq!(
        cluster.application_of("Deployment", "side"),
        "-/other/-/flux"
    );
}

#[test]
fn reports_wait_for_the_bodies_of_objects_with_inventories() {
    let mut cluster = Listing::new();
    let chart = json!({"app.kubernetes.io/instance": "chart"});
    cluster.apply("Deployment", &deployment("front", &chart));
    let shop = kustomization("shop", &["web_gone_apps_Deployment"]);
    let (scope, decoded) = Listing::decoded("Kustomization", &shop, Detail::Metadata);
    cluster.index.init_apply(scope, decoded);
    assert!(cluster.index.take_reports(&Coverage::default()).is_empty());
    assert!(cluster.index.is_any_waiting());
    assert!(cluster.index.is_used(scope));
    assert_eq!(cluster.index.needed(scope).names("flux"), ["shop".into()]);
    let (scope, decoded) = Listing::decoded("Kustomization", &shop, Detail::Whole);
    cluster.index.complete(scope, decoded);
    assert_eq!(cluster.index.take_reports(&Coverage::default()).len(), 1);
    assert!(cluster.index.is_any_waiting());
    assert_eq!(cluster.missing(), ["-/shop/-/flux: Deployment/gone"]);
    assert!(!cluster.index.is_any_waiting());
}

/// The claims in the reports since the last call: the object, the winner's evidence, and the other claims.
pub(super) fn claims(cluster: &mut Listing) -> Vec<String> {
    let mut lines = Vec::new();
    for (_, report) in cluster.index.take_reports(&Coverage::default()) {
        for (at, claims) in &*report.claims {
            let object = report.objects.get(*at).unwrap();
            let mut line = format!("{}: {}", object.name, claims.evidence);
            for other in &claims.others {
                line.extend(["; ", &other.application, ": ", &other.evidence]);
            }
            lines.push(line);
        }
    }
    lines
}

#[test]
fn a_report_names_the_competing_claims_on_an_object() {
    let mut cluster = Listing::new();
    let labels = json!({
        "kustomize.toolkit.fluxcd.io/name": "shop", "kustomize.toolkit.fluxcd.io/namespace": "flux",
        "app.kubernetes.io/part-of": "suite",
    });
    cluster.apply("Deployment", &deployment("front", &labels));
    let one = json!({"app.kubernetes.io/instance": "shop"});
    cluster.apply("Deployment", &deployment("side", &one));
    let marks = "front: label kustomize.toolkit.fluxcd.io/name; -/suite/-/-: label app.kubernetes.io/part-of";
    assert_eq!(claims(&mut cluster), [marks]);
    // An inventory claims both.
    let listed = ["web_front_apps_Deployment", "web_side_apps_Deployment"];
    cluster.apply("Kustomization", &kustomization("base", &listed));
    let inventory = "the inventory of Kustomization flux/base";
    let front = "front: label kustomize.toolkit.fluxcd.io/name; -/base/-/flux: the inventory of \
        Kustomization flux/base; -/suite/-/-: label app.kubernetes.io/part-of";
    let side = format!("side: {inventory}; -/shop/-/web: label app.kubernetes.io/instance");
    let mut found = claims(&mut cluster);
    found.sort();
    assert_eq!(found, [front.to_owned(), side]);
}

#[test]
fn the_first_application_of_the_configuration_precedes_the_others_and_inventories() {
    let application = |name: &str| ConfiguredApplication {
        name: DigName::new("shop", name, "v1", "prod").unwrap(),
        clusters: Vec::new(),
        namespaces: Vec::new(),
        apps: vec![ConfiguredApp {
            name: "all".into(),
            selector: kindsight_model::parse_selector("app").unwrap(),
        }],
    };
    let rules = MembershipRules {
        configured: [application("web"), application("edge")].into(),
        ..MembershipRules::default()
    };
    let mut cluster = Listing::new();
    let listed = ["web_front_apps_Deployment"];
    cluster.apply("Kustomization", &kustomization("base", &listed));
    let text = deployment("front", &json!({"app": "front"})).to_string();
    let gvk = Gvk::new("apps", "v1", "Deployment");
    let object = Object::from_json_as(text.clone(), &gvk).unwrap();
    let tree = Tree::read(&text).unwrap();
    let document = tree.document(&text);
    let body = Body::Whole(object);
    let decoded = Decoded::read(&gvk, document.root(), &rules, &Labels::None, body);
    cluster.index.init_apply(0, decoded);
    let found = cluster.application_of("Deployment", "front");
    assert_eq!(found, "shop/web/v1/prod");
    let selector = "a selector of the configuration";
    let expected = format!(
        "front: {selector}; shop/edge/v1/prod: {selector}; \
         -/base/-/flux: the inventory of Kustomization flux/base"
    );
    assert_eq!(claims(&mut cluster), [expected]);
}

#[test]
fn the_mark_of_an_owner_is_named_with_the_owner() {
    let mut cluster = Listing::new();
    let shop = json!({"app.kubernetes.io/instance": "shop"});
    cluster.apply("Deployment", &deployment("front", &shop));
    let pod = json!({"metadata": {
        "namespace": "web", "name": "front-1", "uid": "uid-front-1",
        "labels": {"app.kubernetes.io/instance": "base"},
        "ownerReferences": [{"kind": "Deployment", "name": "front", "uid": "uid-front"}],
    }});
    cluster.apply("Pod", &pod);
    let label = "label app.kubernetes.io/instance";
    let expected = format!("front-1: {label} (owner Deployment front); -/base/-/web: {label}");
    assert_eq!(claims(&mut cluster), [expected]);
}

proptest! {
    /// After any changes, the missing resources are the listed resources that do not exist, and an object belongs to
    /// the first application that lists it.
    #[test]
    fn the_index_agrees_with_its_definition(steps in vec((any::<bool>(), 0..2_usize, 0..16_u8), 1..24)) {
        const NAMES: [&str; 4] = ["a", "b", "c", "d"];
        let listed_in = |set: u8| NAMES.iter().enumerate().filter(move |(bit, _)| set >> bit & 1 == 1);
        let mut cluster = Listing::new();
        let mut shown = [BTreeSet::new(), BTreeSet::new()];
        let mut lists = [0_u8; 2];
        let mut existing = BTreeSet::new();
        for (is_inventory, which, set) in steps {
            if is_inventory {
                lists[which] = set;
                let entries: Vec<String> =
                    listed_in(set).map(|(_, name)| format!("web_{name}_apps_Deployment")).collect();
                let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
                cluster.apply("Kustomization", &kustomization(["x", "y"][which], &entries));
            } else {
                let name = NAMES[usize::from(set) % NAMES.len()];
                let object = deployment(name, &json!({}));
                if which == 0 {
                    cluster.apply("Deployment", &object);
                    existing.insert(name);
                } else {
                    cluster.delete("Deployment", &object);
                    existing.remove(name);
                }
            }
            for missing in cluster.index.take_missing() {
                let which = usize::from(&*missing.application.composite_app == "y");
                shown[which] = missing.resources.iter().map(|resource| resource.name.to_string()).collect();
            }
            for (which, list) in lists.into_iter().enumerate() {
                let missing: BTreeSet<String> = listed_in(list)
                    .filter(|(_, name)| !existing.contains(*name))
                    .map(|(_, name)| (*name).to_owned())
                    .collect();
                prop_assert_eq!(&shown[which], &missing);
            }
            for name in &existing {
                let is_in = |list: u8| listed_in(list).any(|(_, listed)| listed == name);
                let expected = match (is_in(lists[0]), is_in(lists[1])) {
                    (true, _) => "-/x/-/flux",
                    (false, true) => "-/y/-/flux",
                    (false, false) => "",
                };
                prop_assert_eq!(cluster.application_of("Deployment", name), expected);
            }
        }
    }
}
