//! State that remains after a takeover and after an outage: histories, starts of states, and watches.

use std::io::Read as _;
use std::time::{Duration, Instant};

use kindsight_cluster::Cluster;
use serde_json::{Value, json};

use super::{Host, PATIENCE, SHOP, Stage, config_map, wait_for_owner, wait_until};

/// The history of this application.
const HISTORY: &str =
    "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/-/history?limit=1000";

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
