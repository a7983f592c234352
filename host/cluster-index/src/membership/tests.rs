use kindsight_contract::Tree;
use serde_json::{Value, json};

use super::*;
use crate::configured::ConfiguredApp;

/// The Kind of the objects of these tests.
fn front() -> Gvk {
    Gvk::new("apps", "v1", "Deployment")
}

fn membership(metadata: &Value) -> Membership {
    let text = metadata.to_string();
    let tree = Tree::read(&text).unwrap();
    let document = tree.document(&text);
    Membership::of(&front(), document.root(), &MembershipRules::default())
}

fn application(metadata: &Value) -> Option<String> {
    let claims = membership(metadata).claims;
    claims.first().map(|claim| claim.application.to_string())
}

#[test]
fn the_deployer_decides_before_the_labels_of_the_chart() {
    let labels = json!({
        "app.kubernetes.io/instance": "web-7", "app.kubernetes.io/part-of": "suite",
        "helm.toolkit.fluxcd.io/name": "release", "helm.toolkit.fluxcd.io/namespace": "flux",
    });
    let annotations = json!({
        "argocd.argoproj.io/tracking-id": "shop:apps/Deployment:web/front",
        "meta.helm.sh/release-name": "chart", "meta.helm.sh/release-namespace": "web",
    });
    let mut metadata = json!({
        "namespace": "web", "name": "front", "labels": labels, "annotations": annotations,
    });
    let mut remove = |map: &str, key: &str| {
        let found = application(&metadata).unwrap();
        metadata[map].as_object_mut().unwrap().remove(key);
        found
    };
    assert_eq!(
        remove("annotations", "argocd.argoproj.io/tracking-id"),
        "-/shop/-/-"
    );
    assert_eq!(
        remove("labels", "helm.toolkit.fluxcd.io/name"),
        "-/release/-/flux"
    );
    assert_eq!(
        remove("annotations", "meta.helm.sh/release-name"),
        "-/chart/-/web"
    );
    assert_eq!(remove("labels", "app.kubernetes.io/part-of"), "-/suite/-/-");
    assert_eq!(
        remove("labels", "app.kubernetes.io/instance"),
        "-/web-7/-/web"
    );
    assert_eq!(application(&metadata), None);
}

#[test]
fn the_label_of_an_instance_names_an_application_only_if_its_rule_is_there() {
    let metadata = json!({"namespace": "web", "name": "front", "labels": {
        "k8splugin.io/rb-instance-id": "serene_mcnulty", "app.kubernetes.io/instance": "vfw",
    }});
    assert_eq!(application(&metadata).unwrap(), "-/vfw/-/web");
    let rules = MembershipRules {
        found: [ApplicationRule::K8splugin, ApplicationRule::Instance].into(),
        ..MembershipRules::default()
    };
    let text = metadata.to_string();
    let tree = Tree::read(&text).unwrap();
    let document = tree.document(&text);
    let claims = Membership::of(&front(), document.root(), &rules).claims;
    let names: Vec<String> = claims.iter().map(|it| it.application.to_string()).collect();
    assert_eq!(names, ["-/serene_mcnulty/-/-", "-/vfw/-/web"]);
}

/// The Argo CD Application of an object with this tracking id.
fn tracked(gvk: &Gvk, namespace: &str, name: &str, id: &str) -> Option<String> {
    let text = json!({
        "namespace": namespace, "name": name,
        "annotations": {"argocd.argoproj.io/tracking-id": id},
        "labels": {"argocd.argoproj.io/instance": "label"},
    })
    .to_string();
    let tree = Tree::read(&text).unwrap();
    let rules = MembershipRules::default();
    let claims = Membership::of(gvk, tree.document(&text).root(), &rules).claims;
    claims.first().map(|claim| claim.application.to_string())
}

#[test]
fn argo_cd_names_the_namespace_of_an_application_that_is_elsewhere() {
    let id = "team_shop:apps/Deployment:web/front";
    assert_eq!(
        tracked(&front(), "web", "front", id).unwrap(),
        "-/shop/-/team"
    );
    let labelled = json!({"labels": {"argocd.argoproj.io/instance": "shop"}});
    assert_eq!(application(&labelled).unwrap(), "-/shop/-/-");
}

#[test]
fn a_tracking_id_of_another_object_claims_nothing() {
    let own = "shop:apps/Deployment:web/front";
    assert_eq!(
        tracked(&front(), "web", "front", own).unwrap(),
        "-/shop/-/-"
    );
    for copied in [
        "shop:apps/Deployment:web/back",
        "shop:apps/Deployment:base/front",
        "shop:apps/StatefulSet:web/front",
        "shop:/Deployment:web/front",
        "shop:apps/Deployment:web",
        "shop",
        "",
    ] {
        assert_eq!(tracked(&front(), "web", "front", copied), None, "{copied}");
    }
}

#[test]
fn a_tracking_id_names_objects_in_the_way_of_argo_cd() {
    // The namespace of the destination is in the ids of cluster-scoped objects.
    let role = Gvk::new("rbac.authorization.k8s.io", "v1", "ClusterRole");
    let id = "shop:rbac.authorization.k8s.io/ClusterRole:web/system:front";
    assert_eq!(
        tracked(&role, "", "system:front", id).unwrap(),
        "-/shop/-/-"
    );
    // The manifest may name a group that Kubernetes left since.
    let ingress = Gvk::new("networking.k8s.io", "v1", "Ingress");
    let id = "shop:extensions/Ingress:web/front";
    assert_eq!(tracked(&ingress, "web", "front", id).unwrap(), "-/shop/-/-");
}

#[test]
fn a_cluster_scoped_object_with_an_instance_waits_for_the_application_of_its_name() {
    let instance = json!({"labels": {"app.kubernetes.io/instance": "shop"}});
    let claims = membership(&instance).claims;
    let claim = &claims[0];
    assert!(claim.is_of_any_namespace);
    assert_eq!(claim.application.to_string(), "-/shop/-/-");
}

#[test]
fn after_an_invalid_name_the_next_rule_decides() {
    let metadata = json!({
        "namespace": "web",
        "annotations": {"meta.helm.sh/release-name": "not a name"},
        "labels": {"app.kubernetes.io/instance": "shop", "app.kubernetes.io/part-of": 7},
    });
    assert_eq!(application(&metadata).unwrap(), "-/shop/-/web");
}

#[test]
fn the_component_names_the_app_before_the_name_and_hooks_are_known() {
    let labels = json!({"app.kubernetes.io/name": "nginx", "app.kubernetes.io/component": "front"});
    let front = membership(&json!({"labels": labels}));
    assert_eq!(
        (front.app.as_deref(), front.is_hook),
        (Some("front"), false)
    );
    let hook = json!({
        "labels": {"app.kubernetes.io/name": "nginx"},
        "annotations": {"helm.sh/hook": "pre-install"},
    });
    let hook = membership(&hook);
    assert_eq!((hook.app.as_deref(), hook.is_hook), (Some("nginx"), true));
}

#[test]
fn an_application_of_the_configuration_precedes_found_applications() {
    let app = ConfiguredApp {
        name: "frontend".into(),
        selector: kindsight_model::parse_selector("app=front").unwrap(),
    };
    let application = ConfiguredApplication {
        name: DigName::new("shop", "web", "v1", "prod").unwrap(),
        clusters: Vec::new(),
        namespaces: Vec::new(),
        apps: vec![app],
    };
    let rules = MembershipRules {
        configured: [application].into(),
        ..MembershipRules::default()
    };
    let of = |metadata: &Value| {
        let text = metadata.to_string();
        let tree = Tree::read(&text).unwrap();
        let membership = Membership::of(&front(), tree.document(&text).root(), &rules);
        let claim = &membership.claims[0];
        let app = membership.app.unwrap_or_default();
        let is_configured = claim.evidence == Evidence::Selector;
        format!("{} {app} {is_configured}", claim.application)
    };
    let labels = json!({"app": "front", "app.kubernetes.io/part-of": "suite",
        "app.kubernetes.io/component": "chart"});
    assert_eq!(
        of(&json!({"labels": labels})),
        "shop/web/v1/prod frontend true"
    );
    let labels = json!({"app": "other", "app.kubernetes.io/part-of": "suite"});
    assert_eq!(of(&json!({"labels": labels})), "-/suite/-/-  false");
}

#[test]
fn a_valid_label_of_a_deployment_is_read() {
    let deployment = |label: &str| {
        let membership = membership(&json!({"labels": {"emco/deployment-id": label}}));
        membership
            .deployment
            .map(|deployment| deployment.to_string())
    };
    assert_eq!(deployment("7-front").unwrap(), "7-front");
    assert_eq!(deployment("front"), None);
}

#[test]
fn an_object_outside_the_selector_of_the_cluster_claims_no_application() {
    let configured = ConfiguredApplication {
        name: DigName::new("shop", "web", "v1", "prod").unwrap(),
        clusters: Vec::new(),
        namespaces: Vec::new(),
        apps: vec![ConfiguredApp {
            name: "front".into(),
            selector: kindsight_model::parse_selector("app=front").unwrap(),
        }],
    };
    let rules = MembershipRules {
        configured: [configured].into(),
        selector: Some(kindsight_model::parse_selector("team=web").unwrap()),
        ..MembershipRules::default()
    };
    let of = |labels: Value| {
        let text = json!({"namespace": "web", "labels": labels}).to_string();
        let tree = Tree::read(&text).unwrap();
        let document = tree.document(&text);
        Membership::of(&front(), document.root(), &rules)
    };
    for (key, value, application) in [
        ("app", "front", "shop/web/v1/prod"),
        ("app.kubernetes.io/instance", "shop", "-/shop/-/web"),
    ] {
        let without = of(json!({key: value, "team": "base"}));
        assert_eq!((without.claims.len(), without.app), (0, None));
        let claims = of(json!({key: value, "team": "web"})).claims;
        assert_eq!(claims[0].application.to_string(), application);
    }
    // The label of a deployment is independent of the selector.
    let sent = of(json!({DeploymentId::LABEL: "7-front"}));
    assert_eq!(sent.deployment.unwrap().to_string(), "7-front");
}
