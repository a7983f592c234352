//! The rights of a project: its lists, the ServiceAccount that requests impersonate, and the rights of this process.

use kindsight_clusters::ProjectRights;
use serde_json::{Value, json};

use super::{NAMESPACE, Sent, Stage, config_map, path_of_map, refused};
use crate::stage::{PATIENCE, roles};

const RBAC: &str = "rbac.authorization.k8s.io";

fn role() -> Sent {
    Sent::new(json!({
        "apiVersion": format!("{RBAC}/v1"), "kind": "Role",
        "metadata": {"name": "front", "namespace": NAMESPACE},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
    }))
}

/// Gives the account `shop` the rights for ConfigMaps of the namespace.
fn grant_account(stage: &Stage) {
    stage.cluster.apply(&json!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "shop", "namespace": NAMESPACE},
    }));
    stage.cluster.apply(&json!({
        "apiVersion": format!("{RBAC}/v1"), "kind": "Role",
        "metadata": {"name": "shop", "namespace": NAMESPACE},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"],
            "verbs": ["get", "create", "patch", "delete"]}],
    }));
    stage.cluster.apply(&json!({
        "apiVersion": format!("{RBAC}/v1"), "kind": "RoleBinding",
        "metadata": {"name": "shop", "namespace": NAMESPACE},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "shop"},
        "subjects": [{"kind": "ServiceAccount", "name": "shop"}],
    }));
}

/// Gives the user `sender` what `deploy/` gives kindsight for one account, and waits until it has an effect.
fn grant_user(stage: &Stage) {
    let bind = |kind: &str, role: &str, namespace: &str| {
        stage.cluster.apply(&json!({
            "apiVersion": format!("{RBAC}/v1"), "kind": "RoleBinding",
            "metadata": {"name": format!("sender-{role}"), "namespace": namespace},
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
            "subjects": [{"kind": "User", "name": "sender", "apiGroup": RBAC}],
        }));
    };
    let roles = roles();
    let lifecycle = roles
        .iter()
        .find(|role| role["metadata"]["name"] == "kindsight-lifecycle");
    stage.cluster.apply(lifecycle.expect("the role"));
    bind("ClusterRole", "kindsight-lifecycle", "default");
    stage.cluster.apply(&json!({
        "apiVersion": format!("{RBAC}/v1"), "kind": "Role",
        "metadata": {"name": "impersonate-shop", "namespace": NAMESPACE},
        "rules": [{"apiGroups": [""], "resources": ["serviceaccounts"],
            "resourceNames": ["shop"], "verbs": ["impersonate"]}],
    }));
    bind("Role", "impersonate-shop", NAMESPACE);
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "impersonate", "resource": "serviceaccounts",
            "namespace": NAMESPACE, "name": "shop"}},
    });
    let user = kindsight_cluster::Credentials::Token(super::TOKEN.to_owned());
    let user = stage.cluster.client_as(&user);
    let reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let began = std::time::Instant::now();
    while user.create(reviews, &review)["status"]["allowed"] != true {
        assert!(began.elapsed() < PATIENCE, "the right has no effect");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn requests_have_the_rights_of_the_account_of_the_project() {
    let Some(stage) = Stage::start().map(Stage::by_user) else {
        return;
    };
    let map = config_map("front", "blue").by_account("shop");
    // This process may not impersonate the account.
    let why = refused(stage.apply(&map));
    assert!(why.contains("403"), "{why}");
    assert!(why.contains("impersonate"), "{why}");
    grant_account(&stage);
    grant_user(&stage);
    stage.vet(&map).unwrap();
    stage.apply(&map).unwrap();
    let preview = stage.preview(&map).unwrap();
    assert_eq!(preview.before, Some(preview.after));

    // The account may not use another namespace or Kind, and this process may use no Kind.
    let mut elsewhere = config_map("front", "blue").by_account("shop");
    elsewhere.manifest["metadata"]["namespace"] = "default".into();
    let account = format!("system:serviceaccount:{NAMESPACE}:shop");
    for sent in [elsewhere, role().by_account("shop")] {
        let why = refused(stage.vet(&sent));
        assert!(why.contains("403") && why.contains(&account), "{why}");
        refused(stage.apply(&sent));
    }
    let other = config_map("front", "blue").by_account("other");
    assert!(refused(stage.apply(&other)).contains("impersonate"));
    let own = config_map("front", "blue");
    let why = refused(stage.apply(&own));
    assert!(why.contains("403") && why.contains("sender"), "{why}");
    refused(stage.delete(&own));

    stage.delete_eventually(&map);
    assert!(stage.get(&path_of_map("front")).is_none());
    // The right for ResourceBundleStates is not the account's right.
    crate::monitor::install(&stage.cluster);
    let deployment = "7-front".parse().unwrap();
    let runtime = &stage.runtime;
    runtime
        .block_on(stage.sender.announce(&deployment))
        .unwrap();
    runtime
        .block_on(stage.sender.withdraw(&deployment))
        .unwrap();
}

#[test]
fn without_an_account_kinds_that_concern_the_cluster_are_refused() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    let namespace = Sent::new(json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"},
    }));
    // A namespace in the manifest does not hide the scope of the Kind.
    let mut hidden = Sent::new(namespace.manifest.clone());
    hidden.manifest["metadata"]["namespace"] = NAMESPACE.into();
    for sent in [namespace, hidden, role()] {
        let why = refused(stage.vet(&sent));
        assert!(why.contains("`service-account`"), "{why}");
        assert_eq!(refused(stage.apply(&sent)), why);
        assert_eq!(refused(stage.preview(&sent).map(drop)), why);
    }
    assert!(stage.get("/api/v1/namespaces/new").is_none());
    let mut system = config_map("front", "blue");
    system.manifest["metadata"]["namespace"] = "kube-system".into();
    assert!(refused(stage.vet(&system)).contains("`kube-system`"));
}

#[test]
fn the_namespace_of_a_manifest_without_one_is_checked() {
    let Some(stage) = Stage::without_controllers() else {
        return;
    };
    let rights = ProjectRights {
        namespaces: vec![NAMESPACE.parse().unwrap()],
        kinds: vec!["ConfigMap".parse().unwrap()],
        ..ProjectRights::default()
    };
    let mut map = config_map("front", "blue");
    map.rights = rights.clone();
    stage.apply(&map).unwrap();
    for namespace in [Value::Null, "".into()] {
        map.manifest["metadata"]["namespace"] = namespace;
        let why = refused(stage.apply(&map));
        assert_eq!(why, "the project may not use the namespace `default`");
    }
    let mut secret = Sent::new(json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "key", "namespace": NAMESPACE},
    }));
    secret.rights = rights;
    let why = refused(stage.vet(&secret));
    assert_eq!(why, "the project may not use the Kind Secret");
}
