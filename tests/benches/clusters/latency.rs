//! Time from a change in a cluster to the answer on the stream of an application, compared with a bare watch.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::Cluster;
use serde_json::{Value, json};

use crate::fill::{APPLICATIONS, DEPLOYMENTS, REPLICAS};
use crate::host::Host;

/// Time between two changes.
const EVERY: Duration = Duration::from_millis(10);
/// Time for which objects change.
const LASTS: Duration = Duration::from_mins(1);
/// Deployments of the application that change, one after the other.
const CHANGING: usize = 50;
/// Clients on the stream at a time.
const CROWD: usize = 1000;

/// The stream of the application that changes.
const STREAM: &str =
    "/v2/projects/-/composite-apps/app-0/-/deployment-intent-groups/-/status/watch";

/// Arrivals by the number of the change that arrived.
type Arrivals = Receiver<(usize, Instant)>;

/// Changes objects for a minute, and prints when the changes arrive.
pub(crate) fn run(cluster: &Cluster, host: &Host) {
    let told = on_stream(host);
    let bare = on_watch(cluster);
    // Both followers must be connected before the first change.
    thread::sleep(Duration::from_secs(2));
    let mut sent = HashMap::new();
    let began = Instant::now();
    let mut number = 1;
    while began.elapsed() < LASTS {
        let at = began + EVERY * u32::try_from(number).unwrap_or(u32::MAX);
        thread::sleep(at.saturating_duration_since(Instant::now()));
        sent.insert(number, Instant::now());
        change(cluster, number);
        number += 1;
    }
    thread::sleep(Duration::from_secs(2));
    println!("{} changes in {LASTS:?}, from the request to:", sent.len());
    for (what, arrivals) in [("a bare watch", bare), ("the stream of the host", told)] {
        let mut times: Vec<f64> = arrivals
            .try_iter()
            .filter_map(|(number, at)| {
                Some(at.duration_since(*sent.get(&number)?).as_secs_f64() * 1000.0)
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!(
            "  {what:<24} {:>6} arrived, p50 {:>6.1} ms, p99 {:>6.1} ms",
            times.len(),
            quantile(&times, 50),
            quantile(&times, 99)
        );
    }
}

/// Connects many clients to the stream, and prints when the last client receives a change.
pub(crate) fn crowd(cluster: &Cluster, host: &Host) {
    let clients: Vec<Arrivals> = (0..CROWD).map(|_| on_stream(host)).collect();
    thread::sleep(Duration::from_secs(5));
    let mut slowest = Vec::new();
    for number in 500_001..500_011 {
        let began = Instant::now();
        change(cluster, number);
        let mut last = began;
        for client in &clients {
            loop {
                let (received, at) = client
                    .recv_timeout(Duration::from_mins(1))
                    .expect("the client receives the change");
                last = last.max(at);
                if received == number {
                    break;
                }
            }
        }
        slowest.push(last.duration_since(began).as_secs_f64() * 1000.0);
    }
    slowest.sort_by(f64::total_cmp);
    println!(
        "{CROWD} clients on the stream: the last client receives a change after {:.0} ms (median of {}), {:.0} ms at most",
        quantile(&slowest, 50),
        slowest.len(),
        quantile(&slowest, 100)
    );
}

/// Makes one change, with its number in it.
pub(crate) fn change(cluster: &Cluster, number: usize) {
    let name = format!("d{}", number % CHANGING * 2 * APPLICATIONS);
    let status = json!({"status": {
        "observedGeneration": 1, "replicas": REPLICAS, "updatedReplicas": REPLICAS,
        "readyReplicas": number, "availableReplicas": number,
    }});
    let path = format!("/{DEPLOYMENTS}/{name}/status");
    cluster.patch(&path, "application/merge-patch+json", &status);
}

/// Follows the application on the host.
fn on_stream(host: &Host) -> Arrivals {
    let mut stream = TcpStream::connect(host.address).expect("a connection");
    let request =
        format!("GET {STREAM} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("a request");
    follow(stream, |line| {
        // Every verdict on a Deployment has the number of its replicas in its message.
        let mut found: Vec<usize> = Vec::new();
        let mut rest = line;
        while let Some((_, after)) = rest.split_once("\"message\":\"") {
            found.extend(
                after
                    .split(' ')
                    .next()
                    .and_then(|text| text.parse::<usize>().ok()),
            );
            rest = after;
        }
        found
    })
}

/// Follows the Deployments on the API server, as `kubectl get --watch` does.
fn on_watch(cluster: &Cluster) -> Arrivals {
    let client = cluster.client().with_timeout(Duration::from_mins(10));
    let path = format!("/{DEPLOYMENTS}?watch=1&labelSelector=app.kubernetes.io%2Fpart-of=app-0");
    follow(client.stream(&path), |line| {
        let event: Value = serde_json::from_str(line).unwrap_or_default();
        let ready = event["object"]["status"]["readyReplicas"].as_u64();
        ready
            .and_then(|count| usize::try_from(count).ok())
            .into_iter()
            .collect()
    })
}

fn follow(
    body: impl Read + Send + 'static,
    numbers: impl Fn(&str) -> Vec<usize> + Send + 'static,
) -> Arrivals {
    let (arrived, arrivals) = channel();
    let following = move || {
        let mut seen = std::collections::HashSet::new();
        for line in BufReader::new(body).lines().map_while(Result::ok) {
            let at = Instant::now();
            for number in numbers(&line) {
                // Only the first line with this number counts.
                if seen.insert(number) && arrived.send((number, at)).is_err() {
                    return;
                }
            }
        }
    };
    let thread = thread::Builder::new().stack_size(256 * 1024);
    thread.spawn(following).expect("a thread");
    arrivals
}

/// The value that `percent` percent of the values do not exceed; zero for an empty list.
fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}
