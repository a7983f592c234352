//! The audit finds and repairs what watches lost, and finds no drift while objects change.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_cluster::{
    Binaries, Binary, Client, Cluster, Credentials, Etcd, Options, WatchProxy,
};
use kindsight_clusters::{ClusterSource, WatchOptions, kubeconfig_clusters};
use kindsight_server::Settings;
use kindsight_store::RedbStore;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::stage::{NAMESPACE, PATIENCE, SHOP, gone_for, labelled, resources, serve};

/// A cluster behind a proxy that can lose events, and a server that audits it all the time.
struct Stage {
    server: Client,
    proxy: WatchProxy,
    cluster: Cluster,
    _runtime: Runtime,
    _etcd: Etcd,
}

impl Stage {
    fn start() -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::API_SERVER)?;
        let etcd = Etcd::start(&binaries);
        let cluster = Cluster::start(&etcd, &Options::api_server("edge01"));
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        cluster.apply(&namespace);
        let proxy = WatchProxy::start(&cluster);
        let store = Arc::new(RedbStore::in_memory().expect("a store"));
        let (runtime, server) = serve(Settings {
            clusters: vec![source(&cluster, &proxy)],
            timeouts: gone_for(Duration::from_secs(1)),
            audit_interval: Duration::from_millis(20),
            ..Settings::new(store)
        });
        Some(Self {
            server,
            proxy,
            cluster,
            _runtime: runtime,
            _etcd: etcd,
        })
    }

    /// The sum of the series of a metric whose labels contain this text.
    fn metric(&self, name: &str, labels: &str) -> u64 {
        let metrics = self.server.get("/metrics").expect("the metrics");
        let lines = metrics.as_str().expect("a text").lines();
        let lines = lines.filter(|line| line.starts_with(name) && line.contains(labels));
        let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        values.sum()
    }

    fn samples(&self, result: &str) -> u64 {
        let label = format!("result=\"{result}\"");
        self.metric("kindsight_audit_samples_total{", &label)
    }

    fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            let metrics = self.server.get("/metrics");
            assert!(began.elapsed() < PATIENCE, "{what}: {metrics:?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits until the application has these ConfigMaps.
    fn wait_for(&self, names: &[&str]) {
        let is_so = |answer: &Value| {
            let expected = names.iter().map(|name| format!("ConfigMap/{name} Present"));
            let found = resources(answer);
            found.len() == names.len()
                && expected
                    .into_iter()
                    .all(|name| found.iter().any(|line| line.contains(&name)))
        };
        self.wait(&format!("{names:?}"), |stage| {
            stage.server.get(SHOP).is_some_and(|answer| is_so(&answer))
        });
    }
}

fn source(cluster: &Cluster, proxy: &WatchProxy) -> ClusterSource {
    let file = cluster.folder().join("proxy.kubeconfig");
    kindsight_cluster::write_kubeconfig(&file, &[("edge01", cluster, &Credentials::Nobody)]);
    let kubeconfig = std::fs::read_to_string(&file).expect("the kubeconfig");
    let kubeconfig = kubeconfig.replace(cluster.url(), &proxy.url());
    std::fs::write(&file, kubeconfig).expect("the kubeconfig through the proxy");
    let mut clusters = kubeconfig_clusters(&file, None).expect("a kubeconfig");
    let options = WatchOptions {
        // Its last bookmark arrives two seconds before its end.
        watch_lifetime: Duration::from_secs(5),
        ..WatchOptions::default()
    };
    let cluster = clusters.pop().expect("a context").with_options(options);
    ClusterSource::Kubernetes(Box::new(cluster))
}

fn config(name: &str, number: usize) -> Value {
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
        "data": {"number": number.to_string()}});
    labelled(config, "front")
}

fn path(name: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{name}")
}

#[test]
fn lost_events_are_found_and_repaired_and_events_in_flight_are_no_drift() {
    let Some(stage) = Stage::start() else { return };
    let cluster = &stage.cluster;
    cluster.apply(&config("kept", 0));
    cluster.apply(&config("deleted", 0));
    stage.wait_for(&["deleted", "kept"]);
    stage.wait("it is audited", |stage| stage.samples("same") > 5);
    // Objects appear, change and disappear all the time.
    let before = stage.samples("same");
    let number = Cell::new(0);
    stage.wait("it is audited during changes", |stage| {
        for _ in 0..20 {
            change(cluster, number.replace(number.get() + 1));
        }
        stage.samples("same") > before + 300
    });
    assert_eq!(stage.samples("drift"), 0);
    for name in 0..4 {
        cluster.delete(&path(&format!("changing-{name}")));
    }

    for name in ["added", "deleted"] {
        stage.proxy.lose(name);
    }
    cluster.apply(&config("added", 0));
    cluster.delete(&path("deleted"));
    stage.wait("both events are lost", |stage| stage.proxy.lost() >= 2);
    // Later events pass.
    cluster.apply(&config("later", 0));
    stage.wait_for(&["added", "kept", "later"]);
    let drifts = stage.metric("kindsight_audit_drifts_total{", "");
    assert!((1..=2).contains(&drifts), "{drifts}");
    let after = stage.samples("same") + 30;
    stage.wait("it is audited again", |stage| stage.samples("same") > after);
    assert_eq!(stage.metric("kindsight_audit_drifts_total{", ""), drifts);
    assert_eq!(stage.metric("kindsight_cluster_stale{", ""), 0);
}

/// Creates, changes or deletes one of four ConfigMaps.
fn change(cluster: &Cluster, number: usize) {
    let name = format!("changing-{}", number % 4);
    if number % 12 >= 8 {
        cluster.delete(&path(&name));
    } else {
        cluster.apply(&config(&name, number));
    }
}
