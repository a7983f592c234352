//! A cluster, a server that watches it, and a server that an agent pushes to.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Client, Cluster, Credentials, Etcd, Options, Proxy};
use kindsight_clusters::{
    ClusterEvent, ClusterSource, ConfiguredApp, ConfiguredApplication, KubernetesCluster,
    PushedCluster, WatchOptions, kubeconfig_clusters,
};
use kindsight_model::{ClusterName, parse_selector};
use kindsight_push::{Credentials as PushCredentials, PushOptions, Pusher};
use kindsight_server::{Server, Settings};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::code_cache;
use crate::stage::{NAMESPACE, PATIENCE, gone_for, labelled};

/// Limit of the spool, so that an outage exceeds it.
const SPOOL_BYTES_MAX: u64 = 256 * 1024;
/// Time for which gone objects are listed. Short, because a server that restarted does not know what was gone before.
const GONE_FOR: Duration = Duration::from_secs(1);

/// A cluster with two servers.
pub(super) struct PushStage {
    pub(super) cluster: Cluster,
    /// Between the agent and its server.
    pub(super) proxy: Proxy,
    pub(super) direct: Client,
    pub(super) pushed: Client,
    pub(super) direct_store: Arc<dyn Store>,
    pub(super) pushed_store: Arc<dyn Store>,
    name: ClusterName,
    address: SocketAddr,
    agent: Option<Agent>,
    server: Option<Runtime>,
    _direct: Runtime,
    folder: TempDir,
    _etcd: Etcd,
}

/// A running agent.
struct Agent {
    runtime: Runtime,
    shutdown: CancellationToken,
}

impl PushStage {
    /// Starts a complete cluster, both servers and the agent. `None` if the executables are not available.
    pub(super) fn start(what: &str) -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::ALL)?;
        let etcd = Etcd::start(&binaries);
        let cluster = Cluster::start(&etcd, &Options::new("edge01"));
        cluster.apply(&json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
        }));
        let folder = tempfile::Builder::new()
            .prefix(what)
            .tempdir()
            .expect("a folder");
        let watched = watched(&cluster);
        let name = watched.name().clone();
        let store = || -> Arc<dyn Store> { Arc::new(RedbStore::in_memory().expect("a store")) };
        let (direct_store, pushed_store) = (store(), store());
        let source = ClusterSource::Kubernetes(Box::new(watched));
        let source = source.with_applications(&[application()]);
        let (direct_runtime, direct_address) = serve(settings(&direct_store, source, None));
        let source = pushed(&name);
        let (server, address) = serve(settings(&pushed_store, source, None));
        let proxy = Proxy::before(&format!("http://{address}"));
        let mut stage = Self {
            proxy,
            direct: client(direct_address),
            pushed: client(address),
            direct_store,
            pushed_store,
            name,
            address,
            agent: None,
            server: Some(server),
            _direct: direct_runtime,
            cluster,
            folder,
            _etcd: etcd,
        };
        stage.restart_agent();
        Some(stage)
    }

    /// The name of the cluster at both servers.
    pub(super) fn name(&self) -> &ClusterName {
        &self.name
    }

    /// Ends the server as a kill would, and starts one at the same address that knows nothing.
    pub(super) fn restart_server(&mut self) {
        drop(self.server.take());
        let source = pushed(&self.name);
        let settings = settings(&self.pushed_store, source, Some(self.address));
        let (server, _) = serve(settings);
        self.server = Some(server);
    }

    /// Ends the agent as a kill would, and starts another one with the same spool.
    pub(super) fn restart_agent(&mut self) {
        drop(self.agent.take());
        let options = PushOptions {
            to: format!("http://{}", self.proxy.address()),
            credentials: PushCredentials::None,
            ca: None,
            cluster: self.name.clone(),
            spool_dir: self.folder.path().join("spool"),
            spool_bytes_max: SPOOL_BYTES_MAX,
        };
        self.agent = Some(Agent::start(options, watched(&self.cluster)));
    }

    /// The names of the applications of a server.
    pub(super) fn applications(server: &Client) -> Vec<String> {
        let answer = server.get("/v2/applications").unwrap_or_default();
        let applications = answer["applications"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let name = |application: &Value| {
            [
                "project",
                "composite-app-name",
                "composite-app-version",
                "name",
            ]
            .map(|part| text(&application[part]))
            .join("/")
        };
        applications.map(name).collect()
    }

    /// Waits until both servers give the same answers about all applications, with all objects. Both must show an
    /// object that is applied by this call, and so every earlier change.
    pub(super) fn assert_same(&self, what: &str) {
        let marker = format!("marker {what}");
        self.cluster.apply(&labelled(
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "marker"},
                "data": {"marker": marker},
            }),
            "marker",
        ));
        let seen = |server: &Client| {
            let names = Self::applications(server);
            let answers = names.iter().map(|name| {
                let parts: Vec<&str> = name.split('/').collect();
                let path = format!(
                    "/v2/projects/{}/composite-apps/{}/{}/deployment-intent-groups/{}/status?output=detail",
                    parts[0], parts[1], parts[2], parts[3]
                );
                server.get(&path).map(timeless).unwrap_or_default()
            });
            let answers: Vec<Value> = answers.collect();
            (names, Value::from(answers))
        };
        self.assert_equal(what, seen, |(_, answers)| {
            answers.to_string().contains(&marker)
        });
    }

    /// Waits until both servers give the same answer to a query, which meets the condition.
    pub(super) fn assert_same_at(&self, path: &str, what: &str, is_so: impl Fn(&Value) -> bool) {
        let path = format!("{path}&output=detail");
        let seen = |server: &Client| server.get(&path).map(timeless).unwrap_or_default();
        self.assert_equal(what, seen, is_so);
    }

    fn assert_equal<T: PartialEq + std::fmt::Debug>(
        &self,
        what: &str,
        seen: impl Fn(&Client) -> T,
        is_so: impl Fn(&T) -> bool,
    ) {
        let began = Instant::now();
        loop {
            let (direct, pushed) = (seen(&self.direct), seen(&self.pushed));
            if direct == pushed && is_so(&direct) && seen(&self.direct) == direct {
                return;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{what}: {}",
                differing(&format!("{direct:#?}"), &format!("{pushed:#?}"))
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Waits until the entry of the cluster at the server of the agent meets the condition.
    pub(super) fn wait_for_cluster(&self, what: &str, is_so: impl Fn(&Value) -> bool) {
        let began = Instant::now();
        loop {
            let answer = self.pushed.get("/v2/clusters").unwrap_or_default();
            let mut clusters = answer["clusters"].as_array().into_iter().flatten();
            if clusters.any(&is_so) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{what}: {answer:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for PushStage {
    fn drop(&mut self) {
        // Before the servers and the cluster, so that it logs no failures.
        drop(self.agent.take());
    }
}

impl Agent {
    fn start(options: PushOptions, cluster: KubernetesCluster) -> Self {
        let runtime = Runtime::new().expect("an executor");
        let shutdown = CancellationToken::new();
        let _runs = runtime.enter();
        let (mut pusher, needs) = Pusher::new(options).expect("a pusher");
        let configured = pusher.configured(cluster);
        let source = configured.borrow().clone();
        let (events_tx, events) = mpsc::channel::<ClusterEvent>(64);
        runtime.spawn(source.run(configured, events_tx, needs, shutdown.clone()));
        runtime.spawn(pusher.run(events, shutdown.clone()));
        Self { runtime, shutdown }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Without time to say goodbye.
        self.shutdown.cancel();
        let runtime = std::mem::replace(&mut self.runtime, Runtime::new().expect("an executor"));
        runtime.shutdown_background();
    }
}

/// The cluster, watched with its administrator's credentials.
fn watched(cluster: &Cluster) -> KubernetesCluster {
    let file: PathBuf = cluster.kubeconfig();
    let mut clusters = kubeconfig_clusters(&file, None).expect("a kubeconfig");
    clusters
        .pop()
        .expect("a context")
        .with_options(WatchOptions {
            watch_lifetime: Duration::from_secs(5),
            ..WatchOptions::default()
        })
}

fn pushed(name: &ClusterName) -> ClusterSource {
    let source = ClusterSource::Pushed(PushedCluster::new(name.clone()));
    source.with_applications(&[application()])
}

/// The application of the configuration: a selector.
fn application() -> ConfiguredApplication {
    ConfiguredApplication {
        name: "p/suite/v1/team".parse().expect("a name"),
        clusters: Vec::new(),
        namespaces: Vec::new(),
        apps: vec![ConfiguredApp {
            name: "all".into(),
            selector: parse_selector("team=web").expect("a selector"),
        }],
    }
}

fn settings(store: &Arc<dyn Store>, source: ClusterSource, listen: Option<SocketAddr>) -> Settings {
    let defaults = Settings::new(Arc::clone(store));
    Settings {
        cache: Some(code_cache::folder()),
        clusters: vec![source],
        timeouts: gone_for(GONE_FOR),
        listen: listen.unwrap_or(defaults.listen),
        ..defaults
    }
}

/// Starts a server on its own executor. The server ends with the executor.
fn serve(settings: Settings) -> (Runtime, SocketAddr) {
    let runtime = Runtime::new().expect("an executor");
    let server = runtime.block_on(Server::start(settings)).expect("a server");
    let address = server.address();
    runtime.spawn(async move { server.failed().await });
    (runtime, address)
}

fn client(address: SocketAddr) -> Client {
    Client::new(&format!("http://{address}"), None, &Credentials::Nobody)
}

/// The differing lines of two texts, with the lines before and after them.
fn differing(direct: &str, pushed: &str) -> String {
    let (direct, pushed): (Vec<&str>, Vec<&str>) =
        (direct.lines().collect(), pushed.lines().collect());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let before = direct.iter().zip(&pushed).take_while(same).count();
    let after = direct.iter().rev().zip(pushed.iter().rev());
    let after = after.take_while(same).count();
    let part = |lines: &[&str]| {
        let end = lines.len().saturating_sub(after).max(before) + 5;
        lines[before.saturating_sub(15)..end.min(lines.len())].join("\n")
    };
    format!("watched\n{}\npushed\n{}", part(&direct), part(&pushed))
}

/// An answer without its times, which differ between servers, and without the Kinds of objects in it. An API server
/// leaves the Kind of an object out of a list, and not out of a watch.
fn timeless(mut answer: Value) -> Value {
    const LEFT_OUT: [&str; 4] = ["since", "last-event", "apiVersion", "kind"];
    match &mut answer {
        Value::Object(members) => {
            members.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
            for value in members.values_mut() {
                *value = timeless(value.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = timeless(item.take());
            }
        }
        _ => {}
    }
    answer
}
