use kindsight_contract::Tree;
use serde_json::{Value, json};

use super::*;

fn inventory_by(rules: &MembershipRules, gvk: &Gvk, object: &Value) -> Option<Inventory> {
    let text = object.to_string();
    let tree = Tree::read(&text).unwrap();
    let document = tree.document(&text);
    Inventory::of(gvk, document.root(), rules)
}

/// The application and the listed resources, as text.
fn read(group: &str, kind: &str, object: &Value) -> Option<(String, Vec<String>)> {
    let gvk = Gvk::new(group, "v1", kind);
    let inventory = inventory_by(&MembershipRules::default(), &gvk, object)?;
    let listed = inventory.listed.iter().map(|resource| {
        let Gvk {
            group,
            version,
            kind,
        } = &resource.gvk;
        format!(
            "{group}/{version}/{kind} {}/{}",
            resource.namespace, resource.name
        )
    });
    let application = inventory.claim.application.to_string();
    Some((application, listed.collect()))
}

fn application(destination: &Value, status: &Value) -> Value {
    json!({
        "metadata": {"namespace": "argocd", "name": "shop"},
        "spec": {"destination": destination},
        "status": status,
    })
}

fn argo_cd(object: &Value) -> Option<(String, Vec<String>)> {
    read("argoproj.io", "Application", object)
}

fn kustomization(entries: &Value) -> Value {
    json!({
        "metadata": {"namespace": "flux-system", "name": "shop"},
        "status": {"inventory": {"entries": entries}},
    })
}

fn flux(object: &Value) -> Option<(String, Vec<String>)> {
    read("kustomize.toolkit.fluxcd.io", "Kustomization", object)
}

#[test]
fn an_argo_cd_application_lists_its_wanted_resources() {
    let here = json!({"server": "https://kubernetes.default.svc", "namespace": "web"});
    let resources = json!([
        {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "web", "name": "front",
            "status": "Synced", "health": {"status": "Healthy"}},
        {"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "settings"},
        {"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "settings"},
        {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole", "name": "system:front"},
        {"group": "batch", "version": "v1", "kind": "Job", "namespace": "web", "name": "migrate", "hook": true},
        {"version": "v1", "kind": "Secret", "namespace": "web", "name": "old", "requiresPruning": true},
        // Invalid entries affect only themselves.
        7, {}, {"kind": "Pod"}, {"kind": "", "name": "x"}, {"kind": "A/B", "name": "x"},
        {"kind": "ConfigMap", "name": "a/b"}, {"kind": "ConfigMap", "name": "x".repeat(254)},
        {"kind": "ConfigMap", "name": 7}, {"kind": "ConfigMap", "name": "a\nb"},
    ]);
    let (name, listed) = argo_cd(&application(&here, &json!({"resources": resources}))).unwrap();
    assert_eq!(name, "-/shop/-/-");
    assert_eq!(
        listed,
        [
            "rbac.authorization.k8s.io/v1/ClusterRole /system:front",
            "/v1/ConfigMap web/settings",
            "apps/v1/Deployment web/front",
        ]
    );
}

/// The destination of an object's inventory.
fn destination(group: &str, kind: &str, object: &Value) -> Option<Destination> {
    let gvk = Gvk::new(group, "v1", kind);
    let inventory = inventory_by(&MembershipRules::default(), &gvk, object)?;
    Some(inventory.destination)
}

#[test]
fn an_argo_cd_application_names_the_cluster_of_its_resources() {
    let resources =
        json!([{"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "a"}]);
    let status = json!({"resources": resources});
    let server = |address: &str| Some(Destination::Server(address.into()));
    for (named, expected) in [
        (
            json!({"server": "https://kubernetes.default.svc"}),
            Some(Destination::Own),
        ),
        (
            json!({"server": "https://kubernetes.default.svc/"}),
            Some(Destination::Own),
        ),
        (json!({"name": "in-cluster"}), Some(Destination::Own)),
        (
            json!({"server": "https://203.0.113.7:6443/"}),
            server("https://203.0.113.7:6443"),
        ),
        (
            json!({"server": "https://203.0.113.7:6443", "name": "in-cluster"}),
            server("https://203.0.113.7:6443"),
        ),
        (
            json!({"name": "edge01"}),
            Some(Destination::Name("edge01".into())),
        ),
        (json!({"name": "x".repeat(513)}), None),
        (json!({}), None),
        (json!(null), None),
    ] {
        let application = application(&named, &status);
        let found = destination("argoproj.io", "Application", &application);
        assert_eq!(found, expected, "{named}");
    }
}

#[test]
fn an_argo_cd_application_elsewhere_has_its_namespace_in_its_name() {
    let here = json!({"name": "in-cluster"});
    for (controller, name) in [
        (json!(null), "-/shop/-/-"),
        (json!("argocd"), "-/shop/-/-"),
        (json!("control"), "-/shop/-/argocd"),
    ] {
        let status = json!({"controllerNamespace": controller});
        assert_eq!(argo_cd(&application(&here, &status)).unwrap().0, name);
    }
}

#[test]
fn flux_lists_resources_in_its_own_form() {
    let entries = json!([
        {"id": "web_front_apps_Deployment", "v": "v1"},
        {"id": "web_settings__ConfigMap", "v": "v1"},
        {"id": "_system__front_rbac.authorization.k8s.io_ClusterRole", "v": "v1"},
        {"id": "web_no-version_apps_Deployment"},
        7, {}, {"id": 7}, {"id": ""}, {"id": "web_front"}, {"id": "web__apps_Deployment"},
        {"id": "web_front_apps_"},
    ]);
    let expected = [
        "rbac.authorization.k8s.io/v1/ClusterRole /system:front",
        "/v1/ConfigMap web/settings",
        "apps/v1/Deployment web/front",
        "apps//Deployment web/no-version",
    ];
    let object = kustomization(&entries);
    let (name, listed) = flux(&object).unwrap();
    assert_eq!(name, "-/shop/-/flux-system");
    assert_eq!(listed, expected);
    let (name, listed) = read("helm.toolkit.fluxcd.io", "HelmRelease", &object).unwrap();
    assert_eq!(name, "-/shop/-/flux-system");
    assert_eq!(listed, expected);
}

#[test]
fn an_object_of_flux_names_the_object_with_its_kubeconfig() {
    let mut object = kustomization(&json!([{"id": "web_front_apps_Deployment", "v": "v1"}]));
    let found = |object: &Value| {
        destination("kustomize.toolkit.fluxcd.io", "Kustomization", object).unwrap()
    };
    assert_eq!(found(&object), Destination::Own);
    for (member, kind) in [("secretRef", "Secret"), ("configMapRef", "ConfigMap")] {
        object["spec"] = json!({"kubeConfig": {member: {"name": "edge01"}}});
        let Destination::KubeconfigIn(named) = found(&object) else {
            panic!("{member} is not read");
        };
        assert_eq!(named.to_string(), format!("{kind} flux-system/edge01"));
    }
    for invalid in [
        json!({}),
        json!({"secretRef": {"name": ""}}),
        json!({"secretRef": {"name": "a/b"}}),
        json!({"secretRef": {"name": "a"}, "configMapRef": {"name": "b"}}),
    ] {
        object["spec"] = json!({"kubeConfig": invalid});
        assert_eq!(found(&object), Destination::Kubeconfig, "{invalid}");
    }
}

#[test]
fn the_inventory_of_an_object_that_is_being_deleted_does_not_count() {
    let mut object = kustomization(&json!([{"id": "web_front_apps_Deployment", "v": "v1"}]));
    object["metadata"]["deletionTimestamp"] = "2026-11-23T17:00:00Z".into();
    assert_eq!(flux(&object), None);
}

#[test]
fn an_inventory_counts_if_its_rule_and_the_selector_do() {
    let gvk = Gvk::new("kustomize.toolkit.fluxcd.io", "v1", "Kustomization");
    let mut object = kustomization(&json!([{"id": "web_front_apps_Deployment", "v": "v1"}]));
    let helm = MembershipRules {
        found: [ApplicationRule::Helm].into(),
        ..MembershipRules::default()
    };
    assert_eq!(inventory_by(&helm, &gvk, &object), None);
    let selected = MembershipRules {
        selector: Some(kindsight_model::parse_selector("team=web").unwrap()),
        ..MembershipRules::default()
    };
    assert_eq!(inventory_by(&selected, &gvk, &object), None);
    object["metadata"]["labels"] = json!({"team": "web"});
    assert!(inventory_by(&selected, &gvk, &object).is_some());
    let other = Gvk::new("example.com", "v1", "Kustomization");
    assert_eq!(
        inventory_by(&MembershipRules::default(), &other, &object),
        None
    );
}

#[test]
fn the_entries_over_the_limit_are_left_out() {
    let entries = (0..=ENTRIES_MAX).map(|at| json!({"id": format!("web_n{at}__ConfigMap")}));
    let (_, listed) = flux(&kustomization(&entries.collect())).unwrap();
    assert_eq!(listed.len(), ENTRIES_MAX);
}
