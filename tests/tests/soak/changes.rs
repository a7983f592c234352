//! Random changes of the objects of a cluster. The number of objects is limited, so that memory can stay flat.

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
/// Time between two changes of a real cluster.
const CHANGE_EVERY: Duration = Duration::from_millis(30);

/// The random changes of one cluster.
pub(crate) struct Changes {
    /// Makes a change. Returns whether the cluster accepted it: it may be away.
    make: Box<dyn Fn(&mut Random) -> bool + Send + Sync>,
    /// Time between two changes.
    every: Duration,
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
    pub(crate) fn new(
        every: Duration,
        make: impl Fn(&mut Random) -> bool + Send + Sync + 'static,
    ) -> Self {
        let make = Box::new(make);
        Self { make, every }
    }

    /// The changes of a real cluster, as requests of this client.
    pub(crate) fn requests(client: Client) -> Self {
        Self::new(CHANGE_EVERY, move |random| request(&client, random))
    }

    /// Makes changes until they are stopped. Returns the number of accepted changes.
    pub(crate) fn run(&self, random: &mut Random, has_ended: &AtomicBool) -> u64 {
        let mut accepted = 0;
        while !has_ended.load(Ordering::Relaxed) {
            accepted += u64::from((self.make)(random));
            thread::sleep(self.every);
        }
        accepted
    }
}

/// Creates, changes or deletes one object. Returns whether the server accepted it.
fn request(client: &Client, random: &mut Random) -> bool {
    let kind = random.pick(&KINDS);
    let namespace = *random.pick(&NAMESPACES);
    let name = format!("object-{}", random.below(OBJECTS));
    let path = kind.path.replace("{}", namespace) + &name;
    let is_accepted = |method: &str, path: &str, body: Option<(&str, &Value)>| {
        let method = method.parse().expect("a method");
        let answer = client.request(method, path, body);
        answer.is_ok_and(|answer| answer.status < 300)
    };
    match random.below(10) {
        0 | 1 => is_accepted("DELETE", &path, None),
        2..5 if kind.name == "Deployment" => {
            let status = json!({"status": deployment_status(random)});
            let patch = ("application/merge-patch+json", &status);
            is_accepted("PATCH", &format!("{path}/status"), Some(patch))
        }
        _ => {
            let object = object(kind, (namespace, &name), random);
            let path = format!("{path}?fieldManager=soak&force=true");
            let patch = ("application/apply-patch+yaml", &object);
            is_accepted("PATCH", &path, Some(patch))
        }
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
