//! Deployment of many applications to two clusters: `serve --lifecycle`, compared with `kubectl apply --server-side` of
//! the same manifests.
//!
//! `cargo bench -p kindsight-tests --bench lifecycle`. `KINDSIGHT_BENCH_APPLICATIONS` is the number of applications. The
//! real API servers, their etcd, and kubectl run on the same machine. kubectl gets the manifests of a cluster as one
//! folder, and both clusters at the same time, which is its quickest use. The host has compiled its interpreters before.

#[path = "lifecycle/host.rs"]
mod host;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options};
use serde_json::{Value, json};

use host::Host;

/// The allocator of the program: memory is measured here.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Applications, unless the environment names another number.
const APPLICATIONS: usize = 100;
/// Resources of each application in each cluster: 30 ConfigMaps, 10 Services and 10 Deployments.
const RESOURCES: usize = 50;
/// Interval of the measurements of memory.
const PERIOD: Duration = Duration::from_millis(250);

fn main() {
    if kindsight_server::is_compiler() {
        let _ = kindsight_interpreter::compile_child();
        return;
    }
    let wanted = [Binary::Etcd, Binary::ApiServer, Binary::Kubectl];
    let Some(binaries) = Binaries::or_skip(&wanted) else {
        return;
    };
    let count = std::env::var("KINDSIGHT_BENCH_APPLICATIONS").ok();
    let count = count.and_then(|text| text.parse().ok());
    let count = count.unwrap_or(APPLICATIONS);
    let etcd = Etcd::start(&binaries);
    let clusters =
        ["edge01", "edge02"].map(|name| Cluster::start(&etcd, &Options::api_server(name)));
    println!("{count} applications of {RESOURCES} resources, to two clusters\n");
    // In turns, because the etcd of the API servers grows.
    for round in 1..=2 {
        let kubectl = by_kubectl(&binaries, &clusters, count, round);
        println!("kubectl    round {round}: {kubectl}");
        let (kindsight, mib) = by_kindsight(&clusters, count, round);
        println!("kindsight  round {round}: {kindsight}, {mib} MiB more memory at most");
    }
}

/// The namespace of a round. Both ways create objects only.
fn namespace(clusters: &[Cluster], way: &str, round: usize) -> String {
    let name = format!("{way}-{round}");
    for cluster in clusters {
        cluster
            .apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    }
    name
}

/// The time of a way, and its time on processors without the API servers and their etcd.
struct Spent {
    time: Duration,
    processors: Duration,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { time, processors } = self;
        write!(f, "{time:>6.1?}, {processors:.1?} of processors")
    }
}

fn by_kubectl(binaries: &Binaries, clusters: &[Cluster], count: usize, round: usize) -> Spent {
    let namespace = namespace(clusters, "kubectl", round);
    let folder = tempfile::tempdir().expect("a folder");
    for application in 0..count {
        let manifests = manifests(&namespace, application);
        let texts: Vec<String> = manifests.iter().map(Value::to_string).collect();
        let path = folder.path().join(format!("{application}.yaml"));
        fs::write(path, texts.join("\n---\n")).expect("a file");
    }
    let kubectl = binaries.path(Binary::Kubectl);
    let before = host::processor_times()[1];
    let began = Instant::now();
    let started: Vec<Child> = clusters
        .iter()
        .map(|cluster| applying(kubectl, cluster, folder.path()))
        .collect();
    for mut child in started {
        let status = child.wait().expect("an exit code");
        assert!(status.success(), "kubectl failed: {status}");
    }
    Spent {
        time: began.elapsed(),
        processors: host::processor_times()[1].saturating_sub(before),
    }
}

fn applying(kubectl: &Path, cluster: &Cluster, folder: &Path) -> Child {
    Command::new(kubectl)
        .arg("--kubeconfig")
        .arg(cluster.kubeconfig())
        .args(["apply", "--server-side", "-f"])
        .arg(folder)
        .stdout(Stdio::null())
        .spawn()
        .expect("kubectl")
}

fn by_kindsight(clusters: &[Cluster; 2], count: usize, round: usize) -> (Spent, u64) {
    let namespace = namespace(clusters, "kindsight", round);
    let host = Host::start(clusters);
    let groups: BTreeMap<String, Value> = (0..count)
        .map(|application| {
            let texts = manifests(&namespace, application);
            let texts: Vec<String> = texts.iter().map(Value::to_string).collect();
            let names = clusters.each_ref().map(host::full_name);
            let app = json!({"name": "front", "clusters": names, "manifests": texts});
            (format!("app-{application}"), json!({"apps": [app]}))
        })
        .collect();
    let before = host::resident_mib();
    let processors = host::processor_times()[0];
    let began = Instant::now();
    for (name, content) in &groups {
        host.put(name, content);
        host.act(name, "approve");
        host.act(name, "instantiate");
    }
    let mut most = before;
    // One group at a time, because the answers have the content of the groups.
    for name in groups.keys() {
        while !host.is_instantiated(name) {
            most = most.max(host::resident_mib());
            std::thread::sleep(PERIOD);
        }
    }
    let spent = Spent {
        time: began.elapsed(),
        processors: host::processor_times()[0].saturating_sub(processors),
    };
    (spent, most.saturating_sub(before))
}

fn manifests(namespace: &str, application: usize) -> Vec<Value> {
    (0..RESOURCES)
        .map(|number| {
            let name = format!("app-{application}-{number}");
            let metadata = json!({"name": name, "namespace": namespace});
            match number % 5 {
                0 => json!({
                    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
                    "spec": {
                        "replicas": 2,
                        "selector": {"matchLabels": {"app": name}},
                        "template": {
                            "metadata": {"labels": {"app": name}},
                            "spec": {"containers": [{
                                "name": "main", "image": "registry.example/front:1.0",
                                "ports": [{"containerPort": 8080}],
                            }]},
                        },
                    },
                }),
                1 => json!({
                    "apiVersion": "v1", "kind": "Service", "metadata": metadata,
                    "spec": {"clusterIP": "None", "selector": {"app": name}, "ports": [{"port": 80}]},
                }),
                _ => json!({
                    "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata,
                    "data": {"settings": "x".repeat(500)},
                }),
            }
        })
        .collect()
}
