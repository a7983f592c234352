//! The host that watches.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_cluster::{Client, Cluster, Credentials};
use kindsight_clusters::{ClusterSource, Selection, WatchOptions, kubeconfig_clusters};
use kindsight_server::{Server, Settings};
use kindsight_store::{RedbStore, Store};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Time in which the host must notice any change.
const PATIENCE: Duration = Duration::from_mins(5);

/// A host that starts without clusters.
pub(crate) struct Host {
    pub(crate) client: Client,
    pub(crate) address: std::net::SocketAddr,
    clusters: watch::Sender<Vec<ClusterSource>>,
    _runtime: Runtime,
}

impl Host {
    pub(crate) fn start() -> Self {
        let runtime = Runtime::new().expect("an executor");
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
        let (clusters, changes) = watch::channel(Vec::new());
        let mut settings = Settings {
            cluster_changes: Some(changes),
            ..Settings::new(store)
        };
        settings.rest_limits.streams_max = 2000;
        settings.rest_limits.connections_max = 3000;
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        let address = server.address();
        runtime.spawn(async move { server.failed().await });
        Self {
            client: Client::new(&format!("http://{address}"), None, &Credentials::Nobody),
            address,
            clusters,
            _runtime: runtime,
        }
    }

    /// Watches these clusters from now on.
    pub(crate) fn watch(&self, clusters: &[&Cluster]) {
        let sources = clusters.iter().map(|cluster| {
            let sources = kubeconfig_clusters(&cluster.kubeconfig(), None);
            let source = sources.expect("a kubeconfig").pop().expect("a context");
            let options = WatchOptions {
                selection: crate::is_asked_for("selector").then(labelled),
                ..WatchOptions::default()
            };
            ClusterSource::Kubernetes(Box::new(source.with_options(options)))
        });
        self.clusters.send_replace(sources.collect());
    }

    /// Waits for a connection.
    pub(crate) fn wait(&self, cluster: &Cluster, connection: &str) {
        let began = Instant::now();
        while self.connection(cluster).as_deref() != Some(connection) {
            assert!(
                began.elapsed() < PATIENCE,
                "{} is not {connection}",
                cluster.name()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn connection(&self, cluster: &Cluster) -> Option<String> {
        let answer = self.client.get("/v2/clusters")?;
        let mut clusters = answer["clusters"].as_array()?.iter();
        let found = clusters.find(|found| found["cluster"] == cluster.name())?;
        found["connection"].as_str().map(str::to_owned)
    }
}

/// Selects only the objects of applications.
fn labelled() -> Selection {
    Selection {
        selector: kindsight_model::parse_selector("app.kubernetes.io/part-of").expect("a selector"),
        children: [].into(),
    }
}
