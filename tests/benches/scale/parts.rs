//! The parts of the measurement.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use kindsight_simulator::Simulator;

use crate::arguments::Arguments;
use crate::host::Hosts;
use crate::measured::{Usage, mib, ratio};
use crate::queries::{applications, beside, status, summaries};

/// Time after which a state is stable, and memory of the past is returned.
const SETTLE: Duration = Duration::from_secs(20);
/// Requests of each cluster that are refused during the wave.
const BUSY: u32 = 30;
/// The name of the interpreter that is swapped.
const SWAPPED: &str = "scale";

/// Waits until all objects are known. Returns their number as the server counts them.
pub(crate) fn ready(simulator: &Simulator, hosts: &Hosts, empty: Usage) -> u64 {
    let clusters = simulator.clusters().len();
    let objects: u64 = simulator
        .clusters()
        .iter()
        .map(|cluster| u64::from(cluster.seed().objects()))
        .sum();
    let before = hosts.usage();
    let time = hosts.wait("all clusters are connected", |hosts| {
        hosts.know(clusters, objects)
    });
    let now = hosts.usage();
    println!(
        "{clusters} clusters, {objects} objects: ready after {time:.1?} with {:.1} s of processor time ({:.0} µs for each object), {:.0} MiB",
        now.seconds_since(before),
        now.seconds_since(before) * 1e6 / as_f64(objects.max(1)),
        mib(now.memory)
    );
    thread::sleep(SETTLE);
    let settled = hosts.usage().memory_above(empty);
    println!(
        "memory {SETTLE:?} later: {:.0} MiB above {:.0} MiB of an empty server: {:.0} KiB for each cluster, {:.1} KiB for each object",
        mib(settled),
        mib(empty.memory),
        ratio(settled, clusters as u64 * 1024),
        ratio(settled, objects * 1024)
    );
    for (number, usage) in hosts.usages().into_iter().enumerate() {
        println!(
            "  server {number}: {:.0} MiB, {:.1?} of processor time",
            mib(usage.memory),
            usage.time
        );
    }
    hosts.objects()
}

/// Follows each application, so that each cluster is awaited, until the streams are dropped.
pub(crate) fn streams(simulator: &Simulator, hosts: &Hosts) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for application in applications(simulator) {
        let mut stream = TcpStream::connect(hosts.address()).expect("a connection");
        let path = format!("{}/watch?output=summary", status(&application));
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut reader = stream.try_clone().expect("the connection");
        let reading = move || {
            let mut buffer = vec![0; 1 << 12];
            while reader.read(&mut buffer).is_ok_and(|read| read > 0) {}
        };
        let thread = thread::Builder::new().stack_size(64 * 1024);
        thread.spawn(reading).expect("a thread");
        streams.push(stream);
    }
    println!("{} streams are open", streams.len());
    streams
}

/// Processor time while nothing changes.
pub(crate) fn idle(arguments: &Arguments, hosts: &Hosts) {
    let (before, began) = (hosts.usage(), Instant::now());
    thread::sleep(Duration::from_secs(arguments.seconds.into()));
    let share = hosts.usage().seconds_since(before) / began.elapsed().as_secs_f64() * 100.0;
    println!(
        "idle: {share:.2} % of a core, {:.2} % for each 100 clusters",
        share * 100.0 / f64::from(arguments.clusters)
    );
}

/// Processor time while statuses change.
pub(crate) fn changes(arguments: &Arguments, simulator: &Simulator, hosts: &Hosts) {
    let time = Duration::from_secs(arguments.seconds.into());
    let (before, began) = (hosts.usage(), Instant::now());
    println!("{} changes a second:", arguments.rate);
    let number = beside(hosts.address(), &summaries(simulator), || {
        simulator.change_for(time, arguments.rate)
    });
    let (used, took) = (hosts.usage(), began.elapsed().as_secs_f64());
    let seconds = used.seconds_since(before);
    println!(
        "  {number} changes in {took:.1} s: {:.0} % of a core, {:.0} µs for each change, {:.0} MiB",
        seconds / took * 100.0,
        seconds * 1e6 / as_f64(number.max(1)),
        mib(used.memory)
    );
}

/// Latency of queries while all clusters reconnect.
pub(crate) fn wave(simulator: &Simulator, hosts: &Hosts, objects: u64) {
    let clusters = simulator.clusters();
    // Each watch needs a new request, so a cluster whose watches have not ended yet does not count.
    let watches = clusters
        .iter()
        .map(|cluster| (cluster.watches(), cluster.requests()));
    let watches: Vec<(u64, u64)> = watches.collect();
    let before = hosts.usage();
    println!("all clusters reconnect:");
    let time = beside(hosts.address(), &summaries(simulator), || {
        simulator.reconnect_wave(BUSY);
        let began = Instant::now();
        hosts.wait("all Kinds are watched again", |_| {
            let mut clusters = clusters.iter().zip(&watches);
            clusters.all(|(cluster, (watches, requests))| {
                cluster.watches() >= *watches && cluster.requests() >= requests + watches
            })
        });
        hosts.wait("all clusters are connected again", |hosts| {
            hosts.know(clusters.len(), objects)
        });
        began.elapsed()
    });
    let used = hosts.usage();
    println!(
        "  complete after {time:.1?} with {:.1} s of processor time, {:.0} MiB",
        used.seconds_since(before),
        mib(used.memory)
    );
}

/// Latency of queries while an interpreter is swapped for seven of eight objects.
pub(crate) fn swap(simulator: &Simulator, hosts: &Hosts) {
    let description = serde_json::json!({"name": SWAPPED, "kinds": [
        ["apps", "v1", "Deployment"], ["apps", "v1", "ReplicaSet"], ["", "v1", "Pod"], ["", "v1", "Service"],
        ["discovery.k8s.io", "v1", "EndpointSlice"], ["sim.example.org", "v1", "Widget"],
    ]});
    let component = kindsight_tests::hostile(&description.to_string());
    let before = hosts.usage();
    println!("one interpreter is swapped:");
    let names = applications(simulator);
    let time = beside(hosts.address(), &summaries(simulator), || {
        let began = Instant::now();
        upload(hosts, &component);
        for name in names.iter().rev() {
            hosts.wait("all verdicts are of the new interpreter", |hosts| {
                is_swapped(hosts, name)
            });
        }
        began.elapsed()
    });
    let used = hosts.usage();
    println!(
        "  complete after {time:.1?} with {:.1} s of processor time, {:.0} MiB",
        used.seconds_since(before),
        mib(used.memory)
    );
}

/// Returns whether the Deployments of an application have verdicts of the new interpreter.
fn is_swapped(hosts: &Hosts, application: &str) -> bool {
    let path = format!("{}?explain=true", status(application));
    let answer = hosts.client().get(&path).unwrap_or_default();
    let text = answer.to_string();
    text.contains(&format!("\"name\":\"{SWAPPED}\""))
}

fn upload(hosts: &Hosts, component: &[u8]) {
    let mut stream = TcpStream::connect(hosts.address()).expect("a connection");
    let head = format!(
        "PUT /v2/interpreters/{SWAPPED} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/wasm\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        component.len()
    );
    stream.write_all(head.as_bytes()).expect("a head");
    stream.write_all(component).expect("a component");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn as_f64(number: u64) -> f64 {
    number as f64
}
