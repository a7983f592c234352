//! Clusters that operators register while servers run.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kindsight_cluster::{Binaries, Binary, Client, Cluster, Etcd, Options};
use kindsight_clusters::{HostSecrets, KubernetesCluster};
use kindsight_server::{RegistrySettings, Settings};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use ureq::http::Method;

use crate::code_cache;
use crate::stage::{NAMESPACE, PATIENCE, gone_for, labelled, serve};

const EDGE: &str = "/v2/cluster-providers/lab/clusters/edge01";
const TOKEN: &str = "registeredtoken";
/// The namespace of the host in its cluster.
const HOST_NAMESPACE: &str = "kindsight";

/// A cluster, a folder of kubeconfigs, and the store of servers.
struct Stage {
    cluster: Cluster,
    folder: TempDir,
    store: Arc<dyn Store>,
    _etcd: Etcd,
}

/// A running server; it ends when this value is dropped.
struct Running {
    client: Client,
    _runtime: Runtime,
}

impl Stage {
    fn start() -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::ALL)?;
        let etcd = Etcd::start(&binaries);
        let options = Options::api_server("edge01").user("admin", &["system:masters"], TOKEN);
        let cluster = Cluster::start(&etcd, &options);
        for namespace in [NAMESPACE, HOST_NAMESPACE] {
            cluster.apply(&json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace},
            }));
        }
        cluster.apply(&labelled(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "front"}}),
            "front",
        ));
        let folder = TempDir::new().expect("a folder");
        let stage = Self {
            cluster,
            folder,
            store: Arc::new(RedbStore::in_memory().expect("a store")),
            _etcd: etcd,
        };
        stage.write("edge01.yaml", &stage.kubeconfig());
        Some(stage)
    }

    /// A kubeconfig with its credentials in itself.
    fn kubeconfig(&self) -> Value {
        let authority = STANDARD.encode(self.cluster.authority().certificate());
        json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "edge",
            "contexts": [{"name": "edge", "context": {"cluster": "edge", "user": "admin"}}],
            "clusters": [{"name": "edge", "cluster": {
                "server": self.cluster.url(), "certificate-authority-data": authority,
            }}],
            "users": [{"name": "admin", "user": {"token": TOKEN}}],
        })
    }

    fn write(&self, name: &str, kubeconfig: &Value) {
        fs::write(self.folder.path().join(name), kubeconfig.to_string()).expect("a file");
    }

    /// Starts a server over the store.
    fn serve(&self) -> Running {
        let host = self.cluster.folder().join("host.kubeconfig");
        let who = [("host", &self.cluster, self.cluster.admin())];
        kindsight_cluster::write_kubeconfig(&host, &who);
        let name = "lab+host".parse().expect("a name");
        let host = KubernetesCluster::from_kubeconfig(name, host, None);
        let registry = RegistrySettings {
            folder: Some(self.folder.path().to_owned()),
            secrets: Some(HostSecrets::of_cluster(host, HOST_NAMESPACE)),
            ..RegistrySettings::default()
        };
        let (runtime, client) = serve(Settings {
            registry,
            cache: Some(code_cache::folder()),
            timeouts: gone_for(Duration::ZERO),
            ..Settings::new(Arc::clone(&self.store))
        });
        Running {
            client,
            _runtime: runtime,
        }
    }
}

impl Running {
    fn send(&self, method: Method, body: Option<&Value>) -> (u16, Value) {
        let body = body.map(|body| ("application/json", body));
        let answer = self.client.request(method, EDGE, body).expect("an answer");
        (answer.status, answer.body)
    }

    fn register(&self, body: &Value) -> (u16, Value) {
        self.send(Method::PUT, Some(body))
    }

    /// Waits until the cluster is connected, or is not listed.
    fn wait(&self, is_connected: bool) {
        let is_so = |list: &Value| {
            let clusters = list["clusters"].as_array().expect("a list");
            match clusters.as_slice() {
                [] => !is_connected,
                [one] => is_connected && one["connection"] == "connected",
                _ => false,
            }
        };
        self.client.wait("/v2/clusters", is_so, PATIENCE);
    }

    /// Waits until applications are found in the cluster, or none is.
    fn wait_for_application(&self, is_found: bool) {
        let is_so = |list: &Value| {
            let applications = list["applications"].as_array().expect("a list");
            applications.is_empty() != is_found
        };
        self.client.wait("/v2/applications", is_so, PATIENCE);
    }
}

#[test]
fn a_registered_cluster_is_watched_by_all_servers_until_it_is_deleted() {
    let Some(stage) = Stage::start() else { return };
    let (first, second) = (stage.serve(), stage.serve());
    let registration = json!({"kubeconfig-file": "edge01.yaml"});
    let (status, body) = first.register(&registration);
    assert_eq!(status, 201, "{body:#}");
    assert_eq!(body["registration"], registration, "{body:#}");
    let (status, _) = first.register(&registration);
    assert_eq!(status, 200);
    for server in [&first, &second] {
        server.wait(true);
        server.wait_for_application(true);
    }
    // It survives a restart.
    drop(first);
    let first = stage.serve();
    first.wait(true);
    let (status, body) = first.send(Method::GET, None);
    assert_eq!(
        (status, &body["configured"]),
        (200, &json!(false)),
        "{body:#}"
    );
    let (status, body) = second.send(Method::DELETE, None);
    assert_eq!(status, 204, "{body:#}");
    for server in [&first, &second] {
        server.wait(false);
        server.wait_for_application(false);
        assert_eq!(server.send(Method::GET, None).0, 404);
    }
}

#[test]
fn a_kubeconfig_in_a_secret_of_the_own_namespace_is_used_and_checked() {
    let Some(stage) = Stage::start() else { return };
    let secret = |name: &str, namespace: &str, key: &str, kubeconfig: &Value| {
        let value = STANDARD.encode(kubeconfig.to_string());
        stage.cluster.apply(&json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": name, "namespace": namespace}, "data": {key: value},
        }));
    };
    secret("edge01", HOST_NAMESPACE, "value", &stage.kubeconfig());
    secret("elsewhere", NAMESPACE, "value", &stage.kubeconfig());
    secret("other-key", HOST_NAMESPACE, "password", &json!("s3cret"));
    let mut exec = stage.kubeconfig();
    exec["users"][0]["user"] =
        json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "id"}});
    secret("exec", HOST_NAMESPACE, "kubeconfig", &exec);
    let server = stage.serve();
    for hostile in [
        "elsewhere",
        "other-key",
        "exec",
        "../web/elsewhere",
        "absent",
        "",
    ] {
        let (status, body) = server.register(&json!({"kubeconfig-secret": hostile}));
        assert_eq!(status, 400, "{hostile}: {body:#}");
        let text = body.to_string();
        assert!(!text.contains("s3cret") && !text.contains(TOKEN), "{text}");
    }
    let (status, body) = server.register(&json!({"kubeconfig-secret": "edge01"}));
    assert_eq!(status, 201, "{body:#}");
    server.wait(true);
    server.wait_for_application(true);
}

#[test]
fn a_kubeconfig_that_becomes_hostile_is_not_used() {
    let Some(stage) = Stage::start() else { return };
    let server = stage.serve();
    let (status, body) = server.register(&json!({"kubeconfig-file": "edge01.yaml"}));
    assert_eq!(status, 201, "{body:#}");
    server.wait(true);
    let mut exec = stage.kubeconfig();
    let ran = stage.folder.path().join("ran");
    exec["users"][0]["user"] = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [ran],
    }});
    stage.write("edge01.yaml", &exec);
    let is_refused = |list: &Value| {
        let reason = list["clusters"][0]["error"].as_str().unwrap_or_default();
        reason.contains("`exec` is not allowed")
    };
    server.client.wait("/v2/clusters", is_refused, PATIENCE);
    assert!(!ran.exists());
    // A corrected file is used.
    stage.write("edge01.yaml", &stage.kubeconfig());
    server.wait(true);
}

#[test]
fn an_application_of_a_namespace_that_is_not_registered_is_not_found() {
    let Some(stage) = Stage::start() else { return };
    let server = stage.serve();
    let registration = json!({"kubeconfig-file": "edge01.yaml", "namespaces": [HOST_NAMESPACE]});
    let (status, body) = server.register(&registration);
    assert_eq!(status, 201, "{body:#}");
    server.wait(true);
    server.wait_for_application(false);
    let registration = json!({"kubeconfig-file": "edge01.yaml", "namespaces": [NAMESPACE]});
    assert_eq!(server.register(&registration).0, 200);
    server.wait_for_application(true);
}
