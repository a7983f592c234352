//! The chart without a cluster: valid values, least privilege, and the plain manifests that are made from it.

use std::fs;

use serde_json::{Value, json};

use crate::helm::{Helm, object, objects};
use crate::root;

/// Plain manifests, and the values of the chart that they are made with.
const MANIFESTS: &[(&str, &[&str])] = &[
    ("deploy/manifests/cluster.yaml", &[]),
    (
        "deploy/manifests/namespaces.yaml",
        &[r#"namespaces=["web"]"#],
    ),
    (
        "deploy/manifests/etcd.yaml",
        &["replicas=2", r#"etcd.endpoints=["etcd:2379"]"#],
    ),
];

fn kinds(objects: &[Value]) -> Vec<&str> {
    let kinds = objects.iter().filter_map(|object| object["kind"].as_str());
    let mut kinds: Vec<&str> = kinds.collect();
    kinds.sort_unstable();
    kinds
}

#[test]
fn helm_lint_accepts_the_chart() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let output = helm.run(&["lint", "--strict", "deploy/chart"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
}

/// `UPDATE_EXPECT=1 cargo test --workspace --test install plain_manifests` writes the files again.
#[test]
fn the_plain_manifests_are_the_output_of_the_chart() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    for (file, values) in MANIFESTS {
        let path = root().join(file);
        let expected = helm.template(values).expect("manifests");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(path, expected).expect("the file is written");
            continue;
        }
        let found = fs::read_to_string(path).unwrap_or_default();
        assert!(found == expected, "{file} differs from the chart");
    }
}

#[test]
fn the_cluster_role_has_the_permissions_of_the_documented_role() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let documented = fs::read_to_string(root().join("deploy/rbac.yaml")).expect("roles");
    let documented = objects(&documented);
    let documented = documented
        .iter()
        .find(|role| role["metadata"]["name"] == "kindsight-built-in");
    let rendered = helm.objects(&[]);
    let role = object(&rendered, "ClusterRole");
    assert_eq!(role["rules"], documented.expect("the role")["rules"]);
}

#[test]
fn the_namespace_variant_has_no_permission_outside_its_namespaces() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let rendered = helm.objects(&[r#"namespaces=["web","shop"]"#]);
    assert!(
        !kinds(&rendered)
            .iter()
            .any(|kind| kind.starts_with("Cluster"))
    );
    for kind in ["Role", "RoleBinding"] {
        let of_kind = rendered.iter().filter(|object| object["kind"] == kind);
        let namespaces: Vec<_> = of_kind
            .map(|object| &object["metadata"]["namespace"])
            .collect();
        assert_eq!(namespaces, ["web", "shop"], "{kind}");
    }
}

#[test]
fn only_the_lifecycle_may_impersonate_and_only_the_named_accounts() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let accounts = r#"lifecycle.serviceAccounts=[{"namespace":"shop","name":"deployer"}]"#;
    let writes = |values: &[&str]| {
        let rendered = helm.objects(values);
        let rules = rendered
            .iter()
            .filter(|object| object["kind"] == "Role")
            .flat_map(|role| {
                let namespace = role["metadata"]["namespace"].clone();
                let rules = role["rules"].as_array().cloned().unwrap_or_default();
                rules.into_iter().map(move |rule| json!([namespace, rule]))
            });
        let is_write = |rule: &Value| rule[1]["verbs"] != json!(["get", "list", "watch"]);
        rules.filter(is_write).collect::<Vec<Value>>()
    };
    assert!(writes(&[accounts]).is_empty());
    let impersonate = json!(["shop", {
        "apiGroups": [""], "resources": ["serviceaccounts"],
        "resourceNames": ["deployer"], "verbs": ["impersonate"],
    }]);
    let enabled = "lifecycle.enabled=true";
    assert_eq!(
        writes(&[enabled, r#"namespaces=["web"]"#, accounts]),
        std::slice::from_ref(&impersonate)
    );
    let documented = fs::read_to_string(root().join("deploy/rbac.yaml")).expect("roles");
    let documented = objects(&documented);
    let documented = documented
        .iter()
        .find(|role| role["metadata"]["name"] == "kindsight-lifecycle");
    let documented = &documented.expect("the role")["rules"][0];
    assert_eq!(
        writes(&[enabled, accounts]),
        [json!(["default", documented]), impersonate]
    );
}

#[test]
fn the_projects_of_the_values_are_tables_and_their_accounts_can_be_impersonated() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let account = r#"{"namespace":"shop","name":"deployer"}"#;
    let projects = format!(
        r#"lifecycle.projects=[{{"name":"shop-*","clusters":["lab+*"],"namespaces":["shop"],"kinds":["Deployment.apps"],"serviceAccount":{account}}},{{"name":"\"odd\""}}]"#
    );
    let accounts = format!("lifecycle.serviceAccounts=[{account}]");
    let rendered = helm.objects(&["lifecycle.enabled=true", &projects, &accounts]);
    let file = &object(&rendered, "ConfigMap")["data"]["config.toml"];
    let tables = r#"
[[project]]
name = "shop-*"
clusters = ["lab+*"]
namespaces = ["shop"]
kinds = ["Deployment.apps"]
service-account = "shop/deployer"

[[project]]
name = "\"odd\""
"#;
    let file = format!("{}\n", file.as_str().unwrap_or_default().trim_end());
    assert!(file.ends_with(tables), "{file}");
    let names = rendered
        .iter()
        .filter(|manifest| manifest["kind"] == "Role");
    let names: Vec<_> = names
        .filter(|role| role["metadata"]["namespace"] == "shop")
        .map(|role| &role["rules"][0]["resourceNames"])
        .collect();
    assert_eq!(names, [&json!(["deployer"])]);
}

#[test]
fn only_the_named_secrets_can_be_read_for_registrations() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let roles = |values: &[&str]| {
        let rendered = helm.objects(values).into_iter();
        let roles = rendered.filter(|manifest| manifest["kind"] == "Role");
        let roles = roles.map(|role| json!([role["metadata"]["namespace"], role["rules"]]));
        roles.collect::<Vec<Value>>()
    };
    let setting = |values: &[&str]| {
        let rendered = helm.objects(values);
        let file = &object(&rendered, "ConfigMap")["data"]["config.toml"];
        let text = file.as_str().unwrap_or_default();
        text.contains("cluster-secrets = true\n")
    };
    assert!(roles(&[]).is_empty());
    assert!(!setting(&[]));
    let secrets = r#"registration.secrets=["edge01","edge02"]"#;
    assert!(setting(&[secrets]));
    let expected = json!(["kindsight", [{
        "apiGroups": [""], "resources": ["secrets"],
        "resourceNames": ["edge01", "edge02"], "verbs": ["get"],
    }]]);
    assert_eq!(roles(&[secrets]), [expected]);
}

#[test]
fn network_intents_have_the_documented_rights_and_only_on_request() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let enabled = "lifecycle.enabled=true";
    let is_of_networks = |manifest: &&Value| {
        let name = manifest["metadata"]["name"].as_str();
        manifest["kind"] == "ClusterRole"
            && name.is_some_and(|name| name.ends_with("-network-intents"))
    };
    let rules = |objects: &[Value]| {
        objects
            .iter()
            .find(is_of_networks)
            .map(|role| role["rules"].clone())
    };
    assert_eq!(rules(&helm.objects(&[enabled])), None);
    let rendered = rules(&helm.objects(&[enabled, "lifecycle.networkIntents=true"]));
    let documented = fs::read_to_string(root().join("deploy/rbac.yaml")).expect("roles");
    assert_eq!(rendered, rules(&objects(&documented)));
    assert!(rendered.is_some());
}

#[test]
fn only_several_pods_have_a_disruption_budget() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let budget = |values| kinds(&helm.objects(values)).contains(&"PodDisruptionBudget");
    assert!(!budget(&[]));
    assert!(budget(&["replicas=3", r#"etcd.endpoints=["etcd:2379"]"#]));
}

#[test]
fn the_network_policy_permits_the_ports_of_the_etcd() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let ports = |values: &[&str]| {
        let rendered = helm.objects(values);
        let rules = &object(&rendered, "NetworkPolicy")["spec"]["egress"];
        rules[1]["ports"].clone()
    };
    assert_eq!(ports(&[]), json!([{"port": 443}, {"port": 6443}]));
    let etcd = r#"etcd.endpoints=["a:2379","b:2379","[::1]:4001"]"#;
    assert_eq!(
        ports(&[etcd, "networkPolicy.egressPorts=[2379]"]),
        json!([{"port": 2379}, {"port": 4001}])
    );
}

#[test]
fn the_pod_has_no_privileges() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let rendered = helm.objects(&[]);
    let pod = &object(&rendered, "StatefulSet")["spec"]["template"]["spec"];
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(
        pod["securityContext"]["seccompProfile"]["type"],
        "RuntimeDefault"
    );
    assert_eq!(
        pod["containers"][0]["securityContext"],
        json!({
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        })
    );
}

#[test]
fn contradictory_and_unknown_values_are_refused_with_the_reason() {
    let Some(helm) = Helm::or_skip() else {
        return;
    };
    let cases: [(&[&str], &str); 6] = [
        (
            &["replicas=2"],
            "`replicas` is larger than 1: several Pods share their data in an etcd",
        ),
        (
            &[r#"namespaces=["web"]"#, "access.tokenReview=true"],
            "`access.tokenReview` needs a ClusterRoleBinding",
        ),
        (&[r#"tls.secretName="a""#], "secretName"),
        (&[r#"clusterName="here""#], "clusterName"),
        // A rule without ports would permit every port.
        (&["networkPolicy.egressPorts=[]"], "egressPorts"),
        (
            &[r#"extraRules=[{"apiGroups":["a"],"resources":["b"],"verbs":["delete"]}]"#],
            "verbs",
        ),
    ];
    for (values, reason) in cases {
        let refused = helm.template(values).expect_err("a refusal");
        assert!(refused.contains(reason), "{values:?}: {refused}");
    }
}
