//! Servers that share an etcd.

use std::fs;

use kindsight_cluster::{Binaries, Binary, Etcd};

use super::{CLUSTERS, GROUP, NAME, Stage, wait_until};
use crate::process::Server;

/// A server with its own data folder.
fn start(stage: &Stage, etcd: &Etcd, data: &str) -> Server {
    let clusters = CLUSTERS.map(|name| format!("lab+{name}={}", stage.path(name).display()));
    let store = etcd.url().replace("http://", "etcd://");
    let more = ["--lifecycle", "--store", &store];
    Server::start_with(&stage.path(data), &clusters, &more)
}

fn wait_for(server: &Server, status: &str) {
    wait_until(&format!("the instance is not {status}"), || {
        let group = server.get(GROUP).1;
        group["lifecycle"]["instance-status"] == status && group["lifecycle"]["running"] == false
    });
}

#[test]
fn servers_that_share_an_etcd_continue_the_work_of_each_other() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let stage = Stage::new();
    let etcd = Etcd::start(&binaries);
    let first = start(&stage, &etcd, "first");
    let second = start(&stage, &etcd, "second");
    stage.create(&first);
    // The second server sends, and the first one asks it to stop with an action of its own.
    stage.succeed(&second, &["instantiate", NAME]);
    stage.succeed(&first, &["terminate", NAME]);
    wait_for(&first, "Terminated");
    for cluster in CLUSTERS {
        assert!(stage.manifests(cluster).is_empty(), "{cluster}");
    }
    // A killed server keeps its lease for some seconds.
    stage.succeed(&second, &["instantiate", NAME]);
    drop(second);
    let third = start(&stage, &etcd, "third");
    wait_for(&third, "Instantiated");
    wait_for(&first, "Instantiated");
    for cluster in CLUSTERS {
        assert_eq!(stage.manifests(cluster).len(), 21, "{cluster}");
    }
    let leases = || etcd.keys().dump("/kindsight/leases/");
    wait_until("a lease is left", || leases().is_empty());
}

#[test]
fn a_running_server_continues_the_work_of_a_killed_one() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let stage = Stage::new();
    let application = "project: shop\ncomposite-app: web\nversion: v1\ndeployment-intent-group: prod\napps:\n- name: front\n  clusters: [lab+edge01]\n  manifests: [front.yaml]\n- name: back\n  clusters: [lab+edge02]\n  manifests: [front.yaml]\n  depends-on: [{app: front, status: ready}]\n";
    fs::write(stage.path("app.yaml"), application).unwrap();
    let etcd = Etcd::start(&binaries);
    let first = start(&stage, &etcd, "first");
    let second = start(&stage, &etcd, "second");
    stage.create(&first);
    stage.succeed(&second, &["instantiate", NAME]);
    // The second server keeps its lease while a resource waits.
    wait_until("no resource waits", || {
        let problems = first.get(GROUP).1["problems"].to_string();
        problems.contains("it waits until the app front is ready")
    });
    assert_eq!(etcd.keys().dump("/kindsight/leases/").len(), 1);
    second.kill();
    stage.report("edge01");
    wait_for(&first, "Instantiated");
    assert_eq!(stage.manifests("edge02").len(), 21);
}
