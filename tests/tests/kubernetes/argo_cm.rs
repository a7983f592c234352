//! The health scripts of a running Argo CD: its ConfigMap is followed with the rights for this one object.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kindsight_cluster::{Binaries, Binary, Client, Cluster, Credentials, Etcd, Options};
use kindsight_clusters::{ClusterSource, WatchOptions, kubeconfig_clusters};
use kindsight_conversion::argo;
use kindsight_interpreter::{CodeCache, Interpreters, Limits};
use kindsight_server::{ArgoCm, Settings};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::code_cache;
use crate::rights::{binding, role};
use crate::stage::{NAMESPACE, PATIENCE, SHOP, gone_for, labelled, resources, serve};

const TOKEN: &str = "watchertoken";
const ARGO: &str = "argocd";
const CONFIG_MAP: &str = "/api/v1/namespaces/argocd/configmaps/argocd-cm";
const ROLE: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/argocd/roles/kindsight";
const SERVICE: &str = "resource.customizations.health.Service";
const NODE: &str = "resource.customizations.health.Node";
/// The older key, whose Kinds may have wildcards. `*/*` is not for the core group.
const OLDER: &str = "resource.customizations";
const HEALTHY: &str = "return {status = 'Healthy', message = 'one'}";
const DEGRADED: &str = "return {status = 'Degraded', message = 'two'}";
const SUSPENDED: &str = r#"
"Serv*":
  health.lua: |
    return {status = 'Suspended', message = 'three'}
"#;
const BROKEN: &str = "return {status = ";

/// A cluster with Argo CD's namespace, and the files of servers.
struct Stage {
    cluster: Cluster,
    folder: TempDir,
    store: Arc<dyn Store>,
    _etcd: Etcd,
}

impl Stage {
    fn start() -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::ALL)?;
        let etcd = Etcd::start(&binaries);
        let options = Options::api_server("edge01").user("watcher", &[], TOKEN);
        let cluster = Cluster::start(&etcd, &options);
        for namespace in [NAMESPACE, ARGO] {
            cluster.apply(&json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace},
            }));
        }
        cluster.apply(&role(&["services"]));
        cluster.apply(&binding());
        let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
            "spec": {"ports": [{"port": 80}]}});
        cluster.apply(&labelled(service, "front"));
        let stage = Self {
            cluster,
            folder: TempDir::new().expect("a folder"),
            store: Arc::new(RedbStore::in_memory().expect("a store")),
            _etcd: etcd,
        };
        stage.grant();
        Some(stage)
    }

    /// The role of `docs/argo-cd.md`.
    fn grant(&self) {
        self.cluster.apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "kindsight", "namespace": ARGO},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"],
                "resourceNames": ["argocd-cm"], "verbs": ["get", "list", "watch"]}],
        }));
        self.cluster.apply(&json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "kindsight", "namespace": ARGO},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "kindsight"},
            "subjects": [{"kind": "User", "name": "watcher", "apiGroup": "rbac.authorization.k8s.io"}],
        }));
    }

    fn apply(&self, entries: &[(&str, &str)]) {
        self.cluster.apply(&json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "argocd-cm", "namespace": ARGO}, "data": data(entries),
        }));
    }

    /// Compiles the interpreters of these ConfigMaps into the cache, because the server would start this test program
    /// as a compiler.
    fn compile(config_maps: &[&[(&str, &str)]]) {
        let cache = CodeCache::open(&code_cache::folder()).expect("the cache");
        let engine = Interpreters::start(Limits::default(), Some(cache)).expect("an engine");
        for entries in config_maps {
            let conversion = argo::from_config_map(argo::NAME, &data(entries));
            let conversion = conversion.expect("rules");
            engine.load(&conversion.component).expect("it loads");
        }
    }

    /// Starts a server with the rights of the watcher.
    fn serve(&self) -> Running {
        let file = self.cluster.folder().join("watcher.kubeconfig");
        let token = Credentials::Token(TOKEN.to_owned());
        let who = [(self.cluster.name(), &self.cluster, &token)];
        kindsight_cluster::write_kubeconfig(&file, &who);
        let mut clusters = kubeconfig_clusters(&file, None).expect("a kubeconfig");
        let options = WatchOptions {
            watch_lifetime: Duration::from_secs(5),
            ..WatchOptions::default()
        };
        let cluster = clusters.pop().expect("a context").with_options(options);
        let config_map = format!("{}/argocd/argocd-cm", cluster.name());
        let (runtime, client) = serve(Settings {
            argo_cm: Some(ArgoCm {
                config_map: config_map.parse().expect("a name"),
                kept: Some(self.folder.path().join("argo-cm.json")),
            }),
            clusters: vec![ClusterSource::Kubernetes(Box::new(cluster))],
            cache: Some(code_cache::folder()),
            timeouts: gone_for(Duration::ZERO),
            ..Settings::new(Arc::clone(&self.store))
        });
        Running {
            client,
            config_map,
            _runtime: runtime,
        }
    }
}

fn data(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    let entries = entries.iter();
    entries
        .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()))
        .collect()
}

/// A running server; it ends when this value is dropped.
struct Running {
    client: Client,
    config_map: String,
    _runtime: Runtime,
}

impl Running {
    /// Waits for a verdict on the Service.
    fn wait_for_verdict(&self, verdict: &str) {
        let expected = format!("edge01 front Service/front {verdict}");
        let is_so = |answer: &Value| {
            let resources = resources(answer);
            matches!(resources.as_slice(), [one] if one.starts_with(&expected))
        };
        self.client.wait(SHOP, is_so, PATIENCE);
    }

    /// Waits until the list of refusals has a line about the ConfigMap with these texts.
    fn wait_for_refusal(&self, texts: &[&str]) {
        let is_it = |refused: &Value| {
            let why = refused["why"].as_str().unwrap_or_default();
            refused["source"] == "config-map"
                && refused["file"] == self.config_map.as_str()
                && texts.iter().all(|text| why.contains(text))
        };
        let is_so = |list: &Value| {
            let refused = list["refused"].as_array();
            refused.into_iter().flatten().any(is_it)
        };
        self.client.wait("/v2/interpreters", is_so, PATIENCE);
    }

    /// Waits until the interpreter of the ConfigMap judges these Kinds.
    fn wait_for_kinds(&self, kinds: &[&str]) {
        let is_so = |list: &Value| {
            let interpreters = list["interpreters"].as_array();
            let mut interpreters = interpreters.into_iter().flatten();
            interpreters.any(|interpreter| {
                interpreter["name"] == argo::NAME
                    && interpreter["source"] == "config-map"
                    && interpreter["kinds"] == json!(kinds)
            })
        };
        self.client.wait("/v2/interpreters", is_so, PATIENCE);
    }
}

#[test]
fn the_scripts_of_a_config_map_are_followed_and_the_last_good_ones_are_kept() {
    let Some(stage) = Stage::start() else { return };
    Stage::compile(&[
        &[(SERVICE, HEALTHY)],
        &[(SERVICE, DEGRADED)],
        &[(SERVICE, DEGRADED), (NODE, HEALTHY)],
        &[(OLDER, SUSPENDED)],
    ]);
    let server = stage.serve();
    server.wait_for_refusal(&["the ConfigMap does not exist", "no rule of it is live"]);

    // A rule appears, ranks above the built-in one, and the history names what it replaces.
    stage.apply(&[(SERVICE, HEALTHY), ("url", "https://argo.example.com")]);
    server.wait_for_verdict("Ready Healthy");
    let detail = server.client.get("/v2/interpreters/argo-cd");
    let detail = detail.expect("an interpreter");
    let history = detail["history"].to_string();
    assert!(
        history.contains("takes core/*/Service from core"),
        "{detail:#}"
    );
    assert_eq!(detail["source"], "config-map", "{detail:#}");

    // It changes.
    stage.apply(&[(SERVICE, DEGRADED)]);
    server.wait_for_verdict("Failed Degraded");

    // It breaks: its last good version stays, the reason is shown, and another rule goes live.
    stage.apply(&[(SERVICE, BROKEN), (NODE, HEALTHY)]);
    server.wait_for_refusal(&[SERVICE, "is not valid", "the last good rules stay live"]);
    server.wait_for_kinds(&["core/*/Node", "core/*/Service"]);
    server.wait_for_verdict("Failed Degraded");

    // Also after a restart.
    drop(server);
    let server = stage.serve();
    server.wait_for_refusal(&[SERVICE, "is not valid", "the last good rules stay live"]);
    server.wait_for_kinds(&["core/*/Node", "core/*/Service"]);
    server.wait_for_verdict("Failed Degraded");

    // The ConfigMap is deleted: its rules stay.
    assert!(stage.cluster.delete(CONFIG_MAP), "it was there");
    server.wait_for_refusal(&[
        "the ConfigMap does not exist",
        "the last good rules stay live",
    ]);
    server.wait_for_verdict("Failed Degraded");

    // A script for a pattern comes before the built-in rules for exact Kinds, as in Argo CD.
    stage.apply(&[(OLDER, SUSPENDED)]);
    server.wait_for_verdict("Suspended Suspended");

    // The rights are withdrawn: the rules stay, and a change is not seen until they are granted again.
    assert!(stage.cluster.delete(ROLE), "it was there");
    server.wait_for_refusal(&[
        "cannot be read: not allowed",
        "the last good rules stay live",
    ]);
    stage.apply(&[("url", "https://argo.example.com")]);
    server.wait_for_verdict("Suspended Suspended");

    // No script is left: the built-in rule judges again.
    stage.grant();
    let is_removed = |list: &Value| {
        let interpreters = list["interpreters"].as_array();
        let mut interpreters = interpreters.into_iter().flatten();
        !interpreters.any(|one| one["name"] == argo::NAME && one["status"] == "live")
    };
    server.client.wait("/v2/interpreters", is_removed, PATIENCE);
    server.client.wait(
        SHOP,
        |answer| {
            let resources = resources(answer);
            matches!(resources.as_slice(), [one] if !one.ends_with("Suspended"))
        },
        PATIENCE,
    );
}
