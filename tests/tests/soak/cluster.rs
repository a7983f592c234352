//! Clusters of the run, and the real clusters: their random changes and faults.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kindsight_cluster::{Client, Cluster, Credentials, Etcd, Options, Proxy, write_kubeconfig};
use serde_json::json;

use crate::changes::{Changes, KIND, NAMESPACES};
use crate::random::Random;

/// Time for a changed object to be accepted. A server that hangs delays no change longer.
const CHANGE_MAX: Duration = Duration::from_secs(3);
/// Time for the server to serve a new Kind.
const SERVED_MAX: Duration = Duration::from_mins(1);

/// A cluster of the run, real or simulated.
pub(crate) trait SoakCluster {
    /// The name of the cluster in answers.
    fn name(&self) -> &str;

    /// The kubeconfig of the cluster, behind its faults.
    fn kubeconfig(&self) -> PathBuf;

    /// The kubeconfig of the cluster without faults.
    fn direct_kubeconfig(&self) -> PathBuf;

    /// The random changes, which another thread makes.
    fn changes(&self) -> Changes;

    /// Begins a random fault, and returns its name.
    fn begin_fault(&mut self, random: &mut Random) -> &'static str;

    /// Ends all faults.
    fn heal(&mut self);
}

/// An API server on an etcd that several clusters share.
pub(crate) struct RealCluster {
    proxy: Proxy,
    cluster: Cluster,
    etcd: Arc<Etcd>,
}

impl RealCluster {
    pub(crate) fn start(name: &str, etcd: &Arc<Etcd>) -> Self {
        let cluster = Cluster::start(etcd, &Options::api_server(name));
        let proxy = Proxy::start(&cluster);
        for namespace in NAMESPACES {
            let metadata = json!({"name": namespace});
            cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}));
        }
        define(&cluster);
        Self {
            proxy,
            cluster,
            etcd: Arc::clone(etcd),
        }
    }
}

/// Defines the custom Kind whose interpreter is swapped.
fn define(cluster: &Cluster) {
    cluster.apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "cranes.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "cranes", "singular": "crane", "kind": KIND},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                },
            }}],
        },
    }));
    let path = "/apis/example.com/v1/cranes";
    cluster.client().wait_for_status(path, 200, SERVED_MAX);
}

impl SoakCluster for RealCluster {
    fn name(&self) -> &str {
        self.cluster.name()
    }

    fn kubeconfig(&self) -> PathBuf {
        let file = self.cluster.folder().join("proxy.kubeconfig");
        let who: &Credentials = self.cluster.admin();
        write_kubeconfig(&file, &[(self.cluster.name(), &self.cluster, who)]);
        let text = fs::read_to_string(&file).expect("the kubeconfig");
        let text = text.replace(self.cluster.url(), &self.proxy.url());
        fs::write(&file, text).expect("the kubeconfig through the proxy");
        file
    }

    fn direct_kubeconfig(&self) -> PathBuf {
        self.cluster.kubeconfig()
    }

    fn changes(&self) -> Changes {
        let client: Client = self.cluster.client().with_timeout(CHANGE_MAX);
        Changes::requests(client)
    }

    fn begin_fault(&mut self, random: &mut Random) -> &'static str {
        match random.below(6) {
            0 => {
                self.proxy.cut();
                "connections reset"
            }
            1 => {
                self.proxy.mute();
                "answers lost"
            }
            2 => {
                self.proxy.close();
                "unreachable"
            }
            3 => {
                self.cluster.pause();
                "API server frozen"
            }
            4 => {
                self.cluster.kill();
                self.cluster.start_again();
                "API server restarted"
            }
            // A new API server has no earlier versions in its cache, and etcd has none either.
            _ => {
                self.proxy.close();
                self.etcd.keys().compact();
                self.cluster.kill();
                self.cluster.start_again();
                "versions expired"
            }
        }
    }

    fn heal(&mut self) {
        self.cluster.resume();
        self.proxy.open();
    }
}
