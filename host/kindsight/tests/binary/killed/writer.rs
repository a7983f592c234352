//! A writer that continuously changes an application in an API server, and records every state of its objects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use kindsight_cluster::{Cluster, Etcd, Options};
use serde_json::{Value, json};

use super::random::Random;

/// Names of the Deployments. Each is a separate app. They are never ready at the same time.
pub(super) const DEPLOYMENTS: [&str; 2] = ["front", "back"];
/// Names of Deployments of the first app that are ready from the beginning. With them, there are too many Deployments
/// for single reads, so the watcher lists all of them at once. No answer can mix states of different times.
const QUIET: [&str; 3] = ["quiet-1", "quiet-2", "quiet-3"];
/// Name of the ConfigMap without an owner.
pub(super) const SETTINGS: &str = "settings";
/// Name of the ConfigMap that the first Deployment owns.
pub(super) const CHILD: &str = "child";
/// Longest pause between two changes, in milliseconds.
const PAUSE_MAX_MS: u64 = 100;

/// A state that an object had from a step on; `-` for a deleted object. The message distinguishes equal states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Was {
    pub(super) step: u64,
    pub(super) state: &'static str,
    pub(super) message: String,
}

impl Was {
    /// Returns whether an answer shows this state. An empty message, as for states of rules, is not compared.
    pub(super) fn is(&self, state: &str, message: &str) -> bool {
        self.state == state && (self.message.is_empty() || self.message == message)
    }
}

/// The application with all its current and former states.
pub(super) struct Written {
    pub(super) cluster: Cluster,
    random: Random,
    /// Number of changes so far.
    pub(super) step: u64,
    /// All states of each object, by its name.
    pub(super) log: BTreeMap<&'static str, Vec<Was>>,
    owner: Value,
    _etcd: Etcd,
}

impl Written {
    /// Creates the application: both Deployments pending, the others ready, and both ConfigMaps.
    fn new(cluster: Cluster, etcd: Etcd, seed: u64) -> Self {
        let mut written = Self {
            cluster,
            random: Random(seed),
            step: 0,
            log: BTreeMap::new(),
            owner: Value::Null,
            _etcd: etcd,
        };
        for name in DEPLOYMENTS {
            let made = written.cluster.apply(&deployment(name, name));
            if name == DEPLOYMENTS[0] {
                written.owner = made["metadata"]["uid"].clone();
            }
            written.set(name, "Pending");
        }
        for name in QUIET {
            written.cluster.apply(&deployment(name, DEPLOYMENTS[0]));
            written.set(name, "Ready");
        }
        for name in [SETTINGS, CHILD] {
            written.put(name);
        }
        written
    }

    fn note(&mut self, name: &'static str, state: &'static str, message: String) {
        let step = self.step;
        let log = self.log.entry(name).or_default();
        log.push(Was {
            step,
            state,
            message,
        });
    }

    /// The state that an object is in.
    pub(super) fn now(&self, name: &str) -> &Was {
        self.log[name].last().expect("a state")
    }

    /// The states that an object was in at a step, or later.
    pub(super) fn since(&self, name: &str, step: u64) -> &[Was] {
        let log = &self.log[name];
        let later = log.partition_point(|was| was.step <= step);
        &log[later.saturating_sub(1)..]
    }

    /// Makes one random change.
    fn change(&mut self) {
        let chosen = usize::try_from(self.random.below(2)).expect("an index");
        match self.random.below(8) {
            0 => self.toggle(SETTINGS),
            1 => self.toggle(CHILD),
            2..4 => self.set(DEPLOYMENTS[chosen], "Failed"),
            4..6 => self.set(DEPLOYMENTS[chosen], "Pending"),
            _ => {
                let other = DEPLOYMENTS[1 - chosen];
                if self.now(other).state == "Ready" {
                    self.set(other, "Failed");
                }
                self.set(DEPLOYMENTS[chosen], "Ready");
            }
        }
    }

    /// Sets the status of a Deployment, as its controller would.
    fn set(&mut self, name: &'static str, state: &'static str) {
        self.step += 1;
        let message = format!("step {}", self.step);
        let reason = match state {
            "Ready" => "NewReplicaSetAvailable",
            "Failed" => "ProgressDeadlineExceeded",
            _ => "ReplicaSetUpdated",
        };
        let status = json!({"status": {
            "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
            "conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Progressing", "status": "True", "reason": reason, "message": message},
            ],
        }});
        let path = format!("/apis/apps/v1/namespaces/default/deployments/{name}/status");
        let patch = "application/merge-patch+json";
        self.cluster.patch(&path, patch, &status);
        let is_ready = state == "Ready";
        self.note(name, state, if is_ready { String::new() } else { message });
    }

    /// Deletes a ConfigMap, or puts it back.
    fn toggle(&mut self, name: &'static str) {
        if self.now(name).state == "Present" {
            self.delete(name);
        } else {
            self.put(name);
        }
    }

    fn put(&mut self, name: &'static str) {
        self.step += 1;
        let mut object = labelled("v1", "ConfigMap", name, DEPLOYMENTS[0]);
        if name == CHILD {
            object["metadata"]["ownerReferences"] = json!([{
                "apiVersion": "apps/v1", "kind": "Deployment", "name": DEPLOYMENTS[0], "uid": self.owner,
            }]);
        }
        self.cluster.apply(&object);
        self.note(name, "Present", String::new());
    }

    /// Deletes a ConfigMap, if it exists. A deleted object with an owner is not listed any more.
    pub(super) fn delete(&mut self, name: &'static str) {
        if self.now(name).state != "Present" {
            return;
        }
        self.step += 1;
        let path = format!("/api/v1/namespaces/default/configmaps/{name}");
        assert!(self.cluster.delete(&path), "{name} is not there");
        let state = if name == CHILD { "-" } else { "NotPresent" };
        self.note(name, state, String::new());
    }
}

fn labelled(version: &str, kind: &str, name: &str, app: &str) -> Value {
    json!({
        "apiVersion": version, "kind": kind,
        "metadata": {"name": name, "namespace": "default", "labels": {
            "app.kubernetes.io/part-of": "shop", "app.kubernetes.io/component": app,
        }},
    })
}

fn deployment(name: &str, app: &str) -> Value {
    let mut object = labelled("apps/v1", "Deployment", name, app);
    object["spec"] = json!({
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]},
        },
    });
    object
}

/// A writer on its own thread, until it is dropped.
pub(super) struct Writer {
    written: Arc<Mutex<Written>>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Creates the application in a cluster. The changes begin with [`Writer::start`].
    pub(super) fn new(etcd: Etcd, seed: u64) -> Self {
        let cluster = Cluster::start(&etcd, &Options::api_server("edge"));
        Self {
            written: Arc::new(Mutex::new(Written::new(cluster, etcd, seed))),
            is_over: Arc::default(),
            thread: None,
        }
    }

    /// Begins to change the application.
    pub(super) fn start(&mut self, seed: u64) {
        let (written, is_over) = (Arc::clone(&self.written), Arc::clone(&self.is_over));
        let mut random = Random(seed);
        self.thread = Some(std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                // The mutex is poisoned if the test failed.
                let Ok(mut written) = written.lock() else {
                    return;
                };
                written.change();
                drop(written);
                std::thread::sleep(Duration::from_millis(random.below(PAUSE_MAX_MS)));
            }
        }));
    }

    /// Pauses the writer while the guard exists, so that the true states do not change.
    pub(super) fn hold(&self) -> MutexGuard<'_, Written> {
        self.written.lock().expect("a writer that did not fail")
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            assert!(
                ended.is_none_or(|result| result.is_ok()),
                "the writer failed"
            );
        }
    }
}
