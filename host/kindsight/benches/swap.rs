//! Benchmark of the latency of queries during a swap of an interpreter: the real binary, 100 contexts
//! of 1,000 resources of one Kind, two clients. First they query at a steady rate, which leaves
//! processor time; then each as soon as it has its answer, which on two processors leaves none.
//!
//! Prints the time from the command that makes a candidate live until every context shows its verdicts,
//! the latency of queries during and without a swap, and the number of failed ones.
//!
//! `cargo bench -p kindsight --bench swap`

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, NewApp, NewCluster, NewContext, Record, Recorded, Records,
};
use kindsight_model::{ContextId, ContextStatus, DigName};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};

const CONTEXTS: usize = 100;
const RESOURCES: usize = 1000;
const CLUSTER: &str = "docks+east";
const CLIENTS: usize = 2;
/// Number of swaps under each load. The benchmark prints their median.
const SWAPS: usize = 9;
/// Time between two queries of one client at a steady rate.
const PERIOD: Duration = Duration::from_millis(4);
const IDLE: Duration = Duration::from_secs(3);

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn id(number: usize) -> ContextId {
    (10_000 + number).to_string().parse().expect("an id")
}

fn fill(store: &Arc<dyn Store>, number: usize) {
    let dig = DigName::new("port", "quay", "v1", &format!("dig{number}")).expect("a name");
    let action = json!({"state": "Instantiated", "instance": id(number).as_str(), "time": "2026-11-21T12:00:00Z"});
    let action: Action = serde_json::from_value(action).expect("an action");
    let record = Record {
        profile: None,
        actions: vec![action],
    };
    let records = Records::new(Arc::clone(store));
    records.create(&dig, &record).expect("a record");
    let contexts = AppContexts::new(Arc::clone(store));
    let cluster = NewCluster {
        cluster: CLUSTER.parse().expect("a cluster"),
        group: None,
        resources: Vec::new(),
    };
    let context = NewContext {
        meta: ContextMeta::of_dig(&dig),
        apps: vec![NewApp {
            name: "lift".to_owned(),
            clusters: vec![cluster],
        }],
    };
    let created = contexts.create_as(&id(number), &context);
    created.expect("a context");
    let recorded = contexts.record_status(&id(number), ContextStatus::Instantiated);
    assert!(matches!(recorded.expect("a status"), Recorded::Written(_)));
}

fn report(number: usize) -> String {
    let statuses = (0..RESOURCES).map(|resource| {
        let name = format!("crane-{resource}");
        let crane = json!({
            "apiVersion": "example.com/v1", "kind": "Crane",
            "metadata": {"name": name, "namespace": "quay"},
            "spec": {"number": number * RESOURCES + resource},
            "status": {"phase": "Working", "conditions": [{"type": "Ready", "status": "True", "reason": "Lifting"}]},
        });
        let res = base64::engine::general_purpose::STANDARD.encode(crane.to_string());
        json!({"group": "example.com", "version": "v1", "kind": "Crane", "name": name, "namespace": "quay", "res": res})
    });
    let name = format!("{}-lift", id(number));
    json!({
        "apiVersion": "k8splugin.io/v1alpha1",
        "kind": "ResourceBundleState",
        "metadata": {"name": name, "labels": {"emco/deployment-id": name}},
        "status": {"resourceStatuses": statuses.collect::<Vec<_>>()},
    })
    .to_string()
}

fn component(version: usize) -> Vec<u8> {
    let description = json!({"name": "crane", "version": format!("{version}.0.0"), "kinds": [["example.com", "*", "Crane"]]});
    kindsight_tests::hostile(&description.to_string())
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    config.build().into()
}

fn path(number: usize) -> String {
    format!(
        "/v2/projects/port/composite-apps/quay/v1/deployment-intent-groups/dig{number}/status?type=cluster&explain=true&resource=crane-7"
    )
}

/// Sends one query; returns its latency, and the answer if it succeeded.
fn ask(agent: &ureq::Agent, url: &str, number: usize) -> (Duration, Option<Value>) {
    let begin = Instant::now();
    let answer = agent.get(format!("{url}{}", path(number))).call();
    let answer = answer.ok().filter(|answer| answer.status() == 200);
    let text = answer.and_then(|mut answer| answer.body_mut().read_to_string().ok());
    let took = begin.elapsed();
    (took, text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn version(answer: &Value) -> Option<&str> {
    let resource = &answer["apps"][0]["clusters"][0]["resources"][0];
    resource["interpreter"]["version"].as_str()
}

/// Runs clients until `stop`, with one query per `period` each, or as fast as they are answered.
/// Returns the latency of every query, and the number of failed ones.
fn clients(url: &str, period: Duration, stop: &AtomicBool) -> (Vec<Duration>, usize) {
    let client = |first: usize| {
        let (agent, mut took, mut failed) = (agent(), Vec::new(), 0);
        let mut due = Instant::now();
        for number in (first..).step_by(7) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            thread::sleep(due.saturating_duration_since(Instant::now()));
            due += period;
            let (time, answer) = ask(&agent, url, number % CONTEXTS);
            took.push(time);
            failed += usize::from(answer.is_none());
        }
        (took, failed)
    };
    let parts: Vec<(Vec<Duration>, usize)> = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| scope.spawn(move || client(number)))
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().expect("a client"))
            .collect()
    });
    let failed = parts.iter().map(|(_, failed)| failed).sum();
    (
        parts.into_iter().flat_map(|(took, _)| took).collect(),
        failed,
    )
}

fn print(label: &str, mut took: Vec<Duration>, failed: usize) -> Duration {
    took.sort_unstable();
    let at = |share: usize| {
        took.get(took.len() * share / 1000)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "{label}: {} queries, p50 {:?}, p99 {:?}, {failed} failed",
        took.len(),
        at(500),
        at(990)
    );
    at(990)
}

/// Uploads a version as a candidate: compiled and tried, but not used.
fn upload(url: &str, number: usize) {
    let url = format!("{url}/v2/interpreters/crane?candidate=true");
    let mut answer = agent().put(url).send(component(number)).expect("an answer");
    let text = answer.body_mut().read_to_string().expect("a body");
    assert_eq!(answer.status(), 200, "{text}");
}

/// Makes the candidate live.
fn promote(url: &str) {
    let url = format!("{url}/v2/interpreters/crane/promote");
    let mut answer = agent().post(url).send_empty().expect("an answer");
    let text = answer.body_mut().read_to_string().expect("a body");
    assert_eq!(answer.status(), 200, "{text}");
}

/// Waits until every context shows verdicts of this version.
fn wait_for(url: &str, expected: &str) {
    let agent = agent();
    for number in 0..CONTEXTS {
        while ask(&agent, url, number).1.as_ref().and_then(version) != Some(expected) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

fn start(data: &Path, reports: &Path) -> (Server, String) {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("its address").to_string();
    drop(free);
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsight"));
    command
        .args(["serve", "--log", "warn", "--listen", &address, "--data-dir"])
        .arg(data);
    command
        .arg("--cluster")
        .arg(format!("{CLUSTER}={}", reports.display()));
    let server = Server(
        command
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server"),
    );
    let url = format!("http://{address}");
    let agent = agent();
    while !agent
        .get(format!("{url}/readyz"))
        .call()
        .is_ok_and(|answer| answer.status() == 200)
    {
        thread::sleep(Duration::from_millis(20));
    }
    (server, url)
}

fn main() {
    let (data, reports) = (
        tempfile::tempdir().expect("a folder"),
        tempfile::tempdir().expect("a folder"),
    );
    let store: Arc<dyn Store> =
        Arc::new(RedbStore::open(&data.path().join("store.redb")).expect("a store"));
    for number in 0..CONTEXTS {
        fill(&store, number);
        let file = reports.path().join(format!("{number}.json"));
        fs::write(file, report(number)).expect("a report");
    }
    drop(store);
    let (_server, url) = start(data.path(), reports.path());
    upload(&url, 1);
    promote(&url);
    wait_for(&url, "1.0.0");

    let mut versions = 2..;
    for (load, period) in [("steady", PERIOD), ("full speed", Duration::ZERO)] {
        println!("\n{CLIENTS} clients, {load}");
        swap_under(&url, period, versions.by_ref().take(SWAPS));
    }
}

/// Swaps to one version after the other while clients send queries.
fn swap_under(url: &str, period: Duration, versions: impl Iterator<Item = usize>) {
    let idle = while_queried(url, period, || thread::sleep(IDLE));
    let idle = print("without a swap", idle.0, idle.1);
    let (mut swaps, mut queries, mut failed) = (Vec::new(), Vec::new(), 0);
    for version in versions {
        upload(url, version);
        let during = while_queried(url, period, || {
            let begin = Instant::now();
            promote(url);
            wait_for(url, &format!("{version}.0.0"));
            swaps.push(begin.elapsed());
        });
        queries.extend(during.0);
        failed += during.1;
    }
    swaps.sort_unstable();
    println!(
        "{} resources: all judged again {:?} after the command ({:?} to {:?})",
        CONTEXTS * RESOURCES,
        swaps[SWAPS / 2],
        swaps[0],
        swaps[SWAPS - 1]
    );
    let during = print("during a swap", queries, failed);
    println!(
        "p99 during / without: {:.2}",
        during.as_secs_f64() / idle.as_secs_f64().max(f64::EPSILON)
    );
}

/// Calls `run` while clients send queries; returns their latencies, and the number of failed ones.
fn while_queried(url: &str, period: Duration, run: impl FnOnce()) -> (Vec<Duration>, usize) {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let clients = scope.spawn(|| clients(url, period, &stop));
        run();
        stop.store(true, Ordering::Relaxed);
        clients.join().expect("the clients")
    })
}
