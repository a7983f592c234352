//! Objects of a large cluster.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use kindsight_cluster::Cluster;
use serde_json::{Value, json};

/// Namespace of all of them.
pub(crate) const NAMESPACE: &str = "load";
/// Applications that the labelled objects belong to.
pub(crate) const APPLICATIONS: usize = 100;
/// Apps of each application.
const APPS: usize = 5;
/// Desired replicas of each Deployment: more than it ever has, so that its message contains the counts.
pub(crate) const REPLICAS: usize = 1_000_000;
/// Requests at a time.
const WRITERS: usize = 8;

/// Writes the objects; returns the size of the labelled objects in bytes of JSON, without `managedFields`.
pub(crate) fn fill(cluster: &Cluster, labelled: usize, others: usize) -> u64 {
    cluster.apply(&json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
    }));
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let client = cluster.client();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= labelled + others {
                        return;
                    }
                    let (collection, object) = if number < labelled {
                        object(number)
                    } else {
                        (
                            "api/v1/namespaces/load/configmaps",
                            config_map(number, &json!({})),
                        )
                    };
                    client.create(&format!("/{collection}"), &object);
                }
            });
        }
    });
    ["api/v1/namespaces/load/configmaps", DEPLOYMENTS]
        .iter()
        .map(|collection| bytes(cluster, collection))
        .sum()
}

/// The path of the Deployments.
pub(crate) const DEPLOYMENTS: &str = "apis/apps/v1/namespaces/load/deployments";

/// One object of an application: half of them Deployments.
fn object(number: usize) -> (&'static str, Value) {
    let application = number % APPLICATIONS;
    let labels = json!({
        "app.kubernetes.io/part-of": format!("app-{application}"),
        "app.kubernetes.io/component": format!("c{}", number / APPLICATIONS % APPS),
    });
    if (number / APPLICATIONS).is_multiple_of(2) {
        let name = format!("d{number}");
        let pods = json!({"app": name});
        let container = json!({
            "name": "main", "image": "example.org/main:1",
            "env": [{"name": "A", "value": "x".repeat(400)}],
        });
        let deployment = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "labels": labels},
            "spec": {
                "replicas": REPLICAS, "selector": {"matchLabels": pods},
                "template": {"metadata": {"labels": pods}, "spec": {"containers": [container]}},
            },
        });
        (DEPLOYMENTS, deployment)
    } else {
        (
            "api/v1/namespaces/load/configmaps",
            config_map(number, &labels),
        )
    }
}

fn config_map(number: usize, labels: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": format!("c{number}"), "labels": labels},
        "data": {"settings": "x".repeat(1000)},
    })
}

/// Bytes of the labelled objects of a collection.
fn bytes(cluster: &Cluster, collection: &str) -> u64 {
    let mut sum = 0;
    let mut next = String::new();
    loop {
        let selector = "labelSelector=app.kubernetes.io%2Fpart-of";
        let path = format!("/{collection}?{selector}&limit=500&continue={next}");
        let page = cluster.client().get(&path).expect("a list");
        for item in page["items"].as_array().into_iter().flatten() {
            let mut item = item.clone();
            item["metadata"]["managedFields"].take();
            sum += item.to_string().len() as u64;
        }
        let token = page["metadata"]["continue"].as_str();
        token.unwrap_or_default().clone_into(&mut next);
        if next.is_empty() {
            return sum;
        }
    }
}
