//! Many changing apps, and every failure of the cluster and of the monitor: in the end, the reports equal the cluster,
//! and no report ever lacked an object that existed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kindsight_cluster::Client;
use kindsight_model::{Bundle, KindState, Scope, decode_bundle};
use serde_json::{Value, json};

use crate::apps::{Changes, NAMESPACE, apply, deployment, number, resources};
use crate::stage::{DEFINITION, Monitor, PATIENCE, STATES, Stage, namespace, wait};

/// Variables with the number of apps and the seconds of each phase.
const APPS: &str = "KINDSIGHT_MONITOR_APPS";
const SECONDS: &str = "KINDSIGHT_MONITOR_SECONDS";
/// The Kinds that are compared in the end, with their paths.
const COMPARED: [(&str, &str); 4] = [
    ("ConfigMap", "/api/v1/namespaces/load/configmaps"),
    ("Service", "/api/v1/namespaces/load/services"),
    ("Deployment", "/apis/apps/v1/namespaces/load/deployments"),
    ("Pod", "/api/v1/namespaces/load/pods"),
];
/// The role that the test takes from the monitor for a while.
const ROLE: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kindsight-monitor-built-in";
const AGGREGATED: &str = "rbac.kindsight.dev/aggregate-to-monitor";
/// Watches end soon, so that the monitor notices changed permissions.
const LIFETIME: &[&str] = &["--watch-lifetime", "5s"];
const MERGE: &str = "application/merge-patch+json";

/// The bundles of all apps that have a report.
fn bundles(client: &Client) -> Vec<Bundle> {
    // The server or the definition may be away.
    let answer = client.request(ureq::http::Method::GET, STATES, None);
    let Some(answer) = answer.ok().filter(|answer| answer.status == 200) else {
        return Vec::new();
    };
    let items = answer.body["items"].as_array().into_iter().flatten();
    let items = items.filter_map(|item| {
        let mut item = item.clone();
        item["kind"] = "ResourceBundleState".into();
        decode_bundle(item.to_string().as_bytes()).ok()
    });
    items.collect()
}

/// Panics if a bundle lacks an object that existed all the time, and claims to be complete about its Kind.
fn check_nothing_is_hidden(bundle: &Bundle, apps: usize) {
    let (id, report) = (bundle.deployment.to_string(), &bundle.report);
    let app = (0..apps).find(|app| deployment(*app) == id);
    let Some(app) = app else {
        return;
    };
    let objects = report.objects.iter();
    let shown: BTreeSet<(&str, &str)> = objects.map(|it| (&*it.gvk.kind, &*it.name)).collect();
    for resource in resources(app) {
        let text = |pointer: &str| {
            resource
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or("")
        };
        let (kind, name) = (text("/kind"), text("/metadata/name"));
        let group = text("/apiVersion")
            .split_once('/')
            .map_or("", |(group, _)| group);
        let coverage = report
            .coverage
            .of(Some(group), kind, Scope::Namespace(NAMESPACE));
        let is_proof = coverage.state == KindState::Complete;
        assert!(
            shown.contains(&(kind, name)) || !is_proof,
            "the report on {id} shows {kind} {name} as deleted: {shown:?}"
        );
    }
}

/// The versions of all objects of all apps by Kind and name, as reported.
fn reported(client: &Client) -> BTreeMap<String, String> {
    let bundles = bundles(client);
    let objects = bundles
        .iter()
        .flat_map(|bundle| bundle.report.objects.iter());
    let versions = objects.filter_map(|object| {
        let kind = &object.gvk.kind;
        COMPARED.iter().find(|(compared, _)| *compared == &**kind)?;
        let json: Value = serde_json::from_str(&object.json).ok()?;
        let version = json["metadata"]["resourceVersion"].as_str()?.to_owned();
        Some((format!("{kind}/{}", object.name), version))
    });
    versions.collect()
}

/// The same from the cluster.
fn existing(client: &Client) -> BTreeMap<String, String> {
    let mut versions = BTreeMap::new();
    for (kind, path) in COMPARED {
        let list = client.get(&format!("{path}?labelSelector=emco/deployment-id"));
        let list = list.expect("a list");
        for item in list["items"].as_array().expect("items") {
            let name = item["metadata"]["name"].as_str().expect("a name");
            let version = item["metadata"]["resourceVersion"]
                .as_str()
                .expect("a version");
            versions.insert(format!("{kind}/{name}"), version.to_owned());
        }
    }
    versions
}

fn send_states(stage: &Stage, apps: usize) {
    for app in 0..apps {
        stage.send_state("default", &deployment(app));
    }
}

/// A thread that checks all reports again and again.
struct Checker {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
}

impl Checker {
    fn start(client: &Client, apps: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (client, ended) = (client.clone(), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let mut checked = 0_usize;
            while !ended.load(Ordering::Relaxed) {
                for bundle in bundles(&client) {
                    check_nothing_is_hidden(&bundle, apps);
                    checked += 1;
                }
                thread::sleep(Duration::from_millis(500));
            }
            checked
        });
        Self { stop, thread }
    }

    /// Ends the checks. Returns the number of checked reports.
    fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no report hid an object")
    }
}

/// Takes the permission to read from the monitor. Only a new monitor then lacks the objects.
fn withdraw_permissions(stage: &Stage, monitor: Monitor, phase: Duration) -> Monitor {
    let label = |value: Value| json!({"metadata": {"labels": {AGGREGATED: value}}});
    let configmaps = "/api/v1/configmaps";
    stage.cluster.patch(ROLE, MERGE, &label(Value::Null));
    stage.account().wait_for_status(configmaps, 403, PATIENCE);
    thread::sleep(phase);
    monitor.kill();
    let monitor = stage.start("third", LIFETIME);
    thread::sleep(phase * 2);
    stage.cluster.patch(ROLE, MERGE, &label("true".into()));
    stage.account().wait_for_status(configmaps, 200, PATIENCE);
    monitor
}

/// Deletes the definition with all reports. The sender makes the ResourceBundleStates again.
fn replace_definition(stage: &Stage, apps: usize) {
    let client = stage.cluster.client();
    assert!(stage.cluster.delete(DEFINITION));
    client.wait_for_status(STATES, 404, PATIENCE);
    assert!(stage.install(&["--yes"]).status.success());
    client.wait_for_status(STATES, 200, PATIENCE);
    send_states(stage, apps);
}

#[test]
fn reports_survive_every_failure_and_never_show_a_deletion_that_did_not_happen() {
    let Some(mut stage) = Stage::installed("load") else {
        return;
    };
    let apps = number(APPS, 20);
    let phase = Duration::from_secs(u64::try_from(number(SECONDS, 12)).expect("seconds"));
    namespace(&stage.cluster, NAMESPACE);
    let paths = apply(&stage.cluster, apps);
    send_states(&stage, apps);
    let monitor = stage.start("first", LIFETIME);
    let client = stage.cluster.client().clone();
    let reports = || bundles(&client).len();
    wait("every app has a report", reports, |len| *len == apps);

    let checker = Checker::start(&client, apps);
    let changes = Changes::start(&client, &paths);
    thread::sleep(phase);
    monitor.kill();
    let monitor = stage.start("second", LIFETIME);
    thread::sleep(phase);
    stage.cluster.stop();
    stage.cluster.start_again();
    thread::sleep(phase);
    let monitor = withdraw_permissions(&stage, monitor, phase);
    replace_definition(&stage, apps);
    thread::sleep(phase);

    assert!(changes.end() > 0);
    assert!(checker.end() > apps, "reports were checked");
    for app in 0..apps {
        let path = format!("/api/v1/namespaces/load/configmaps/app{app:03}-49");
        assert!(stage.cluster.delete(&path));
    }
    let found = || (reported(&client), existing(&client));
    let are_equal = |found: &(_, _)| found.0 == found.1;
    wait("the reports equal the cluster", found, are_equal);
    assert!(existing(&client).len() >= apps * 49);
    let usage = monitor.usage();
    let is_small = usage.resident_kib <= usage.peak_kib && usage.peak_kib < 64 * 1024;
    assert!(is_small && usage.processor_ms > 0, "{usage:?}");
}
