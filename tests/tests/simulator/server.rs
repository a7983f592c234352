//! A server of kindsight that watches all clusters of a simulator.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::{Client, Credentials};
use kindsight_clusters::kubeconfig_clusters;
use kindsight_server::{Server, Settings};
use kindsight_simulator::{SimulatedObject, Simulator};
use kindsight_store::{RedbStore, Store};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::code_cache;

/// Longest wait for an expected state on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running server.
pub(crate) struct Watching {
    client: Client,
    _runtime: Runtime,
}

impl Watching {
    pub(crate) fn start(simulator: &Simulator) -> Self {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
        let clusters = kubeconfig_clusters(&simulator.kubeconfig(), None).expect("a kubeconfig");
        let settings = Settings {
            clusters: clusters
                .into_iter()
                .map(|cluster| kindsight_clusters::ClusterSource::Kubernetes(Box::new(cluster)))
                .collect(),
            cache: Some(code_cache::folder()),
            ..Settings::new(store)
        };
        let runtime = Runtime::new().expect("an executor");
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        let address = server.address();
        runtime.spawn(async move { server.failed().await });
        let url = format!("http://{address}");
        Self {
            client: Client::new(&url, None, &Credentials::Nobody),
            _runtime: runtime,
        }
    }

    /// Waits until each cluster is connected.
    pub(crate) fn wait_until_connected(&self, count: usize) {
        wait(|| {
            let answer = self.client.get("/v2/clusters").unwrap_or_default();
            let clusters = answer["clusters"].as_array().into_iter().flatten();
            let connected = clusters.filter(|cluster| cluster["connection"] == "connected");
            (connected.count() != count).then(|| format!("not all are connected: {answer:#}"))
        });
    }

    /// The objects in the answers about these applications, each with its cluster.
    pub(crate) fn objects(
        &self,
        applications: &BTreeSet<String>,
    ) -> BTreeSet<(String, SimulatedObject)> {
        let mut found = BTreeSet::new();
        for application in applications {
            let path = format!(
                "/v2/projects/-/composite-apps/{application}/-/deployment-intent-groups/-/status"
            );
            let answer = self.client.get(&path).unwrap_or_default();
            let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
            for cluster in list(&answer["apps"])
                .iter()
                .flat_map(|app| list(&app["clusters"]))
            {
                let name = cluster["cluster"].as_str().unwrap_or_default();
                for resource in list(&cluster["resources"]) {
                    if let Some(object) = object(application, &resource) {
                        found.insert((name.to_owned(), object));
                    }
                }
            }
        }
        found
    }
}

/// Waits until a condition has no problem any more.
pub(crate) fn wait(problem: impl Fn() -> Option<String>) {
    let began = Instant::now();
    while let Some(problem) = problem() {
        assert!(began.elapsed() < PATIENCE, "{problem}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// An object of an answer; none if it is gone.
fn object(application: &str, resource: &Value) -> Option<SimulatedObject> {
    const KINDS: [&str; 7] = [
        "ConfigMap",
        "Deployment",
        "EndpointSlice",
        "Pod",
        "ReplicaSet",
        "Service",
        "Widget",
    ];
    let kind = KINDS.iter().find(|kind| resource["GVK"]["Kind"] == **kind);
    let phase = resource["phase"].as_str().unwrap_or_default();
    (resource["reason"] != "Gone").then(|| SimulatedObject {
        application: application.to_owned(),
        kind: kind.copied().unwrap_or("another Kind"),
        name: resource["name"].as_str().unwrap_or_default().to_owned(),
        is_healthy: ["ready", "present"].contains(&phase),
    })
}
