//! The view of `serve` through the monitor, compared object by object with the view by direct watching.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record, Records,
    ResourceName,
};
use kindsight_cluster::{Client, Cluster, Credentials};
use kindsight_clusters::{ClusterSource, KubernetesCluster, PushedCluster, WatchOptions};
use kindsight_model::{ClusterName, ContextId, DigName, LifecycleState, ReportMode};
use kindsight_server::{Server, Settings, Timeouts};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::stage::{LABEL, PATIENCE, Stage, config_map, namespace};

const APP: &str = "4711-front";
const STATUS: &str =
    "/v2/projects/p/composite-apps/suite/v1/deployment-intent-groups/prod/status?type=cluster";
const NAMESPACES: [&str; 2] = ["web", "jobs"];
/// Names of each Kind, so that objects are often made again.
const NAMES: u64 = 4;
/// Number of random changes, and number of changes between two comparisons.
const CHANGES: usize = 60;
const CHANGES_AT_A_TIME: usize = 6;

/// A server that watches the cluster in one way.
struct View {
    client: Client,
    url: String,
    _runtime: Runtime,
    _folder: TempDir,
}

/// Random numbers of a test run: a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

fn cluster_name() -> ClusterName {
    "lab+view".parse().expect("a name")
}

/// A store with the context of one app, as an orchestrator would write it.
fn store() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
    let name = DigName::new("p", "suite", "v1", "prod").expect("a name");
    let manifest = config_map("web", "m0", APP);
    let resource = NewResource {
        resource: ResourceName::new("m0", "ConfigMap").expect("a name"),
        manifest: manifest.to_string(),
    };
    let context = NewContext {
        meta: ContextMeta::of_dig(&name),
        apps: vec![NewApp {
            name: "front".to_owned(),
            clusters: vec![NewCluster {
                cluster: cluster_name(),
                group: None,
                resources: vec![resource],
            }],
        }],
    };
    let id: ContextId = "4711".parse().expect("an id");
    let contexts = AppContexts::new(Arc::clone(&store));
    contexts.create_as(&id, &context).expect("a context");
    let record = Record {
        profile: None,
        actions: vec![Action {
            state: LifecycleState::Instantiated,
            instance: Some(id),
            time: "2026-01-01T00:00:00Z".to_owned(),
            revision: 0,
        }],
    };
    let records = Records::new(Arc::clone(&store));
    records.create(&name, &record).expect("a record");
    store
}

impl View {
    /// A server that watches the cluster.
    fn watching(cluster: &Cluster, mode: ReportMode) -> Self {
        let kubernetes =
            KubernetesCluster::from_kubeconfig(cluster_name(), cluster.kubeconfig(), None);
        let kubernetes = kubernetes.with_options(WatchOptions {
            mode,
            ..WatchOptions::default()
        });
        Self::start(ClusterSource::Kubernetes(Box::new(kubernetes)))
    }

    /// A server that the monitor pushes to.
    fn pushed() -> Self {
        Self::start(ClusterSource::Pushed(PushedCluster::new(cluster_name())))
    }

    fn start(source: ClusterSource) -> Self {
        let folder = TempDir::new().expect("a folder");
        let settings = Settings {
            cache: Some(folder.path().join("cache")),
            clusters: vec![source],
            timeouts: Timeouts {
                gone_for: Duration::from_millis(1),
                ..Timeouts::default()
            },
            ..Settings::new(store())
        };
        let runtime = Runtime::new().expect("an executor");
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        let url = format!("http://{}", server.address());
        runtime.spawn(async move { server.failed().await });
        Self {
            client: Client::new(&url, None, &Credentials::Nobody),
            url,
            _runtime: runtime,
            _folder: folder,
        }
    }

    /// The resources of the app, in order, without the times at which the server noticed their states.
    fn resources(&self) -> Vec<Value> {
        let answer = self.client.get(STATUS).unwrap_or_default();
        let resources = answer.pointer("/apps/0/clusters/0/resources");
        let resources = resources.and_then(Value::as_array).cloned();
        let mut resources = resources.unwrap_or_default();
        for resource in &mut resources {
            let members = resource.as_object_mut().expect("an object");
            members.retain(|key, _| key != "since");
        }
        resources.sort_by_key(|resource| {
            format!(
                "{} {} {}",
                resource["GVK"], resource["namespace"], resource["name"]
            )
        });
        resources
    }
}

/// One random object, which belongs to the app.
fn object(random: &mut Random) -> Value {
    let space = NAMESPACES[usize::try_from(random.below(2)).expect("an index")];
    let number = random.below(NAMES);
    let labels = json!({LABEL: APP});
    match random.below(5) {
        0 | 1 => config_map(space, &format!("m{number}"), APP),
        2 => json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": format!("s{number}"), "namespace": space, "labels": labels},
            "spec": {"selector": {"app": format!("d{number}")}, "ports": [{"port": 80}]}}),
        3 => json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": format!("r{number}"), "labels": labels}, "rules": []}),
        _ => json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": format!("d{number}"), "namespace": space, "labels": labels},
            "spec": {"replicas": random.below(3), "selector": {"matchLabels": {"app": format!("d{number}")}},
                "template": {
                    "metadata": {"labels": {"app": format!("d{number}"), LABEL: APP}},
                    "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]}}}}),
    }
}

/// Creates, changes or deletes a random object.
fn change(cluster: &Cluster, random: &mut Random) {
    let mut object = object(random);
    if random.below(3) == 0 {
        cluster.delete(&cluster.client().path(&object));
        return;
    }
    object["metadata"]["annotations"] =
        json!({"example.org/turn": random.below(1_000).to_string()});
    cluster.apply(&object);
}

#[test]
fn the_view_through_the_monitor_equals_the_view_by_direct_watching() {
    let Some(stage) = Stage::installed("view") else {
        return;
    };
    for name in NAMESPACES {
        namespace(&stage.cluster, name);
    }
    assert!(
        stage
            .install(&["--yes", "--grant-secrets"])
            .status
            .success()
    );
    stage
        .account()
        .wait_for_status("/api/v1/secrets", 200, PATIENCE);
    stage.send_state("default", APP);
    let direct = View::watching(&stage.cluster, ReportMode::Direct);
    let bundles = View::watching(&stage.cluster, ReportMode::Bundles);
    let pushed = View::pushed();
    let spool = TempDir::new().expect("a folder");
    let spool = spool.path().to_str().expect("a path");
    let arguments = [
        "--to",
        &pushed.url,
        "--cluster",
        "lab+view",
        "--spool",
        spool,
    ];
    let monitor = stage.start("alone", &arguments);
    let seed = 20_261_127;
    let mut random = Random(seed);
    let mut shown = 0;
    for turn in 0..CHANGES / CHANGES_AT_A_TIME {
        for _ in 0..CHANGES_AT_A_TIME {
            change(&stage.cluster, &mut random);
        }
        let began = Instant::now();
        loop {
            let expected = direct.resources();
            let (found, by_push) = (bundles.resources(), pushed.resources());
            if expected == found && expected == by_push && !expected.is_empty() {
                shown = shown.max(expected.len());
                break;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "turn {turn} of seed {seed}: by watching {expected:#?}, by ResourceBundleState {found:#?}, by push {by_push:#?}"
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    assert!(shown > 10, "only {shown} resources were compared");
    drop(monitor);
}
