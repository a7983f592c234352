//! The host that deploys, with its store in a file.

use std::sync::Arc;
use std::time::Duration;

use kindsight_cluster::{Client, Cluster, Credentials};
use kindsight_clusters::{ClusterSource, kubeconfig_clusters};
use kindsight_server::{Server, Settings};
use kindsight_store::{RedbStore, Store};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use ureq::http::Method;

/// A host that watches the clusters and sends resources to them.
pub(crate) struct Host {
    url: String,
    client: Client,
    _runtime: Runtime,
    _folder: TempDir,
}

impl Host {
    pub(crate) fn start(clusters: &[Cluster]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = RedbStore::open(&folder.path().join("store.redb")).expect("a store");
        let store: Arc<dyn Store> = Arc::new(store);
        let settings = Settings {
            clusters: clusters.iter().map(source).collect(),
            lifecycle: true,
            ..Settings::new(store)
        };
        let runtime = Runtime::new().expect("an executor");
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        let url = format!("http://{}", server.address());
        runtime.spawn(async move { server.failed().await });
        let client = Client::new(&url, None, &Credentials::Nobody);
        let is_ready = || ureq::get(format!("{url}/readyz")).call().is_ok();
        while !is_ready() {
            std::thread::sleep(super::PERIOD);
        }
        Self {
            client,
            url,
            _runtime: runtime,
            _folder: folder,
        }
    }

    pub(crate) fn put(&self, name: &str, content: &Value) {
        let body = Some(("application/json", content));
        let answer = self.client.request(Method::PUT, &path(name), body);
        let answer = answer.expect("an answer");
        assert!(answer.status < 300, "{name}: {}", answer.body);
    }

    pub(crate) fn act(&self, name: &str, action: &str) {
        let url = format!("{}{}/{action}", self.url, path(name));
        ureq::post(url).send_empty().expect("an accepted action");
    }

    /// Returns whether the instance of a group is complete.
    pub(crate) fn is_instantiated(&self, name: &str) -> bool {
        let answer = self.client.get(&path(name)).expect("a group");
        match answer["lifecycle"]["instance-status"].as_str() {
            Some("Instantiated") => true,
            Some("InstantiateFailed") => panic!("{name} failed: {answer}"),
            _ => false,
        }
    }
}

fn path(name: &str) -> String {
    format!("/v2/projects/bench/composite-apps/{name}/v1/deployment-intent-groups/prod")
}

fn source(cluster: &Cluster) -> ClusterSource {
    let sources = kubeconfig_clusters(&cluster.kubeconfig(), None).expect("a kubeconfig");
    let source = sources.into_iter().next().expect("a context");
    ClusterSource::Kubernetes(Box::new(source))
}

/// The name of a cluster in this host: `provider+name`.
pub(crate) fn full_name(cluster: &Cluster) -> String {
    source(cluster).name().to_string()
}

/// Memory that this process has in use.
pub(crate) fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}

/// The time that this process, and the children that it waited for, spent on processors.
pub(crate) fn processor_times() -> [Duration; 2] {
    /// Ticks of the clock of Linux in each second.
    const TICKS: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program can have spaces. Its user and system time follow 11 members later.
    let members = stat.rsplit(')').next().unwrap_or_default();
    let ticks = members.split_whitespace().skip(11).take(4);
    let ticks: Vec<u64> = ticks.map(|tick| tick.parse().unwrap_or_default()).collect();
    let sum = |of: &[u64]| Duration::from_millis(of.iter().sum::<u64>() * 1000 / TICKS);
    ticks
        .split_at_checked(2)
        .map_or_else(Default::default, |(own, children)| {
            [sum(own), sum(children)]
        })
}
