//! Processor time of `kindsight serve` for one changed object, in an application of 10 and of 5,000 objects.
//!
//! Measured from outside, on the threads of the process, so that two releases can be compared in one run:
//! `KINDSIGHT_BENCH_BINARIES=before=/path/kindsight,now=/path/kindsight`. A thread that only reads and parses the
//! events of a watch shows the least processor time that a change can cost on this machine.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::{Client, Cluster, Credentials};
use serde_json::json;

/// Objects of the two applications.
const SIZES: [usize; 2] = [10, 5000];
/// Changes of one measurement.
const CHANGES: u32 = 100;
/// Time between two changes: each is reported alone.
const EVERY: Duration = Duration::from_millis(100);
/// Time until a host has listed the cluster and is idle.
const SETTLE: Duration = Duration::from_secs(20);
const NAMESPACE: &str = "change";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/change/deployments";

/// The change of an object.
#[derive(Clone, Copy)]
enum Change {
    /// Its status, which changes its verdict.
    Status,
    /// An annotation, which changes no verdict.
    Annotation,
}

/// A running `kindsight serve`.
struct Served {
    process: Child,
    address: String,
    _data: tempfile::TempDir,
}

/// Fills the cluster, and measures each binary.
pub(crate) fn run(cluster: &Cluster) {
    fill(cluster);
    let binaries = binaries();
    println!(
        "processor time for one change, in µs (median of 3 times {CHANGES} changes, without the idle time):"
    );
    println!(
        "{:<10} {:>8} {:>12} {:>12} {:>12}",
        "binary", "objects", "status", "with stream", "annotation"
    );
    let bare = bare_watch(cluster);
    for size in SIZES {
        let [status, annotation] = [Change::Status, Change::Annotation]
            .map(|kind| per_change(cluster, size, kind, 0.0, || processor_time(&bare)));
        println!(
            "{:<10} {size:>8} {status:>12.0} {:>12} {annotation:>12.0}",
            "bare watch", ""
        );
    }
    for (name, path) in &binaries {
        let served = Served::start(path, cluster);
        for size in SIZES {
            let time = || served.processor_time();
            let idle = median(|| spent(time, || thread::sleep(EVERY * CHANGES)));
            let status = per_change(cluster, size, Change::Status, idle, time);
            let stream = served.follow(size);
            let followed = per_change(cluster, size, Change::Status, idle, time);
            drop(stream);
            let annotation = per_change(cluster, size, Change::Annotation, idle, time);
            println!("{name:<10} {size:>8} {status:>12.0} {followed:>12.0} {annotation:>12.0}");
        }
    }
}

/// The binaries to measure: by name, from the environment, else the one beside this program.
fn binaries() -> Vec<(String, PathBuf)> {
    let given = std::env::var("KINDSIGHT_BENCH_BINARIES").unwrap_or_default();
    let given = given.split(',').filter_map(|binary| binary.split_once('='));
    let given: Vec<(String, PathBuf)> = given
        .map(|(name, path)| (name.to_owned(), path.into()))
        .collect();
    if !given.is_empty() {
        return given;
    }
    let program = std::env::current_exe().expect("this program");
    let folder = program.ancestors().nth(2).expect("the folder of the build");
    vec![("now".to_owned(), folder.join("kindsight"))]
}

fn fill(cluster: &Cluster) {
    cluster
        .apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}));
    for size in SIZES {
        thread::scope(|scope| {
            for writer in 0..8 {
                scope.spawn(move || {
                    let client = cluster.client();
                    for number in (writer..size).step_by(8) {
                        client.create(DEPLOYMENTS, &deployment(size, number));
                    }
                });
            }
        });
    }
}

fn deployment(size: usize, number: usize) -> serde_json::Value {
    let name = format!("d{size}-{number}");
    let pods = json!({"app": name});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "labels": {
            "app.kubernetes.io/part-of": format!("app-{size}"),
            "app.kubernetes.io/component": "all",
        }},
        "spec": {
            "replicas": 1_000_000, "selector": {"matchLabels": pods},
            "template": {"metadata": {"labels": pods}, "spec": {"containers": [
                {"name": "main", "image": "example.org/main:1"},
            ]}},
        },
    })
}

fn change(cluster: &Cluster, size: usize, number: u32, change: Change) {
    let name = format!("d{size}-{}", number % 10);
    let (path, patch) = match change {
        Change::Status => (
            format!("{DEPLOYMENTS}/{name}/status"),
            json!({"status": {"observedGeneration": 1, "replicas": 1_000_000, "updatedReplicas": 1_000_000,
                "readyReplicas": number, "availableReplicas": number}}),
        ),
        Change::Annotation => (
            format!("{DEPLOYMENTS}/{name}"),
            json!({"metadata": {"annotations": {"example.org/number": number.to_string()}}}),
        ),
    };
    cluster.patch(&path, "application/merge-patch+json", &patch);
}

impl Served {
    fn start(binary: &Path, cluster: &Cluster) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let mut process = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data.path())
            .arg("--kubeconfig")
            .arg(cluster.kubeconfig())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the binary");
        let mut lines = BufReader::new(process.stderr.take().expect("its log")).lines();
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("http://")?;
            rest.split(' ').next().map(str::to_owned)
        });
        thread::spawn(move || lines.for_each(drop));
        let served = Self {
            process,
            address: address.expect("its address"),
            _data: data,
        };
        served.wait_until_ready();
        thread::sleep(SETTLE);
        served
    }

    fn wait_until_ready(&self) {
        let client = Client::new(
            &format!("http://{}", self.address),
            None,
            &Credentials::Nobody,
        );
        let began = Instant::now();
        loop {
            let clusters = client.get("/v2/clusters");
            let connection = clusters
                .as_ref()
                .map(|found| &found["clusters"][0]["connection"]);
            if connection.is_some_and(|connection| connection == "connected") {
                return;
            }
            assert!(began.elapsed() < Duration::from_mins(3), "not connected");
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Processor time of all threads so far, in µs.
    fn processor_time(&self) -> f64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process.id()));
        let tasks = tasks.expect("its threads").filter_map(Result::ok);
        tasks.map(|task| processor_time(&task.path())).sum()
    }

    /// A client that follows the status of an application; ends when it is dropped.
    fn follow(&self, size: usize) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let path = format!(
            "/v2/projects/-/composite-apps/app-{size}/-/deployment-intent-groups/-/status/watch"
        );
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut reader = stream.try_clone().expect("the connection");
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while reader.read(&mut buffer).is_ok_and(|read| read > 0) {}
        });
        thread::sleep(Duration::from_secs(2));
        stream
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Processor time for each change, in µs. `time` is the processor time so far.
fn per_change(
    cluster: &Cluster,
    size: usize,
    kind: Change,
    idle: f64,
    time: impl Fn() -> f64,
) -> f64 {
    let mut number = 0;
    let busy = median(|| {
        spent(&time, || {
            for _ in 0..CHANGES {
                let began = Instant::now();
                number += 1;
                change(cluster, size, number, kind);
                thread::sleep(EVERY.saturating_sub(began.elapsed()));
            }
        })
    });
    (busy - idle) / f64::from(CHANGES)
}

/// The difference of a processor time before and after some work.
fn spent(time: impl Fn() -> f64, work: impl FnOnce()) -> f64 {
    let before = time();
    work();
    time() - before
}

/// Processor time of one thread so far, in µs. The thread may have ended.
fn processor_time(task: &Path) -> f64 {
    let text = std::fs::read_to_string(task.join("schedstat")).unwrap_or_default();
    let time = text.split(' ').next().and_then(|time| time.parse().ok());
    time.unwrap_or(0.0) / 1000.0
}

/// Starts a thread that reads and parses the events of a watch of all Deployments, and waits until it is connected.
/// Returns the folder of the thread below `/proc`.
fn bare_watch(cluster: &Cluster) -> PathBuf {
    let client = cluster.client().with_timeout(Duration::from_hours(1));
    let events = client.stream("/apis/apps/v1/deployments?watch=true");
    let (task_tx, task_rx) = channel();
    thread::spawn(move || {
        let task = std::fs::read_link("/proc/thread-self").expect("this thread");
        task_tx
            .send(Path::new("/proc").join(task))
            .expect("the bench waits");
        for line in BufReader::new(events).lines().map_while(Result::ok) {
            let _: serde_json::Value = serde_json::from_str(&line).expect("an event");
        }
    });
    let task = task_rx.recv().expect("the thread runs");
    // The watch begins with all objects.
    thread::sleep(SETTLE);
    task
}

/// The median of three measurements.
fn median(mut measure: impl FnMut() -> f64) -> f64 {
    let mut times = [measure(), measure(), measure()];
    times.sort_by(f64::total_cmp);
    times[1]
}
