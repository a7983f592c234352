//! Objects that an application names, but that belong to another application or to none. Rules see these objects, and
//! can tell when they do not exist.

use kindsight_cluster::{Credentials, Options};
use serde_json::{Value, json};

use crate::stage::{NAMESPACE, SHOP, Stage, define, labelled, resources};

/// A cluster without controllers, watched with all rights.
fn stage() -> Option<Stage> {
    let options = [Options::api_server("edge01")];
    Stage::start(&options, |cluster| cluster.admin().clone())
}

/// Waits until a resource has a state and a reason, both in one text.
fn wait_for(stage: &Stage, resource: &str, state: &str) -> Value {
    stage.wait(SHOP, &format!("{resource} is {state}"), |answer| {
        let lines = resources(answer);
        let resource = format!(" {resource} ");
        let mut lines = lines.iter().filter_map(|line| line.split_once(&resource));
        lines.any(|(_, is)| is.trim_end() == state)
    })
}

/// An object of the namespace that belongs to no application.
fn without_application(mut object: Value) -> Value {
    object["metadata"]["namespace"] = NAMESPACE.into();
    object
}

#[test]
fn an_ingress_notices_the_deletion_of_a_service_of_another_application() {
    let Some(stage) = stage() else { return };
    let backend = |name: &str| {
        json!({"path": "/", "pathType": "Prefix",
            "backend": {"service": {"name": name, "port": {"number": 80}}}})
    };
    let ingress = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "front"},
        "spec": {"rules": [{"host": "shop.example.org", "http": {"paths": [backend("base")]}}]},
    });
    let ingress = labelled(ingress, "front");
    let mut service = without_application(json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "base"}, "spec": {"ports": [{"port": 80}]}}));
    stage.apply(&service);
    stage.apply(&ingress);
    let status = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": {"name": "front", "namespace": NAMESPACE},
        "status": {"loadBalancer": {"ingress": [{"ip": "10.1.1.1"}]}},
    });
    stage.clusters[0].client().apply_status(&status);
    let answer = wait_for(&stage, "Ingress/front", "Ready AddressAssigned");
    assert_eq!(resources(&answer).len(), 1, "the Service is not listed");
    let path = stage.clusters[0].client().path(&service);
    stage.clusters[0].delete(&path);
    wait_for(&stage, "Ingress/front", "Degraded BackendNotFound");
    // The Service is created again, as part of another application.
    service["metadata"]["labels"] = json!({"app.kubernetes.io/instance": "base"});
    stage.apply(&service);
    wait_for(&stage, "Ingress/front", "Ready AddressAssigned");
}

#[test]
fn a_claim_knows_whether_there_is_its_storage_class() {
    let Some(stage) = stage() else { return };
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data"}, "spec": {
        "storageClassName": "fast", "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }});
    stage.apply(&labelled(claim, "data"));
    let claim = "PersistentVolumeClaim/data";
    wait_for(&stage, claim, "Pending StorageClassNotFound");
    let class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"},
        "provisioner": "example.org/none", "volumeBindingMode": "WaitForFirstConsumer",
    });
    stage.apply(&class);
    wait_for(&stage, claim, "Pending WaitForFirstConsumer");
    stage.clusters[0].delete("/apis/storage.k8s.io/v1/storageclasses/fast");
    wait_for(&stage, claim, "Pending StorageClassNotFound");
}

#[test]
fn a_service_knows_endpoints_outside_of_every_application() {
    let Some(stage) = stage() else { return };
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
        "spec": {"selector": {"app": "base"}, "ports": [{"port": 80}]}});
    stage.apply(&labelled(service, "front"));
    wait_for(&stage, "Service/front", "Present NoPods");
    let slice = |is_ready: bool| {
        without_application(json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": "front-1", "labels": {"kubernetes.io/service-name": "front"}},
            "endpoints": [{"addresses": ["10.1.1.1"], "conditions": {"ready": is_ready}}],
        }))
    };
    stage.apply(&slice(true));
    wait_for(&stage, "Service/front", "Ready ClusterIP");
    stage.apply(&slice(false));
    wait_for(&stage, "Service/front", "Present NoPods");
}

#[test]
fn a_service_whose_pods_belong_to_another_application_fares_as_they_do() {
    let options = [Options::new("edge01")];
    let Some(stage) = Stage::start(&options, |cluster| cluster.admin().clone()) else {
        return;
    };
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
        "spec": {"selector": {"app": "base"}, "ports": [{"port": 80}]}});
    stage.apply(&labelled(service, "front"));
    let base = |replicas: u32| {
        let mut base = crate::stage::workload(
            "Deployment",
            "base",
            &json!({}),
            &json!({"replicas": replicas}),
        );
        base["metadata"]["labels"] = json!({"app.kubernetes.io/instance": "base"});
        base
    };
    stage.apply(&base(1));
    wait_for(&stage, "Service/front", "Ready ClusterIP");
    stage.apply(&base(0));
    wait_for(&stage, "Service/front", "Present NoPods");
}

#[test]
fn an_excluded_kind_is_watched_once_a_rule_needs_it_and_permission_exists() {
    let options = [Options::api_server("edge01").user("watcher", &[], "watchertoken")];
    let token = |_: &_| Credentials::Token("watchertoken".to_owned());
    let Some(stage) = Stage::start(&options, token) else {
        return;
    };
    let cluster = &stage.clusters[0];
    let role = |more: Value| {
        let mut role = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": "watcher"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list", "watch"]}],
        });
        role["rules"].as_array_mut().unwrap().push(more);
        role
    };
    let may = |resource: &str| json!({"apiGroups": ["coordination.k8s.io"], "resources": [resource], "verbs": ["list", "watch"]});
    cluster.apply(&role(may("none")));
    cluster.apply(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "watcher"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "watcher"},
        "subjects": [{"kind": "User", "name": "watcher", "apiGroup": "rbac.authorization.k8s.io"}],
    }));
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"lease": "leader"}});
    cluster.apply(&labelled(config, "front"));
    wait_for(&stage, "ConfigMap/settings", "Present Exists");
    stage.drop_interpreter("leases");
    wait_for(&stage, "ConfigMap/settings", "Present NotSearched");
    cluster.apply(&role(may("leases")));
    wait_for(&stage, "ConfigMap/settings", "Pending NoLease");
    let lease = without_application(
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "leader"}, "spec": {"holderIdentity": "me"}}),
    );
    cluster.apply(&lease);
    let answer = wait_for(&stage, "ConfigMap/settings", "Ready Held");
    assert_eq!(resources(&answer).len(), 1, "the Lease is not listed");
}

/// The reference to an owner.
fn owned_by(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"],
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }])
}

#[test]
fn an_owner_of_any_kind_counts_the_restarts_of_pods_that_it_owns_through_others() {
    let Some(stage) = stage() else { return };
    let cluster = &stage.clusters[0];
    define(cluster, ["example.com", "v1", "shops", "Shop"]);
    let shop = labelled(
        json!({
            "apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "front"},
            "spec": {"plan": "small"},
            "status": {"conditions": [{"type": "Ready", "status": "True", "reason": "AllWell"}]},
        }),
        "front",
    );
    let shop = cluster.apply(&shop);
    wait_for(&stage, "Shop/front", "Ready AllWell");
    // Another owner comes first, so the claim and the Pod belong to another application.
    let mut other = without_application(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "other", "labels": {"app.kubernetes.io/instance": "other"}},
    }));
    other = cluster.apply(&other);
    let mut owners = owned_by(&other);
    owners
        .as_array_mut()
        .expect("a list")
        .extend(owned_by(&shop).as_array().cloned().unwrap_or_default());
    let between = cluster.apply(&without_application(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "between", "ownerReferences": owners},
    })));
    let pod = cluster.apply(&without_application(json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "front-0", "ownerReferences": owned_by(&between)},
        "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]},
    })));
    cluster.client().apply_status(&without_application(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "front-0"},
        "status": {
            "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{
                "name": "main", "image": "example.org/main:1", "imageID": "", "ready": true,
                "restartCount": 1, "state": {"running": {}},
                "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
            }],
        },
    })));
    let answer = wait_for(&stage, "Shop/front", "Degraded RecentRestarts");
    assert_eq!(resources(&answer).len(), 1, "the Pod is not listed");
    cluster.delete(&format!(
        "{}?gracePeriodSeconds=0",
        cluster.client().path(&pod)
    ));
    wait_for(&stage, "Shop/front", "Ready AllWell");
}
