//! Clusters, and a server that watches them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Client, Cluster, Credentials, Etcd, Options, Proxy};
use kindsight_clusters::{ClusterSource, WatchOptions, kubeconfig_clusters};
use kindsight_interpreter::{CodeCache, Interpreters, Limits};
use kindsight_server::{DataDir, Server, Settings, Timeouts};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::code_cache;

/// Time for any step of a cluster's controllers.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The namespace of the application.
pub(crate) const NAMESPACE: &str = "web";

/// Token of the watcher.
const TOKEN: &str = "watchertoken";

/// Label of the roles that are aggregated into the watcher's role.
pub(crate) const AGGREGATED: &str = "rbac.kindsight.dev/aggregate-to-kindsight";

/// Status of the application `shop`.
pub(crate) const SHOP: &str =
    "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/web/status";

/// Clusters and a server.
pub(crate) struct Stage {
    pub(crate) clusters: Vec<Cluster>,
    /// A proxy in front of each cluster.
    pub(crate) proxies: Vec<Proxy>,
    pub(crate) server: Client,
    /// `None` while the server is stopped.
    runtime: Option<Runtime>,
    pub(crate) store: Arc<dyn Store>,
    folder: TempDir,
    _etcd: Etcd,
}

impl Stage {
    /// Starts clusters with these options, each with a namespace, and a server that watches them with the credentials
    /// of `who`. `None` if the executables are not available.
    pub(crate) fn start(
        clusters: &[Options],
        who: impl Fn(&Cluster) -> Credentials,
    ) -> Option<Self> {
        Self::start_as(clusters, who, |it| it)
    }

    /// Like [`Stage::start`]; `change` adapts the usual source of each cluster.
    pub(crate) fn start_as(
        clusters: &[Options],
        who: impl Fn(&Cluster) -> Credentials,
        change: impl Fn(ClusterSource) -> ClusterSource,
    ) -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::ALL)?;
        let etcd = Etcd::start(&binaries);
        let clusters: Vec<Cluster> = clusters
            .iter()
            .map(|options| Cluster::start(&etcd, options))
            .collect();
        for cluster in &clusters {
            cluster.apply(&json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
            }));
        }
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
        let folder = TempDir::new().expect("a folder");
        let interpreters = folder.path().join("interpreters");
        std::fs::create_dir(&interpreters).expect("a folder of interpreters");
        let proxies: Vec<Proxy> = clusters.iter().map(Proxy::start).collect();
        let sources = clusters.iter().zip(&proxies);
        let sources = sources.map(|(cluster, proxy)| source(cluster, proxy, &who(cluster)));
        let settings = Settings {
            cache: Some(code_cache::folder()),
            interpreters: Some(interpreters),
            clusters: sources.map(change).collect(),
            timeouts: gone_for(Duration::from_secs(3)),
            // Some tests count the requests for lists.
            audit_interval: Duration::ZERO,
            ..Settings::new(Arc::clone(&store))
        };
        let (runtime, server) = serve(settings);
        Some(Self {
            clusters,
            proxies,
            server,
            store,
            folder,
            runtime: Some(runtime),
            _etcd: etcd,
        })
    }

    /// Ends the server as a kill would. It writes no further data.
    pub(crate) fn end_server(&mut self) {
        self.runtime = None;
    }

    /// Starts a server over a data folder in place of the running server. It lists gone objects for a minute.
    pub(crate) fn start_server(&mut self, data: &Path, who: impl Fn(&Cluster) -> Credentials) {
        self.end_server();
        let DataDir {
            store, remembered, ..
        } = DataDir::open(data).expect("a data folder");
        assert!(remembered.is_some(), "the file is in use");
        let clusters = self.clusters.iter().zip(&self.proxies);
        let clusters = clusters.map(|(cluster, proxy)| source(cluster, proxy, &who(cluster)));
        let (runtime, server) = serve(Settings {
            clusters: clusters.collect(),
            timeouts: gone_for(Duration::from_mins(1)),
            remembered,
            cache: Some(code_cache::folder()),
            ..Settings::new(store)
        });
        (self.runtime, self.server) = (Some(runtime), server);
    }

    /// Two complete clusters, watched with the permissions of `deploy/rbac.yaml` and the permission to read Secrets.
    pub(crate) fn two() -> Option<Self> {
        Self::whole(&["edge01", "edge02"])
    }

    /// Complete clusters with these names, watched with the same permissions.
    pub(crate) fn whole(names: &[&str]) -> Option<Self> {
        let options = names.iter();
        let options: Vec<Options> = options
            .map(|name| Options::new(name).user("watcher", &[], TOKEN))
            .collect();
        Self::start(&options, |cluster| {
            grant(cluster);
            Credentials::Token(TOKEN.to_owned())
        })
    }

    /// Puts a guest of the tests into the directory of interpreters. This method compiles the guest into the cache,
    /// because the server would start this test program as a compiler.
    pub(crate) fn drop_interpreter(&self, name: &str) {
        let guest = kindsight_tests::GUESTS
            .iter()
            .find(|guest| guest.name == name);
        let wasm = guest.expect("a guest of this name").wasm;
        let cache = CodeCache::open(&code_cache::folder()).expect("the cache");
        let engine = Interpreters::start(Limits::default(), Some(cache)).expect("an engine");
        engine.load(wasm).expect("it loads");
        let file = self.folder.path().join(format!("interpreters/{name}.wasm"));
        std::fs::write(file, wasm).expect("a file");
    }

    /// Applies an object in each cluster.
    pub(crate) fn apply(&self, object: &Value) {
        for cluster in &self.clusters {
            cluster.apply(object);
        }
    }

    /// Waits until the server's answer meets the condition, and returns it.
    pub(crate) fn wait(&self, target: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let answer = self.server.get(target);
            if let Some(answer) = answer.as_ref().filter(|answer| is_so(answer)) {
                return answer.clone();
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{what}: still {}",
                answer.map_or("404".to_owned(), |answer| format!("{answer:#}"))
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Waits for a state of the application `shop`.
    pub(crate) fn wait_for_state(&self, state: &str) -> Value {
        self.wait(SHOP, state, |answer| answer["ready-status"] == state)
    }

    /// Waits until the entry of a cluster in `GET /v2/clusters` meets the condition.
    pub(crate) fn wait_for_cluster(&self, name: &str, what: &str, is_so: impl Fn(&Value) -> bool) {
        self.wait("/v2/clusters", what, |answer| {
            let clusters = answer["clusters"].as_array();
            let mut clusters = clusters.into_iter().flatten();
            clusters.any(|cluster| cluster["cluster"] == name && is_so(cluster))
        });
    }
}

/// Timeouts of a server that lists gone objects for this time.
pub(crate) fn gone_for(gone_for: Duration) -> Timeouts {
    Timeouts {
        gone_for,
        ..Timeouts::default()
    }
}

/// Starts a server on its own executor. The server ends with the executor.
pub(crate) fn serve(settings: Settings) -> (Runtime, Client) {
    let runtime = Runtime::new().expect("an executor");
    let server = runtime.block_on(Server::start(settings)).expect("a server");
    let url = format!("http://{}", server.address());
    runtime.spawn(async move { server.failed().await });
    (runtime, Client::new(&url, None, &Credentials::Nobody))
}

/// The roles of `deploy/rbac.yaml`.
pub(crate) fn roles() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/rbac.yaml");
    let roles = std::fs::read_to_string(path).expect("deploy/rbac.yaml");
    let roles = roles.split("\n---\n");
    let roles = roles.map(|role| serde_saphyr::from_str(role).expect("a role"));
    roles.collect()
}

/// Gives the watcher the permissions that an operator would give, and waits until they take effect.
fn grant(cluster: &Cluster) {
    for role in roles() {
        cluster.apply(&role);
    }
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let aggregated = json!({"metadata": {"labels": {AGGREGATED: "true"}}});
    let secrets = format!("{roles}/kindsight-secrets");
    cluster.patch(&secrets, "application/merge-patch+json", &aggregated);
    cluster.apply(&json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": "kindsight"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "kindsight"},
        "subjects": [{"kind": "User", "name": "watcher", "apiGroup": "rbac.authorization.k8s.io"}],
    }));
    let watcher = cluster.client_as(&Credentials::Token(TOKEN.to_owned()));
    watcher.wait_for_status("/api/v1/secrets", 200, PATIENCE);
    watcher.wait_for_status("/apis/apps/v1/deployments", 200, PATIENCE);
}

/// The source of a cluster through a proxy, by a kubeconfig with these credentials.
fn source(cluster: &Cluster, proxy: &Proxy, who: &Credentials) -> ClusterSource {
    let file = cluster.folder().join("watcher.kubeconfig");
    kindsight_cluster::write_kubeconfig(&file, &[(cluster.name(), cluster, who)]);
    let kubeconfig = std::fs::read_to_string(&file).expect("the kubeconfig");
    let kubeconfig = kubeconfig.replace(cluster.url(), &proxy.url());
    std::fs::write(&file, kubeconfig).expect("the kubeconfig through the proxy");
    let mut clusters = kubeconfig_clusters(&file, None).expect("a kubeconfig");
    let options = WatchOptions {
        watch_lifetime: Duration::from_secs(5),
        ..WatchOptions::default()
    };
    let cluster = clusters.pop().expect("a context").with_options(options);
    ClusterSource::Kubernetes(Box::new(cluster))
}

/// The resources of an answer as `cluster app Kind/name state reason`, in order.
pub(crate) fn resources(answer: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for app in answer["apps"].as_array().into_iter().flatten() {
        for cluster in app["clusters"].as_array().into_iter().flatten() {
            for resource in cluster["resources"].as_array().into_iter().flatten() {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                lines.push(format!(
                    "{} {} {}/{} {} {}",
                    text(&cluster["cluster"]),
                    text(&app["name"]),
                    text(&resource["GVK"]["Kind"]),
                    text(&resource["name"]),
                    text(&resource["cluster-status"]),
                    text(&resource["reason"]),
                ));
            }
        }
    }
    lines.sort();
    lines
}

/// An object of the application, with its labels.
pub(crate) fn labelled(mut object: Value, app: &str) -> Value {
    object["metadata"]["namespace"] = NAMESPACE.into();
    object["metadata"]["labels"] = json!({
        "app.kubernetes.io/instance": "shop", "app.kubernetes.io/component": app,
    });
    object
}

/// Defines a custom Kind without a status subresource, and waits until the server serves it.
pub(crate) fn define(cluster: &Cluster, [group, version, plural, kind]: [&str; 4]) {
    cluster.apply(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
            "versions": [{"name": version, "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                },
            }}],
        },
    }));
    let path = format!("/apis/{group}/{version}/{plural}");
    cluster.client().wait_for_status(&path, 200, PATIENCE);
}

/// A workload of Pods with these labels, in a form that each controller accepts.
pub(crate) fn workload(kind: &str, name: &str, pod_labels: &Value, more: &Value) -> Value {
    let mut labels = json!({"app": name});
    merge(&mut labels, pod_labels);
    let mut spec = json!({
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]},
        },
    });
    merge(&mut spec, more);
    let object = json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec,
    });
    labelled(object, name)
}

fn merge(into: &mut Value, more: &Value) {
    let more = more.as_object().into_iter().flatten();
    for (key, value) in more {
        into[key] = value.clone();
    }
}
