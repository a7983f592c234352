//! Health scopes of OAM: objects of real API servers select applications, and get their status.

use std::process::Command;
use std::time::Duration;

use kindsight_cluster::{Binaries, Binary, Cluster, Credentials, Options};
use kindsight_clusters::{ClusterSource, KubernetesCluster, WatchOptions, kubeconfig_clusters};
use kindsight_server::{InstalledDefinition, install_health_scopes};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::stage::{AGGREGATED, NAMESPACE, PATIENCE, SHOP, Stage, labelled, resources, roles};

const TOKEN: &str = "scopetoken";
/// Status of the application that the scope selects.
const SCOPE: &str =
    "/v2/projects/-/composite-apps/all/health-scope/deployment-intent-groups/web/status";
const SCOPES: &str = "/apis/core.oam.dev/v1alpha2/namespaces/web/healthscopes";

/// Two API servers, watched with the roles of `deploy/rbac.yaml` and `deploy/health-scope-rbac.yaml` alone.
fn stage() -> Option<Stage> {
    let options = ["edge01", "edge02"];
    let options = options.map(|name| Options::api_server(name).user("watcher", &[], TOKEN));
    let who = |cluster: &Cluster| {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../deploy/health-scope-rbac.yaml"
        );
        let scopes = std::fs::read_to_string(path).expect("the role");
        let scopes: Value = serde_saphyr::from_str(&scopes).expect("a role");
        for role in roles().iter().chain([&scopes]) {
            cluster.apply(role);
        }
        for role in ["kindsight", "kindsight-health-scopes"] {
            cluster.apply(&json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                "metadata": {"name": role},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "User", "name": "watcher", "apiGroup": "rbac.authorization.k8s.io"}],
            }));
        }
        // An API server without controllers aggregates no roles.
        let roles = roles()
            .into_iter()
            .filter(|role| role["metadata"]["labels"][AGGREGATED] == "true");
        let rules: Vec<Value> = roles
            .flat_map(|role| role["rules"].as_array().cloned().unwrap_or_default())
            .collect();
        let path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kindsight";
        cluster.patch(
            path,
            "application/merge-patch+json",
            &json!({"aggregationRule": null, "rules": rules}),
        );
        let credentials = Credentials::Token(TOKEN.to_owned());
        let watcher = cluster.client_as(&credentials);
        watcher.wait_for_status("/apis/apps/v1/deployments", 200, PATIENCE);
        credentials
    };
    Stage::start_as(&options, who, |source| match source {
        ClusterSource::Kubernetes(cluster) => {
            let options = WatchOptions {
                watch_lifetime: Duration::from_secs(5),
                health_scopes: true,
                ..WatchOptions::default()
            };
            ClusterSource::Kubernetes(Box::new(cluster.with_options(options)))
        }
        other => other,
    })
}

fn install(cluster: &Cluster) -> InstalledDefinition {
    let mut clusters = kubeconfig_clusters(&cluster.kubeconfig(), None).expect("a kubeconfig");
    let admin: KubernetesCluster = clusters.pop().expect("a context");
    let installed = Runtime::new()
        .expect("an executor")
        .block_on(install_health_scopes(&admin));
    installed.expect("an answer")
}

fn condition(kind: &str, status: &str, reason: &str) -> Value {
    let time = "2026-01-01T00:00:00Z";
    json!({"type": kind, "status": status, "reason": reason, "message": "",
        "lastTransitionTime": time, "lastUpdateTime": time})
}

/// A Deployment of the application `shop` with so many available replicas of one.
fn deploy(cluster: &Cluster, name: &str, available: u32) {
    let labels = json!({"app": name});
    cluster.apply(&labelled(
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]},
            }},
        }),
        name,
    ));
    let generation = cluster.get(&format!("/apis/apps/v1/namespaces/web/deployments/{name}"));
    let generation = generation.expect("it exists")["metadata"]["generation"].clone();
    cluster.client().apply_status(&json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "status": {
            "observedGeneration": generation, "replicas": 1, "updatedReplicas": 1,
            "readyReplicas": available, "availableReplicas": available,
            "conditions": [
                condition("Available", if available == 1 { "True" } else { "False" }, "Counted"),
                condition("Progressing", "True", "NewReplicaSetAvailable"),
            ],
        },
    }));
}

fn scope(cluster: &Cluster, name: &str, spec: &Value) {
    cluster.apply(&json!({
        "apiVersion": "core.oam.dev/v1alpha2", "kind": "HealthScope",
        "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec,
    }));
}

fn front() -> Value {
    json!({"workloadRefs": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "front"}]})
}

/// Waits until the status of a scope has a value at a pointer.
fn wait_for(cluster: &Cluster, name: &str, pointer: &str, value: &str) -> Value {
    let is_so = |scope: &Value| scope.pointer(pointer).is_some_and(|it| it == value);
    cluster.wait(&format!("{SCOPES}/{name}"), is_so, PATIENCE)
}

fn text(stage: &Stage, target: &str) -> (u16, String) {
    let answer = stage
        .server
        .request("GET".parse().expect("a method"), target, None);
    let answer = answer.expect("an answer");
    let text = answer.body.as_str().map(str::to_owned);
    (
        answer.status,
        text.unwrap_or_else(|| answer.body.to_string()),
    )
}

/// The definition of OAM's runtime v0.3, as far as its schema prunes the status.
fn oam_definition() -> Value {
    let text = json!({"type": "string"});
    let workload = json!({"type": "object", "required": ["apiVersion", "kind", "name"],
        "properties": {"apiVersion": text, "kind": text, "name": text, "uid": text}});
    let health = json!({"type": "object", "required": ["healthStatus"], "properties": {
        "componentName": text, "diagnosis": text, "healthStatus": text,
        "targetWorkload": workload, "workloadStatus": text,
    }});
    let condition = json!({"type": "object",
        "required": ["lastTransitionTime", "reason", "status", "type"],
        "properties": {"lastTransitionTime": {"type": "string", "format": "date-time"},
            "message": text, "reason": text, "status": text, "type": text}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "healthscopes.core.oam.dev"},
        "spec": {
            "group": "core.oam.dev", "scope": "Namespaced",
            "names": {"plural": "healthscopes", "singular": "healthscope", "kind": "HealthScope",
                "listKind": "HealthScopeList", "categories": ["crossplane", "oam"]},
            "versions": [{"name": "v1alpha2", "served": true, "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": [
                    {"name": "HEALTH", "type": "string", "jsonPath": ".status.health"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "apiVersion": text, "kind": text, "metadata": {"type": "object"},
                    "spec": {"type": "object", "required": ["workloadRefs"], "properties": {
                        "probe-interval": {"type": "integer", "format": "int32"},
                        "probe-timeout": {"type": "integer", "format": "int32"},
                        "workloadRefs": {"type": "array", "items": workload}}},
                    "status": {"type": "object", "required": ["scopeHealthCondition"],
                        "properties": {
                            "conditions": {"type": "array", "items": condition},
                            "healthConditions": {"type": "array", "items": health},
                            "scopeHealthCondition": health}},
                }}},
            }],
        },
    })
}

/// The words of the output of `kubectl get healthscope`.
fn kubectl(cluster: &Cluster, name: &str) -> Option<Vec<String>> {
    let binaries = Binaries::or_skip(&[Binary::Kubectl])?;
    let printed = Command::new(binaries.path(Binary::Kubectl))
        .arg("--kubeconfig")
        .arg(cluster.kubeconfig())
        .args(["get", "healthscope", name, "--namespace", NAMESPACE])
        .output()
        .expect("kubectl runs");
    let text = String::from_utf8(printed.stdout).expect("text");
    let error = String::from_utf8_lossy(&printed.stderr);
    assert!(printed.status.success(), "{text}{error}");
    Some(text.split_whitespace().map(str::to_owned).collect())
}

#[test]
fn a_scope_selects_an_application_and_gets_its_health() {
    let Some(stage) = stage() else { return };
    let [own, oam] = &*stage.clusters else {
        unreachable!("two clusters");
    };
    oam.apply(&oam_definition());
    oam.client().wait_for_status(SCOPES, 200, PATIENCE);
    assert_eq!(install(own), InstalledDefinition::Own);
    assert_eq!(install(own), InstalledDefinition::Own);
    assert_eq!(install(oam), InstalledDefinition::Kept);
    own.client().wait_for_status(SCOPES, 200, PATIENCE);

    // The scope has its workload, which stays in its application.
    deploy(own, "front", 1);
    let mut spec = front();
    spec["probe-method"] = "GET".into();
    spec["probe-endpoint"] = "http://169.254.169.254/".into();
    scope(own, "all", &spec);
    let status = wait_for(own, "all", "/status/health", "healthy");
    assert_eq!(status["status"]["counts"]["healthy"], 1, "{status:#}");
    assert_eq!(
        status["status"]["conditions"][1]["type"], "ActiveProbes",
        "{status:#}"
    );
    if let Some(words) = kubectl(own, "all") {
        assert_eq!(words[..5], ["NAME", "HEALTH", "AGE", "all", "healthy"]);
    }
    for target in [SHOP, SCOPE] {
        stage.wait(target, "both have it", |answer| {
            resources(answer).len() == 1
        });
    }
    assert_eq!(text(&stage, "/scopes/all"), (200, "healthy".to_owned()));

    // A label puts another object into the scope.
    deploy(own, "back", 0);
    let path = "/apis/apps/v1/namespaces/web/deployments/back";
    let label = json!({"metadata": {"labels": {"healthscope.core.oam.dev/all": "true"}}});
    own.patch(path, "application/merge-patch+json", &label);
    let status = wait_for(own, "all", "/status/health", "progressing");
    assert_eq!(
        status["status"]["workloads"][0]["name"], "back",
        "{status:#}"
    );
    // Its own writes cause no further ones: a scope that comes later is written, and this one has the same version.
    let version = status["metadata"]["resourceVersion"].clone();
    scope(own, "empty", &json!({}));
    wait_for(own, "empty", "/status/health", "unknown");
    let status = own.get(&format!("{SCOPES}/all")).expect("a scope");
    assert_eq!(status["metadata"]["resourceVersion"], version, "{status:#}");

    // A listed workload is deleted.
    assert!(own.delete("/apis/apps/v1/namespaces/web/deployments/front"));
    let status = wait_for(own, "all", "/status/health", "unhealthy");
    assert_eq!(
        status["status"]["workloads"][0]["state"], "NotPresent",
        "{status:#}"
    );
    let (_, metrics) = text(&stage, "/metrics");
    assert!(
        metrics.contains("kindsight_health_scopes{health=\"unhealthy\"} 1"),
        "{metrics}"
    );

    check_definition_of_oam(&stage, oam);
    check_workload_of_oam(own);
}

/// A `ContainerizedWorkload` whose controller has applied its Deployment is as healthy as this Deployment.
fn check_workload_of_oam(cluster: &Cluster) {
    let workloads = "/apis/core.oam.dev/v1alpha2/namespaces/web/containerizedworkloads";
    cluster.apply(&workload_definition());
    cluster.client().wait_for_status(workloads, 200, PATIENCE);
    let workload = |more: Value| {
        let mut object = json!({
            "apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload",
            "metadata": {"name": "shop", "namespace": NAMESPACE},
        });
        let members = object.as_object_mut().expect("an object");
        members.extend(more.as_object().expect("members").clone());
        object
    };
    cluster.apply(&workload(json!({"spec": {"containers": []}})));
    let uid = cluster
        .get(&format!("{workloads}/shop"))
        .expect("it exists")["metadata"]["uid"]
        .clone();
    cluster.client().apply_status(&workload(json!({"status": {
        "conditions": [{"type": "Synced", "status": "True", "reason": "ReconcileSuccess",
            "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "resources": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop"}],
    }})));
    let listed = json!({"workloadRefs": [
        {"apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload", "name": "shop"},
    ]});
    scope(cluster, "oam", &listed);
    let worst = |reason: &str| {
        let status = wait_for(cluster, "oam", "/status/workloads/0/reason", reason);
        status["status"]["health"].clone()
    };
    // It was applied, but its Deployment does not exist.
    assert_eq!(worst("DeploymentMissing"), "progressing");
    let own = json!({"metadata": {"ownerReferences": [{
        "apiVersion": "core.oam.dev/v1alpha2", "kind": "ContainerizedWorkload", "name": "shop",
        "uid": uid, "controller": true,
    }]}});
    deploy(cluster, "shop", 0);
    let path = "/apis/apps/v1/namespaces/web/deployments/shop";
    cluster.patch(path, "application/merge-patch+json", &own);
    assert_eq!(worst("RolloutInProgress"), "progressing");
    deploy(cluster, "shop", 1);
    assert_eq!(worst("DeploymentAvailable"), "healthy");
    assert!(cluster.delete(path));
    assert_eq!(worst("DeploymentMissing"), "progressing");
}

/// The definition of OAM's `ContainerizedWorkload`, with any members.
pub(crate) fn workload_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "containerizedworkloads.core.oam.dev"},
        "spec": {
            "group": "core.oam.dev", "scope": "Namespaced",
            "names": {"plural": "containerizedworkloads", "singular": "containerizedworkload",
                "kind": "ContainerizedWorkload", "listKind": "ContainerizedWorkloadList"},
            "versions": [{"name": "v1alpha2", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

/// The schema of OAM's runtime has other members.
fn check_definition_of_oam(stage: &Stage, oam: &Cluster) {
    deploy(oam, "front", 1);
    scope(oam, "all", &front());
    let pointer = "/status/scopeHealthCondition/healthStatus";
    let status = wait_for(oam, "all", pointer, "HEALTHY");
    let workload = &status["status"]["healthConditions"][0];
    assert_eq!(workload["targetWorkload"]["name"], "front", "{status:#}");
    assert!(status["status"]["health"].is_null(), "{status:#}");
    let (code, problem) = text(stage, "/scopes/all");
    assert_eq!(code, 409, "{problem}");
    assert!(problem.contains("edge02"), "{problem}");
    let target = "/scopes/all?namespace=web&cluster=kubeconfig%2Bedge02";
    assert_eq!(text(stage, target), (200, "healthy".to_owned()));
    let deployed = "/apis/apps/v1/namespaces/web/deployments/front";
    assert!(oam.delete(deployed));
    wait_for(oam, "all", pointer, "UNHEALTHY");
}
