//! The process of many simulated servers: the listener, the kubeconfigs, and actions on all clusters.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::Authority;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::cluster::SimulatedCluster;
use crate::faults::Fault;
use crate::seed::Seed;
use crate::serve::{Served, TOKEN};

/// Threads of the servers.
const THREADS: usize = 2;
/// Time between two groups of changes.
const CHANGE_EVERY: Duration = Duration::from_millis(10);

/// Many simulated API servers. They stop when this value is dropped.
pub struct Simulator {
    clusters: Vec<Arc<SimulatedCluster>>,
    authority: Authority,
    address: String,
    folder: TempDir,
    stop: CancellationToken,
    /// Dropped last, with all connections.
    runtime: Option<Runtime>,
}

impl Simulator {
    /// Starts a server for each seed, on one free port of loopback.
    ///
    /// # Panics
    /// If there is no free port, or no folder for the kubeconfigs.
    pub fn start(seeds: &[Seed]) -> Self {
        let clusters = seeds.iter().map(|seed| SimulatedCluster::new(*seed));
        let clusters: Vec<_> = clusters.map(Arc::new).collect();
        let authority = Authority::new("simulator tests");
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("simulator")
            .enable_all()
            .build()
            .expect("an executor");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("its address").to_string();
        let stop = CancellationToken::new();
        let by_name = clusters
            .iter()
            .map(|cluster| (cluster.seed().name(), Arc::clone(cluster)));
        let served = Arc::new(Served {
            by_name: by_name.collect(),
            tls: acceptor(&authority),
            stop: stop.clone(),
            tasks: TaskTracker::new(),
        });
        runtime.spawn(served.accept(listener));
        let simulator = Self {
            clusters,
            authority,
            address,
            folder: tempfile::tempdir().expect("a folder"),
            stop,
            runtime: Some(runtime),
        };
        simulator.write_kubeconfigs();
        simulator
    }

    /// All clusters, in the order of their seeds.
    pub fn clusters(&self) -> &[Arc<SimulatedCluster>] {
        &self.clusters
    }

    /// The cluster at a place.
    ///
    /// # Panics
    /// If there are fewer clusters.
    pub fn cluster(&self, place: usize) -> &SimulatedCluster {
        self.clusters.get(place).expect("a cluster")
    }

    /// A kubeconfig with a context for each cluster.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// The folder with a kubeconfig for each cluster: `<name>.kubeconfig`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The address of the cluster at a place, and the authority of its certificate as PEM.
    pub fn access(&self, place: usize) -> (String, &str) {
        let url = self.url(self.cluster(place));
        (url, self.authority.certificate())
    }

    /// Changes statuses of all clusters in turn, and returns after this time. Returns the number of changes.
    pub fn change_for(&self, time: Duration, per_second: u32) -> u64 {
        let began = Instant::now();
        let mut number = 0_u64;
        while began.elapsed() < time {
            let due = began.elapsed().mul_f64(f64::from(per_second)).as_secs();
            while number < due {
                self.change(number);
                number += 1;
            }
            thread::sleep(CHANGE_EVERY);
        }
        number
    }

    /// Closes the connections of all clusters at once. Each cluster has forgotten its versions, and answers a number
    /// of requests with 429.
    pub fn reconnect_wave(&self, busy_requests: u32) {
        for cluster in &self.clusters {
            let fault = Fault::TooManyRequests { retry_after: 1 };
            cluster.fail_next(fault, busy_requests);
            cluster.compact();
            cluster.reset_connections();
        }
    }

    /// Makes one change, which the number determines.
    fn change(&self, number: u64) {
        let clusters = self.clusters.len().max(1) as u64;
        let place = usize::try_from(number % clusters).unwrap_or_default();
        if let Some(cluster) = self.clusters.get(place) {
            // A prime stride visits all objects, far from each other.
            cluster.change_status((number / clusters).wrapping_mul(7919));
        }
    }

    fn url(&self, cluster: &SimulatedCluster) -> String {
        format!("https://{}/{}", self.address, cluster.seed().name())
    }

    fn write_kubeconfigs(&self) {
        let write = |name: &str, text: String| {
            let path = self.folder.path().join(name);
            std::fs::write(&path, text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        };
        write("ca.crt", self.authority.certificate().to_owned());
        write("kubeconfig", self.config(&self.clusters));
        for cluster in &self.clusters {
            let file = format!("{}.kubeconfig", cluster.seed().name());
            write(&file, self.config(std::slice::from_ref(cluster)));
        }
    }

    /// The text of a kubeconfig: JSON, which is valid YAML.
    fn config(&self, clusters: &[Arc<SimulatedCluster>]) -> String {
        let entries = clusters.iter().map(|cluster| {
            let server = self.url(cluster);
            json!({
                "name": cluster.seed().name(),
                "cluster": {"server": server, "certificate-authority": "ca.crt"},
            })
        });
        let contexts = clusters.iter().map(|cluster| {
            let name = cluster.seed().name();
            json!({"name": name, "context": {"cluster": name, "user": "user"}})
        });
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": entries.collect::<Vec<Value>>(),
            "users": [{"name": "user", "user": {"token": TOKEN}}],
            "contexts": contexts.collect::<Vec<Value>>(),
            "current-context": clusters.first().map(|cluster| cluster.seed().name()),
        });
        config.to_string()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn acceptor(authority: &Authority) -> TlsAcceptor {
    let identity = authority.server(None);
    let certificates = CertificateDer::pem_slice_iter(identity.certificate.as_bytes());
    let certificates: Result<Vec<_>, _> = certificates.collect();
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).expect("a key");
    let provider = Arc::new(ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions();
    let config = config.expect("versions of TLS").with_no_client_auth();
    let config = config.with_single_cert(certificates.expect("a certificate"), key);
    let mut config = config.expect("a certificate with its key");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    TlsAcceptor::from(Arc::new(config))
}
