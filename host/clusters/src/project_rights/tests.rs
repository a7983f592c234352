use super::*;

const CONFIG_MAP: SentKind<'_> = SentKind {
    group: "",
    kind: "ConfigMap",
};
const DEPLOYMENT: SentKind<'_> = SentKind {
    group: "apps",
    kind: "Deployment",
};
const NAMESPACE: SentKind<'_> = SentKind {
    group: "",
    kind: "Namespace",
};
const ROLE: SentKind<'_> = SentKind {
    group: RBAC,
    kind: "Role",
};
const CLUSTER_ROLE: SentKind<'_> = SentKind {
    group: RBAC,
    kind: "ClusterRole",
};

fn patterns(texts: &[&str]) -> Vec<NamePattern> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn text(checked: Result<(), RightsError>) -> String {
    checked.unwrap_err().to_string()
}

#[test]
fn a_project_without_a_table_may_use_namespaced_kinds_except_rbac() {
    let rights = Projects::default().of("shop").unwrap();
    rights.check_cluster(&"lab+a".parse().unwrap()).unwrap();
    rights.check(DEPLOYMENT, Some("web"), "front").unwrap();
    let refused = text(rights.check(NAMESPACE, None, "web"));
    assert!(refused.contains("Namespace has no namespace"), "{refused}");
    assert!(refused.contains("service-account"), "{refused}");
    let refused = text(rights.check(ROLE, Some("web"), "front"));
    assert!(refused.contains("grants rights"), "{refused}");
    let refused = text(rights.check(CONFIG_MAP, Some("kube-system"), "a"));
    assert_eq!(
        refused,
        "the project may not use the namespace `kube-system`"
    );
}

#[test]
fn the_first_table_that_matches_a_project_decides_and_other_projects_are_refused() {
    let one = ProjectRights {
        kinds: patterns(&["ConfigMap", "*.apps"]),
        ..ProjectRights::default()
    };
    let projects = Projects(vec![
        ("shop".parse().unwrap(), one.clone()),
        ("sh*".parse().unwrap(), ProjectRights::default()),
    ]);
    assert_eq!(projects.of("shop").unwrap(), one);
    assert_eq!(projects.of("shoes").unwrap(), ProjectRights::default());
    let error = projects.of("bank").unwrap_err().to_string();
    assert_eq!(
        error,
        "the configuration has no `[[project]]` for the project `bank`"
    );
    one.check(CONFIG_MAP, Some("web"), "a").unwrap();
    one.check(DEPLOYMENT, Some("web"), "a").unwrap();
    let secret = SentKind {
        group: "",
        kind: "Secret",
    };
    let refused = text(one.check(secret, Some("web"), "a"));
    assert_eq!(refused, "the project may not use the Kind Secret");
}

#[test]
fn clusters_and_namespaces_are_limited_by_their_patterns() {
    let rights = ProjectRights {
        clusters: patterns(&["lab+edge*"]),
        namespaces: patterns(&["shop-*", "kube-public"]),
        ..ProjectRights::default()
    };
    rights
        .check_cluster(&"lab+edge01".parse().unwrap())
        .unwrap();
    let refused = text(rights.check_cluster(&"lab+core".parse().unwrap()));
    assert_eq!(refused, "the project may not use the cluster lab+core");
    rights.check(CONFIG_MAP, Some("shop-a"), "a").unwrap();
    rights.check(CONFIG_MAP, Some("kube-public"), "a").unwrap();
    rights.check(CONFIG_MAP, Some("default"), "a").unwrap_err();
}

#[test]
fn with_an_account_the_cluster_decides_about_the_rest() {
    let rights = ProjectRights {
        namespaces: patterns(&["shop-*"]),
        account: "ops/shop".parse().ok(),
        ..ProjectRights::default()
    };
    rights.check(ROLE, Some("shop-a"), "front").unwrap();
    rights.check(CLUSTER_ROLE, None, "front").unwrap();
    rights.check(NAMESPACE, None, "shop-a").unwrap();
    let refused = text(rights.check(NAMESPACE, None, "default"));
    assert_eq!(refused, "the project may not use the namespace `default`");
}
