//! Hosts that share clusters over one etcd.

mod continued;

use std::path::Path;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options, write_kubeconfig};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::process::{Server, free_address};

/// Timeout for any change. The aims are 10 s for an owner and 60 s for current data.
const PATIENCE: Duration = Duration::from_mins(2);
/// The application of all clusters.
const SHOP: &str = "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/-/status";

/// API servers with an etcd of their own, and an etcd that hosts share.
struct Stage {
    etcd: Etcd,
    /// The etcd of the API servers.
    _objects: Etcd,
    clusters: [Cluster; 2],
    folder: tempfile::TempDir,
}

/// A host with its name.
struct Host {
    name: String,
    server: Server,
}

/// A cluster in the answer of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    connection: String,
    owner: String,
    lease: u64,
}

impl Stage {
    fn start() -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::API_SERVER)?;
        let [etcd, objects] = [(); 2].map(|()| Etcd::start(&binaries));
        let clusters =
            ["one", "two"].map(|name| Cluster::start(&objects, &Options::api_server(name)));
        for cluster in &clusters {
            cluster.apply(&config_map(&format!("first-{}", cluster.name())));
        }
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = &clusters;
        let contexts = [("one", one, one.admin()), ("two", two, two.admin())];
        write_kubeconfig(&folder.path().join("kubeconfig"), &contexts);
        Some(Self {
            etcd,
            _objects: objects,
            clusters,
            folder,
        })
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn host(&self, data: &str) -> Host {
        let name = free_address();
        let server = start(
            &name,
            &self.path(data),
            &self.etcd,
            &self.path("kubeconfig"),
        );
        Host { name, server }
    }
}

fn start(address: &str, data: &Path, etcd: &Etcd, kubeconfig: &Path) -> Server {
    let store = etcd.url().replace("http://", "etcd://");
    let kubeconfig = kubeconfig.display().to_string();
    let url = format!("http://{address}");
    let more = [
        "--store",
        &store,
        "--kubeconfig",
        &kubeconfig,
        "--share-clusters",
        &url,
        // A test counts lists.
        "--audit-interval",
        "0s",
    ];
    Server::start_on(address, data, &[], &more)
}

fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": {"app.kubernetes.io/part-of": "shop"}},
    })
}

fn signal(host: &Host, signal: Signal) {
    let pid = i32::try_from(host.server.pid()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

impl Host {
    fn shown(&self, cluster: &str) -> Shown {
        let answer = self.server.get("/v2/clusters").1;
        let mut clusters = answer["clusters"].as_array().unwrap().iter();
        let cluster = clusters.find(|it| it["cluster"] == cluster).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Shown {
            connection: text(&cluster["connection"]),
            owner: text(&cluster["owner"]["host"]),
            lease: cluster["owner"]["lease"].as_u64().unwrap_or_default(),
        }
    }

    /// Returns whether the host watches a cluster, and has listed it.
    fn watches(&self, cluster: &str) -> bool {
        let shown = self.shown(cluster);
        shown.owner == self.name && shown.connection == "connected"
    }

    /// The ConfigMaps of the application, with `stale` for the clusters whose data may be out of date.
    fn shop(&self) -> Vec<String> {
        let answer = self.server.get(SHOP).1;
        let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut found = Vec::new();
        for app in items(&answer["apps"]) {
            for cluster in items(&app["clusters"]) {
                let is_stale = cluster["stale-since"].is_string();
                for resource in items(&cluster["resources"]) {
                    let name = resource["name"].as_str().unwrap_or_default();
                    let stale = if is_stale { " stale" } else { "" };
                    found.push(format!("{name}{stale}"));
                }
            }
        }
        found.sort();
        found
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
    begin.elapsed()
}

/// The position of the host that watches a cluster.
fn owner(hosts: &[Host], cluster: &str) -> Option<usize> {
    hosts.iter().position(|host| host.watches(cluster))
}

/// Waits until one host watches a cluster, and returns its position.
fn wait_for_owner(hosts: &[Host], cluster: &str) -> usize {
    let mut found = None;
    wait_until(&format!("no host watches {cluster}"), || {
        found = owner(hosts, cluster);
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn the_clusters_of_a_killed_and_of_a_paused_host_pass_to_others() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let mut hosts: Vec<Host> = ["a", "b", "c"].map(|data| stage.host(data)).into();
    for cluster in ["one", "two"] {
        wait_for_owner(&hosts, cluster);
        let watching = hosts.iter().filter(|host| host.watches(cluster)).count();
        assert_eq!(watching, 1, "{cluster}");
    }
    // Each host answers for all clusters.
    for host in &hosts {
        wait_until("a host does not show all clusters", || {
            host.shop() == ["first-one", "first-two"]
        });
    }
    kill_owner(&mut hosts, "one");
    let paused = pause_owner(&stage, &mut hosts);
    // The host joins again, and a stopped host passes its clusters on at once.
    hosts.push(paused);
    wait_for_owner(&hosts, "two");
    let stopped = hosts.remove(0);
    assert!(stopped.server.stop());
    for cluster in ["one", "two"] {
        wait_until("the last host does not watch all clusters", || {
            hosts[0].watches(cluster)
        });
    }
    wait_until("the last host does not show all clusters", || {
        hosts[0].shop() == ["first-one", "first-two", "second-two"]
    });
    let leases = stage.etcd.keys().dump("/kindsight/leases/");
    assert_eq!(
        leases.len(),
        4,
        "the keys of one host and of two clusters: {leases:?}"
    );
}

/// Kills the host that watches a cluster, and waits until another host shows current data of the cluster.
fn kill_owner(hosts: &mut Vec<Host>, cluster: &str) {
    let killed = hosts.remove(wait_for_owner(hosts, cluster));
    let before = killed.shown(cluster).lease;
    killed.server.kill();
    let is_owned = |host: &Host| host.shown(cluster).owner == host.name;
    let owned = wait_until("no host takes the cluster", || hosts.iter().any(is_owned));
    let successor = &hosts[wait_for_owner(hosts, cluster)];
    let first = format!("first-{cluster}");
    let current = owned + wait_until("stale", || successor.shop().contains(&first));
    assert!(successor.shown(cluster).lease > before);
    println!("killed: owned after {owned:.1?}, current after {current:.1?}");
}

/// Pauses the host that watches the second cluster until the other host has taken the cluster over. The paused host then
/// never replaces the data of its successor. Returns the paused host.
fn pause_owner(stage: &Stage, hosts: &mut Vec<Host>) -> Host {
    let paused = hosts.remove(wait_for_owner(hosts, "two"));
    let lease = paused.shown("two").lease;
    signal(&paused, Signal::STOP);
    let [other] = &hosts[..] else {
        panic!("two hosts are left");
    };
    let taken = wait_until("the cluster is not taken over", || other.watches("two"));
    println!("paused: current after {taken:.1?}");
    let successor = other.shown("two").lease;
    assert!(successor > lease);
    stage.clusters[1].apply(&config_map("second-two"));
    wait_until("the change is not shown", || {
        other.shop().contains(&"second-two".to_owned())
    });
    signal(&paused, Signal::CONT);
    let is_old = || {
        let shown = paused.shown("two");
        shown.owner == paused.name && shown.connection == "connected" && shown.lease <= successor
    };
    let noticed = wait_until("it does not notice the end of its lease", || !is_old());
    println!("paused: noticed {noticed:.1?} after it continued");
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(3) {
        assert!(!is_old(), "it publishes under its old lease");
        let shop = other.shop();
        assert!(
            shop.iter().any(|name| name.starts_with("second-two")),
            "{shop:?}"
        );
    }
    paused
}
