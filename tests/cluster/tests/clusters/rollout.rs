//! Controllers, scheduler and fake nodes.

use std::thread;

use kindsight_cluster::{BEHAVIOUR_LABEL, Behaviour, Cluster, Etcd, Options};
use serde_json::{Value, json};

use crate::{STEP_MAX, binaries};

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const PODS: &str = "/api/v1/namespaces/default/pods";

#[test]
fn a_deployment_is_rolled_out_in_two_clusters_over_one_etcd() {
    let Some(binaries) = binaries() else { return };
    let etcd = Etcd::start(&binaries);
    thread::scope(|scope| {
        for name in ["edge01", "edge02"] {
            let etcd = &etcd;
            scope.spawn(move || {
                let cluster = Cluster::start(etcd, &Options::new(name));
                cluster.apply(&deployment("web", &json!({"app": "web"})));
                let ready = |object: &Value| object["status"]["readyReplicas"] == 3;
                cluster.wait(DEPLOYMENT, ready, STEP_MAX);
                assert_eq!(
                    items(&cluster, PODS).len(),
                    3,
                    "{name} has only its own Pods"
                );
            });
        }
    });
}

#[test]
fn pods_behave_as_their_labels_say() {
    let Some(binaries) = binaries() else { return };
    let etcd = Etcd::start(&binaries);
    let options = Options::new("edge01").pods("app", "sink", Behaviour::CrashLoops);
    let cluster = Cluster::start(&etcd, &options.nodes(2));
    let labels = [
        ("firewall", BEHAVIOUR_LABEL, "image-pull-fails"),
        ("sink", "app", "sink"),
        ("slow", BEHAVIOUR_LABEL, "stays-unready"),
        ("well", "app", "well"),
    ];
    for (name, label, value) in labels {
        let mut labels = json!({"app": name});
        labels[label] = value.into();
        cluster.apply(&deployment(name, &labels));
    }
    let waits = "/status/containerStatuses/0/state/waiting/reason";
    let is_unready = "/status/conditions/2/status";
    let expected = [
        ("firewall", waits, "ImagePullBackOff"),
        ("sink", waits, "CrashLoopBackOff"),
        ("slow", "/status/phase", "Running"),
        ("slow", is_unready, "False"),
        ("well", is_unready, "True"),
    ];
    for (name, pointer, text) in expected {
        let path = format!("{PODS}?labelSelector=app%3D{name}");
        let all = |pods: &Value| {
            let pods = pods["items"].as_array().expect("a list");
            let is_so = |pod: &Value| pod.pointer(pointer) == Some(&text.into());
            pods.len() == 3 && pods.iter().all(is_so)
        };
        cluster.wait(&path, all, STEP_MAX);
    }
}

#[test]
fn a_job_completes_and_a_deleted_namespace_disappears() {
    let Some(binaries) = binaries() else { return };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::new("edge01"));
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "night"},
    });
    cluster.apply(&namespace);
    cluster.apply(&json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "backup", "namespace": "night"},
        "spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "backup:1"}],
        }}},
    }));
    let job = "/apis/batch/v1/namespaces/night/jobs/backup";
    let complete = |object: &Value| object["status"]["succeeded"] == 1;
    cluster.wait(job, complete, STEP_MAX);
    assert!(cluster.delete("/api/v1/namespaces/night"));
    cluster.wait("/api/v1/namespaces/night", Value::is_null, STEP_MAX);
}

fn deployment(name: &str, labels: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": format!("{name}:1")}]},
            },
        },
    })
}

fn items(cluster: &Cluster, path: &str) -> Vec<Value> {
    let list = cluster.get(path).expect("a list");
    list["items"].as_array().expect("its items").clone()
}
