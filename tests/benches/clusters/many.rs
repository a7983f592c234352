//! Many clusters at a time. One of them hangs.

use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options};
use serde_json::json;

use crate::host::Host;
use crate::{count, mib, processor_time, resident};

/// The default number of clusters.
const CLUSTERS: usize = 50;

pub(crate) fn run() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let count = count("CLUSTERS", CLUSTERS);
    let etcd = Etcd::start(&binaries);
    let mut clusters: Vec<Cluster> = (0..count)
        .map(|number| Cluster::start(&etcd, &Options::api_server(&format!("edge{number}"))))
        .collect();
    let host = Host::start();
    let before = resident();
    let hanging = clusters.first_mut().expect("at least one cluster");
    hanging.pause();
    let began = Instant::now();
    host.watch(&clusters.iter().collect::<Vec<_>>());
    for cluster in clusters.iter().skip(1) {
        host.wait(cluster, "connected");
    }
    println!(
        "{count} clusters, and one of them hangs: the others are ready after {:.1?}, with {:.0} MiB",
        began.elapsed(),
        mib(resident().saturating_sub(before))
    );
    let busy = processor_time();
    std::thread::sleep(Duration::from_secs(30));
    let busy = processor_time().saturating_sub(busy);
    println!("idle: {:.1} % of a core", 100.0 * busy.as_secs_f64() / 30.0);
    let mut times = Vec::new();
    for cluster in clusters.iter().skip(1).take(20) {
        let began = Instant::now();
        let part_of = format!("of-{}", cluster.name());
        cluster.apply(&json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "settings", "labels": {"app.kubernetes.io/part-of": part_of}},
        }));
        let path =
            format!("/v2/projects/-/composite-apps/{part_of}/-/deployment-intent-groups/-/status");
        while host.client.get(&path).is_none() {
            assert!(began.elapsed() < Duration::from_mins(1), "it is not found");
            std::thread::sleep(Duration::from_millis(5));
        }
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    println!("a first object of an application is answered after {median:.0} ms (median)");
    clusters.first_mut().expect("at least one cluster").resume();
}
