//! Hosts that share clusters over one etcd.

use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options, write_kubeconfig};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::process::Server;

/// Timeout for any change. The aims are 10 s for an owner and 60 s for current data.
const PATIENCE: Duration = Duration::from_mins(2);
/// The application of all clusters.
const SHOP: &str = "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/-/status";

/// The history of this application.
const HISTORY: &str =
    "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/-/history?limit=1000";

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
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let name = listener.local_addr().unwrap().to_string();
        drop(listener);
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

/// A Deployment without a controller: its status is what a test writes.
fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "labels": {"app.kubernetes.io/part-of": "shop"}},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "c"}]},
            },
        },
    })
}

/// Writes a status without times, so that only the hosts know since when it is so.
fn set_ready(cluster: &Cluster, name: &str, is_ready: bool) {
    let path = format!("/apis/apps/v1/namespaces/default/deployments/{name}");
    let generation = cluster.get(&path).unwrap()["metadata"]["generation"].clone();
    let ready = i32::from(is_ready);
    let status = if is_ready { "True" } else { "False" };
    let status = json!({"status": {
        "observedGeneration": generation, "replicas": 1, "updatedReplicas": 1,
        "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": 1 - ready,
        "conditions": [
            {"type": "Available", "status": status, "reason": "R", "message": "m"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable", "message": "m"},
        ],
    }});
    let media_type = "application/merge-patch+json";
    cluster.patch(&format!("{path}/status"), media_type, &status);
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

impl Host {
    /// The history of the application without ids, because each host has its own ids. Sorted, because changes of two
    /// clusters may reach two hosts in another order.
    fn history(&self) -> Vec<String> {
        let (status, answer) = self.server.get(HISTORY);
        assert_eq!(status, 200, "{answer}");
        let transitions = answer["transitions"].as_array().unwrap().iter();
        let transitions = transitions.map(|transition| {
            let mut transition = transition.clone();
            transition.as_object_mut().unwrap().remove("id");
            transition.to_string()
        });
        let mut transitions: Vec<String> = transitions.collect();
        transitions.sort();
        transitions
    }

    /// Start and state of each Deployment, and the start of the state of the application.
    fn starts(&self) -> Vec<String> {
        let answer = self.server.get(&format!("{SHOP}?type=cluster")).1;
        let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut starts = Vec::new();
        for app in items(&answer["apps"]) {
            for cluster in items(&app["clusters"]) {
                for resource in items(&cluster["resources"]) {
                    let since = &resource["since"];
                    let (name, state) = (&resource["name"], &resource["cluster-status"]);
                    starts.push(format!("{} {name} {state} {since}", cluster["cluster"]));
                }
            }
        }
        let listed = self.server.get("/v2/applications").1;
        let shop = items(&listed["applications"])
            .into_iter()
            .find(|it| it.to_string().contains("shop"));
        starts.push(format!("{}", shop.unwrap()["since"]));
        starts
    }
}

/// Number of lists of Deployments that an API server has answered, of both forms: as a list and as a stream. An API server
/// without controllers does not list Deployments itself.
fn lists(cluster: &Cluster) -> f64 {
    let mut metrics = String::new();
    cluster
        .client()
        .stream("/metrics")
        .read_to_string(&mut metrics)
        .unwrap();
    let is_list = |line: &&str| {
        let of = line.contains("resource=\"deployments\"");
        let as_list = line.starts_with("apiserver_request_total") && line.contains("verb=\"LIST\"");
        of && (as_list || line.starts_with("apiserver_init_events_total"))
    };
    let counts = metrics.lines().filter(is_list);
    let counts = counts.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap());
    counts.sum()
}

/// Waits until two hosts show the same history and starts. Returns both.
fn wait_for_same(one: &Host, other: &Host) -> (Vec<String>, Vec<String>) {
    let shown = |host: &Host| (host.history(), host.starts());
    let begin = Instant::now();
    loop {
        let (first, second) = (shown(one), shown(other));
        if first == second {
            return first;
        }
        assert!(
            begin.elapsed() < PATIENCE,
            "{}: {first:#?}\n{}: {second:#?}",
            one.name,
            other.name
        );
        std::thread::sleep(Duration::from_millis(200));
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

#[test]
fn histories_and_the_starts_of_states_move_with_the_lease() {
    let Some(stage) = Stage::start() else {
        return;
    };
    let mut hosts: Vec<Host> = ["a", "b"].map(|data| stage.host(data)).into();
    let states = [true, false, true];
    for cluster in &stage.clusters {
        wait_for_owner(&hosts, cluster.name());
        let name = format!("web-{}", cluster.name());
        cluster.apply(&deployment(&name));
        for is_ready in states {
            set_ready(cluster, &name, is_ready);
            let is_so = |host: &Host| {
                let starts = host.starts();
                let shown = starts.iter().find(|it| it.contains(&name));
                shown.is_some_and(|it| it.contains("\"Ready\"") == is_ready)
            };
            wait_until("a state is not shown", || hosts.iter().all(is_so));
        }
    }
    let before = wait_for_same(&hosts[0], &hosts[1]);
    assert!(before.0.len() > states.len() * 2, "{before:#?}");
    // A host that starts late.
    let late = stage.host("c");
    assert_eq!(wait_for_same(&hosts[0], &late), before);
    hosts.push(late);
    // Each cluster passes to another host, until one host is left.
    while hosts.len() > 1 {
        let killed = hosts.remove(wait_for_owner(&hosts, "one"));
        killed.server.kill();
        for cluster in ["one", "two"] {
            wait_for_owner(&hosts, cluster);
        }
        for host in &hosts {
            wait_until("a host does not show current data", || {
                host.shop().iter().all(|it| !it.ends_with("stale"))
            });
            assert_eq!((host.history(), host.starts()), before, "{}", host.name);
        }
    }
}

#[test]
fn hosts_continue_their_clusters_after_an_outage_of_the_etcd() {
    let Some(mut stage) = Stage::start() else {
        return;
    };
    for cluster in &stage.clusters {
        let mut other = deployment("other");
        other["metadata"]["labels"] = json!({"app.kubernetes.io/part-of": "other"});
        cluster.apply(&other);
    }
    let hosts: Vec<Host> = ["a", "b"].map(|data| stage.host(data)).into();
    for cluster in ["one", "two"] {
        wait_for_owner(&hosts, cluster);
    }
    let all = |names: &[&str]| hosts.iter().all(|host| host.shop() == names);
    wait_until("a host does not show all clusters", || {
        all(&["first-one", "first-two"])
    });
    let owners = ["one", "two"].map(|cluster| wait_for_owner(&hosts, cluster));
    let before = stage.clusters.each_ref().map(lists);
    stage.etcd.pause();
    let paused = Instant::now();
    let stale = wait_until("the clusters do not become stale", || {
        let is_stale = |host: &Host| {
            let is_stale = |cluster: &&str| host.shown(cluster).connection == "stale";
            ["one", "two"].iter().all(is_stale)
                && host.shop() == ["first-one stale", "first-two stale"]
        };
        hosts.iter().all(is_stale)
    });
    println!("etcd away: stale after {stale:.1?}");
    let cause = hosts[owners[0]].server.get("/v2/clusters").1.to_string();
    assert!(cause.contains("has lost its leases"), "{cause}");
    // A change during the outage is not published before a host owns the cluster again.
    for (at, cluster) in stage.clusters.iter().enumerate() {
        cluster.apply(&config_map(&format!("second-{}", ["one", "two"][at])));
    }
    let begin = Instant::now();
    while paused.elapsed() < Duration::from_secs(15) || begin.elapsed() < Duration::from_secs(3) {
        for host in &hosts {
            let shop = host.shop();
            assert_eq!(
                shop,
                ["first-one stale", "first-two stale"],
                "{}",
                host.name
            );
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    stage.etcd.resume();
    let current = wait_until("the clusters do not become current", || {
        all(&["first-one", "first-two", "second-one", "second-two"])
    });
    println!("etcd is back: current after {current:.1?}");
    let now = ["one", "two"].map(|cluster| wait_for_owner(&hosts, cluster));
    println!("owners before {owners:?} and after {now:?}");
    let after = stage.clusters.each_ref().map(lists);
    println!("lists before {before:?} and after {after:?}");
    for at in [0, 1] {
        // On a very slow machine, another host may be faster, or the sources end after a minute.
        if now[at] == owners[at] && paused.elapsed() < Duration::from_mins(1) {
            assert!(after[at] <= before[at], "the cluster was listed again");
        }
    }
    // Another host lists a cluster, and the count shows it.
    let mut hosts = hosts;
    hosts.remove(now[0]).server.kill();
    wait_for_owner(&hosts, "one");
    assert!(lists(&stage.clusters[0]) > after[0]);
}
