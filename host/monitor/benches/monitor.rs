//! The monitor at load: processor time, memory, writes and bytes per second, and the time from a change of an object to
//! the ResourceBundleState.
//!
//! `cargo bench -p kindsight-monitor --bench monitor`, with `KINDSIGHT_MONITOR_APPS` (20) and `KINDSIGHT_MONITOR_SECONDS`
//! (60). Each app has 50 resources, and each resource changes once in ten seconds.

#[path = "../tests/monitor/apps.rs"]
mod apps;
#[path = "../../../tests/tests/common/code_cache.rs"]
mod code_cache;
#[path = "../tests/monitor/server.rs"]
mod server;
#[path = "../tests/monitor/stage.rs"]
#[expect(dead_code, reason = "the tests need more of it")]
mod stage;

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::Client;

use kindsight_model::ReportMode;
use serde_json::Value;
use tempfile::TempDir;

use apps::{CHANGED, Changes, NAMESPACE, apply, deployment, now_ms, number};
use server::{CLUSTER, View};
use stage::{Monitor, STATES, Stage, Usage, config_map, namespace, wait};

/// The events of a watch of all ResourceBundleStates.
#[derive(Debug, Default)]
struct Seen {
    writes: usize,
    bytes: usize,
    /// Times from a change to the event, in milliseconds.
    latencies: Vec<u64>,
    /// The last change of each object that was seen, by a number of the text before it.
    last: HashMap<String, u64>,
}

impl Seen {
    /// Takes one event of the watch.
    fn take(&mut self, line: &str) {
        let now = now_ms();
        self.writes += 1;
        self.bytes += line.len();
        let mark = format!("\"{CHANGED}\":\"");
        for (at, _) in line.match_indices(&mark) {
            let value = &line[at + mark.len()..];
            let end = value.find('"').unwrap_or_default();
            let Ok(changed) = value[..end].parse::<u64>() else {
                continue;
            };
            // The name follows the annotations.
            let name = value.find("\"name\":\"").map(|at| &value[at + 8..]);
            let name = name.and_then(|name| name.split('"').next());
            let last = self.last.entry(name.unwrap_or_default().to_owned());
            let last = last.or_default();
            if changed > *last {
                *last = changed;
                self.latencies.push(now.saturating_sub(changed));
            }
        }
    }

    /// The figures for people.
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn text(&mut self, elapsed: f64, (before, after): (&Usage, &Usage)) -> String {
        let latencies = &mut self.latencies;
        let (p50, p99) = (percentile(latencies, 50), percentile(latencies, 99));
        let processor = (after.processor_ms - before.processor_ms) as f64 / elapsed / 10.0;
        let (writes, bytes) = (self.writes as f64 / elapsed, self.bytes as f64 / elapsed);
        format!(
            "processor: {processor:.1} % of one core\n\
             memory: {} MiB before the load, {} MiB after it, {} MiB at most\n\
             writes: {writes:.1} per second, {:.0} KB per second\n\
             change to ResourceBundleState: p50 {p50} ms, p99 {p99} ms of {} changes\n",
            before.resident_kib / 1024,
            after.resident_kib / 1024,
            after.peak_kib / 1024,
            bytes / 1_000.0,
            self.latencies.len(),
        )
    }
}

/// Follows the ResourceBundleStates until the watch ends.
fn follow(client: &Client, version: &str, seen: &Mutex<Seen>, stop: &AtomicBool) {
    let path = format!("{STATES}?watch=1&resourceVersion={version}");
    let lines = BufReader::new(client.stream(&path)).lines();
    for line in lines.map_while(Result::ok) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        seen.lock().expect("no panic").take(&line);
    }
}

/// Applies the apps, and starts a monitor that has written every report. Returns it with the paths of the resources.
fn begin(stage: &Stage, count: usize, arguments: &[&str]) -> (Monitor, Vec<String>) {
    namespace(&stage.cluster, NAMESPACE);
    let paths = apply(&stage.cluster, count);
    let deployments: Vec<String> = (0..count).map(deployment).collect();
    for deployment in &deployments {
        stage.send_state("default", deployment);
    }
    let monitor = stage.start("bench", arguments);
    let is_reported = |id: &&String| stage.report("default", id).is_some();
    let reported = || deployments.iter().filter(is_reported).count();
    wait("every app has a report", reported, |found| *found == count);
    (monitor, paths)
}

/// Times in milliseconds until the answers of servers have a new object of the first app.
fn answer_times(stage: &Stage, servers: &[View], end: Instant) -> Vec<Vec<u64>> {
    let mut times = vec![Vec::new(); servers.len()];
    for number in 0.. {
        if Instant::now() >= end {
            break;
        }
        let name = format!("new-{number}");
        stage
            .cluster
            .apply(&config_map(NAMESPACE, &name, &deployment(0)));
        let (created, mut waiting) = (Instant::now(), vec![true; servers.len()]);
        while waiting.contains(&true) && created.elapsed() < Duration::from_secs(20) {
            for (at, server) in servers.iter().enumerate() {
                let has = |resource: &Value| resource["name"] == *name;
                if waiting[at] && server.resources().iter().any(has) {
                    waiting[at] = false;
                    let millis = created.elapsed().as_millis();
                    times[at].push(u64::try_from(millis).expect("a number"));
                }
            }
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(300));
    }
    times
}

fn percentile(times: &mut [u64], of: usize) -> u64 {
    times.sort_unstable();
    let at = times.len() * of / 100;
    times.get(at).copied().unwrap_or_default()
}

fn main() {
    let Some(stage) = Stage::installed("bench") else {
        return;
    };
    let count = number("KINDSIGHT_MONITOR_APPS", 20);
    let seconds = number("KINDSIGHT_MONITOR_SECONDS", 60);
    let first = deployment(0);
    let by_state = View::watching(&stage.cluster, ReportMode::Bundles, &first);
    let servers = [by_state, View::pushed(&first)];
    let spool = TempDir::new().expect("a folder");
    let spool = spool.path().to_str().expect("a path");
    let arguments = [
        "--to",
        &servers[1].url,
        "--cluster",
        CLUSTER,
        "--spool",
        spool,
    ];
    let (monitor, paths) = begin(&stage, count, &arguments);
    let client = stage.cluster.client().clone();
    let list = client.get(STATES).expect("a list");
    let version = list["metadata"]["resourceVersion"].as_str();
    let version = version.expect("a version").to_owned();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let stop = Arc::new(AtomicBool::new(false));
    let (of_thread, ended) = (Arc::clone(&seen), Arc::clone(&stop));
    let watching = client.with_timeout(Duration::from_hours(1));
    let follower = thread::spawn(move || follow(&watching, &version, &of_thread, &ended));
    let before = monitor.usage();
    let began = Instant::now();
    let changes = Changes::start(&client, &paths);
    let seconds = u64::try_from(seconds).expect("seconds");
    let end = began + Duration::from_secs(seconds);
    let mut times = answer_times(&stage, &servers, end);
    let changes = changes.end();
    let elapsed = began.elapsed().as_secs_f64();
    let after = monitor.usage();
    stop.store(true, Ordering::Relaxed);
    let text = seen
        .lock()
        .expect("no panic")
        .text(elapsed, (&before, &after));
    let load = format!(
        "{count} apps of {} resources, {changes} changes in {elapsed:.0} s\n",
        apps::RESOURCES
    );
    // The watch ends with its cluster.
    drop((monitor, servers, stage, follower));
    let mut out = std::io::stdout();
    write!(out, "{load}{text}").expect("standard output");
    for (source, times) in ["ResourceBundleState", "push"].iter().zip(&mut times) {
        let (p50, p99) = (percentile(times, 50), percentile(times, 99));
        writeln!(
            out,
            "new object to answer by {source}: p50 {p50} ms, p99 {p99} ms of {} objects",
            times.len()
        )
        .expect("standard output");
    }
}
