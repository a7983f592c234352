//! Random changes of the objects of a cluster. Their number is limited, so that memory can stay flat.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kindsight_cluster::Client;
use serde_json::{Value, json};

use crate::random::Random;

/// The namespaces of the objects.
pub(crate) const NAMESPACES: [&str; 3] = ["web-0", "web-1", "web-2"];
/// The custom Kind whose interpreter is swapped.
pub(crate) const KIND: &str = "Crane";

/// Applications in each namespace.
const APPLICATIONS: u64 = 5;
/// Objects of each Kind in each namespace.
const OBJECTS: u64 = 12;
/// Time between two changes of a cluster.
const CHANGE_EVERY: Duration = Duration::from_millis(30);

/// The changes of one cluster.
pub(crate) struct Changes {
    client: Client,
}

/// A Kind with its collection in paths.
struct Kind {
    version: &'static str,
    name: &'static str,
    path: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        version: "v1",
        name: "ConfigMap",
        path: "/api/v1/namespaces/{}/configmaps/",
    },
    Kind {
        version: "apps/v1",
        name: "Deployment",
        path: "/apis/apps/v1/namespaces/{}/deployments/",
    },
    Kind {
        version: "v1",
        name: "Service",
        path: "/api/v1/namespaces/{}/services/",
    },
    Kind {
        version: "example.com/v1",
        name: KIND,
        path: "/apis/example.com/v1/namespaces/{}/cranes/",
    },
];

impl Changes {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// Makes changes until they are stopped. Returns the number of accepted changes.
    pub(crate) fn run(&self, random: &mut Random, has_ended: &AtomicBool) -> u64 {
        let mut accepted = 0;
        while !has_ended.load(Ordering::Relaxed) {
            accepted += u64::from(self.change(random));
            thread::sleep(CHANGE_EVERY);
        }
        accepted
    }

    /// Creates, changes or deletes one object. Returns whether the server accepted it: it may be away.
    fn change(&self, random: &mut Random) -> bool {
        let kind = random.pick(&KINDS);
        let namespace = *random.pick(&NAMESPACES);
        let name = format!("object-{}", random.below(OBJECTS));
        let path = kind.path.replace("{}", namespace) + &name;
        match random.below(10) {
            0 | 1 => self.is_accepted("DELETE", &path, None),
            2..5 if kind.name == "Deployment" => {
                let status = json!({"status": deployment_status(random)});
                let patch = ("application/merge-patch+json", &status);
                self.is_accepted("PATCH", &format!("{path}/status"), Some(patch))
            }
            _ => {
                let object = object(kind, (namespace, &name), random);
                let path = format!("{path}?fieldManager=soak&force=true");
                let patch = ("application/apply-patch+yaml", &object);
                self.is_accepted("PATCH", &path, Some(patch))
            }
        }
    }

    fn is_accepted(&self, method: &str, path: &str, body: Option<(&str, &Value)>) -> bool {
        let method = method.parse().expect("a method");
        let answer = self.client.request(method, path, body);
        answer.is_ok_and(|answer| answer.status < 300)
    }
}

/// An object with random content, of a random application or of none.
fn object(kind: &Kind, (namespace, name): (&str, &str), random: &mut Random) -> Value {
    let application = random.below(APPLICATIONS + 1);
    let mut labels = json!({"app.kubernetes.io/component": format!("part-{}", random.below(2))});
    if application > 0 {
        labels["app.kubernetes.io/instance"] = format!("app-{application}").into();
    }
    let mut object = json!({
        "apiVersion": kind.version, "kind": kind.name,
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
    });
    match kind.name {
        "ConfigMap" => object["data"] = json!({"number": random.below(1000).to_string()}),
        "Service" => {
            object["spec"] = json!({"selector": {"app": name}, "ports": [{"port": 80}]});
        }
        "Deployment" => {
            object["spec"] = json!({
                "replicas": random.below(4),
                "selector": {"matchLabels": {"app": name}},
                "template": {
                    "metadata": {"labels": {"app": name}},
                    "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]},
                },
            });
        }
        _ => {
            let phase = random.pick(&["Working", "Draining", "Parked"]);
            object["status"] = json!({"phase": phase});
        }
    }
    object
}

/// The status of a Deployment that is complete, in progress or failed.
fn deployment_status(random: &mut Random) -> Value {
    let replicas = random.below(4);
    let ready = random.below(replicas + 1);
    let has_failed = random.below(4) == 0;
    let (status, reason) = if has_failed {
        ("False", "ProgressDeadlineExceeded")
    } else {
        ("True", "NewReplicaSetAvailable")
    };
    let available = if ready == replicas { "True" } else { "False" };
    json!({
        "observedGeneration": 1 + random.below(50),
        "replicas": replicas, "updatedReplicas": replicas,
        "readyReplicas": ready, "availableReplicas": ready,
        "unavailableReplicas": replicas - ready,
        "conditions": [
            {"type": "Progressing", "status": status, "reason": reason},
            {"type": "Available", "status": available, "reason": "MinimumReplicas"},
        ],
    })
}
