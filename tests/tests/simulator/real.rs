//! A real API server with the objects of a simulated cluster.

use kindsight_cluster::{Binaries, Binary, Cluster, Credentials, Etcd, Options};
use kindsight_simulator::Seed;
use serde_json::{Value, json};

use crate::side::Side;

/// Members of metadata that a server sets.
const OF_SERVER: [&str; 5] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "generation",
];

/// A real API server.
pub(crate) struct Real {
    etcd: Etcd,
    cluster: Cluster,
}

impl Real {
    /// Starts a server with the objects of a seed; none if a program is missing.
    pub(crate) fn or_skip(seed: &Seed) -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::API_SERVER)?;
        let etcd = Etcd::start(&binaries);
        let cluster = Cluster::start(&etcd, &Options::api_server("real"));
        for (plural, kind) in [("widgets", "Widget"), ("gadgets", "Gadget")] {
            cluster.apply(&custom_kind(plural, kind));
        }
        let real = Self { etcd, cluster };
        for (collection, object) in seed.manifests() {
            real.create(&collection, object);
        }
        Some(real)
    }

    /// A client with the rights of the administrator.
    pub(crate) fn side(&self) -> Side {
        let Credentials::Token(token) = self.cluster.admin() else {
            panic!("the administrator has a token");
        };
        let access = (self.cluster.url(), self.cluster.authority().certificate());
        Side::new(access, token)
    }

    /// Creates an object as a client would, without the members that a server sets.
    pub(crate) fn create(&self, collection: &str, mut object: Value) {
        let metadata = object["metadata"].as_object_mut().expect("metadata");
        metadata.retain(|name, _| !OF_SERVER.contains(&&**name));
        if object["kind"] == "Service" {
            let spec = object["spec"].as_object_mut().expect("a spec");
            spec.retain(|name, _| ["selector", "ports"].contains(&&**name));
        }
        // A custom Kind of a new group is served a moment later.
        let root = collection.rsplit_once("/namespaces/");
        let root = root.map_or(collection, |(root, _)| root);
        let has = |served: &Value| !served.is_null();
        if root.starts_with("/apis/sim") {
            let timeout = std::time::Duration::from_mins(1);
            self.cluster.wait(root, has, timeout);
        }
        self.cluster.client().create(collection, &object);
    }

    pub(crate) fn delete(&self, path: &str) {
        assert!(self.cluster.delete(path), "{path}");
    }

    pub(crate) fn change_status(&self, path: &str) {
        let status =
            json!({"status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 1}});
        let path = format!("{path}/status");
        self.cluster
            .patch(&path, "application/merge-patch+json", &status);
    }

    /// Makes the server forget all versions before the current version: it compacts its etcd, and starts with an
    /// empty cache.
    pub(crate) fn forget(&mut self) {
        let revision = self.etcd.keys().revision();
        let body = json!({"revision": revision.to_string()}).to_string();
        let url = format!("{}/v3/kv/compaction", self.etcd.url());
        let answer = ureq::post(&url).send(body).expect("a compaction");
        assert_eq!(answer.status().as_u16(), 200);
        self.cluster.stop();
        self.cluster.start_again();
    }
}

fn custom_kind(plural: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.sim.example.org")},
        "spec": {
            "group": "sim.example.org", "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}
