//! Many apps in one cluster, whose resources change all the time.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kindsight_cluster::{Client, Cluster};
use serde_json::{Value, json};

use crate::stage::{LABEL, config_map};

/// Number of resources of each app, without the objects that controllers create.
pub(crate) const RESOURCES: usize = 50;
/// Time between two changes of one resource.
const PERIOD: Duration = Duration::from_secs(10);
/// Threads that change resources.
const THREADS: usize = 4;
/// The namespace of the apps.
pub(crate) const NAMESPACE: &str = "load";
/// The annotation with the time of the last change, in milliseconds since 1970.
pub(crate) const CHANGED: &str = "example.org/changed";

/// The label of an app.
pub(crate) fn deployment(app: usize) -> String {
    format!("{}-app{app:03}", 1_000 + app)
}

/// The resources of an app: a Deployment with a Pod, its Service, and ConfigMaps.
pub(crate) fn resources(app: usize) -> Vec<Value> {
    let (id, name) = (deployment(app), format!("app{app:03}"));
    let labels = json!({LABEL: id});
    let mut resources = vec![
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": name}},
                "template": {"metadata": {"labels": {"app": name, LABEL: id}},
                    "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]}}}}),
        json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
            "spec": {"selector": {"app": name}, "ports": [{"port": 80}]}}),
    ];
    for number in resources.len()..RESOURCES {
        let mut map = config_map(NAMESPACE, &format!("{name}-{number:02}"), &id);
        map["data"] = json!({"settings": "x".repeat(200)});
        resources.push(map);
    }
    resources
}

/// The number in a variable, or the usual one.
pub(crate) fn number(variable: &str, usual: usize) -> usize {
    let given = env::var(variable).ok();
    given.map_or(usual, |text| text.parse().expect(variable))
}

/// Applies all apps, and returns the paths of their resources.
pub(crate) fn apply(cluster: &Cluster, apps: usize) -> Vec<String> {
    let mut paths = Vec::new();
    for app in 0..apps {
        for resource in resources(app) {
            let plural = match resource["kind"].as_str() {
                Some("Deployment") => "/apis/apps/v1/namespaces/load/deployments",
                Some("Service") => "/api/v1/namespaces/load/services",
                _ => "/api/v1/namespaces/load/configmaps",
            };
            cluster.apply(&resource);
            let name = resource["metadata"]["name"].as_str().expect("a name");
            paths.push(format!("{plural}/{name}"));
        }
    }
    paths
}

/// The time now, in milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a test stamps its changes")]
pub(crate) fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.expect("a time after 1970").as_millis()).expect("a small number")
}

/// Threads that change every resource of the apps again and again.
pub(crate) struct Changes {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<u64>>,
}

impl Changes {
    /// Begins to change the resources at these paths, each once in ten seconds.
    pub(crate) fn start(client: &Client, paths: &[String]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let share = paths.len().div_ceil(THREADS).max(1);
        let threads = paths.chunks(share).map(|paths| {
            let (client, paths, stop) = (client.clone(), paths.to_vec(), Arc::clone(&stop));
            thread::spawn(move || change_all(&client, &paths, &stop))
        });
        Self {
            threads: threads.collect(),
            stop,
        }
    }

    /// Ends the changes. Returns their number.
    pub(crate) fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        let threads = self.threads.into_iter();
        threads.map(|thread| thread.join().expect("no panic")).sum()
    }
}

/// Changes resources in turn. A server that does not answer is asked again later.
fn change_all(client: &Client, paths: &[String], stop: &AtomicBool) -> u64 {
    let gap = PERIOD / u32::try_from(paths.len()).expect("a small number");
    let (began, mut done, mut turn) = (Instant::now(), 0, 0_u32);
    for path in paths.iter().cycle() {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let patch = json!({"metadata": {"annotations": {CHANGED: now_ms().to_string()}}});
        let body = Some(("application/merge-patch+json", &patch));
        let answer = client.request(ureq::http::Method::PATCH, path, body);
        done += u64::from(answer.is_ok_and(|answer| answer.status == 200));
        turn += 1;
        thread::sleep((began + gap * turn).saturating_duration_since(Instant::now()));
    }
    done
}
