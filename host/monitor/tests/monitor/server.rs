//! Servers that show one app of an AppContext, each by another source.

use std::sync::Arc;
use std::time::Duration;

use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record, Records,
    ResourceName,
};
use kindsight_cluster::{Client, Cluster, Credentials};
use kindsight_clusters::{ClusterSource, KubernetesCluster, PushedCluster, WatchOptions};
use kindsight_model::{ClusterName, DeploymentId, DigName, LifecycleState, ReportMode};
use kindsight_server::{Server, Settings, Timeouts};
use kindsight_store::{RedbStore, Store};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::code_cache;
use crate::stage::config_map;

/// The name of the cluster on the servers.
pub(crate) const CLUSTER: &str = "lab+view";
const STATUS: &str =
    "/v2/projects/p/composite-apps/suite/v1/deployment-intent-groups/prod/status?type=cluster";

/// A server that watches the cluster in one way.
pub(crate) struct View {
    client: Client,
    /// The address of the server.
    pub(crate) url: String,
    _runtime: Runtime,
    _folder: TempDir,
}

fn cluster_name() -> ClusterName {
    CLUSTER.parse().expect("a name")
}

/// A store with the context of one app, as an orchestrator would write it.
fn store(deployment: &DeploymentId) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
    let name = DigName::new("p", "suite", "v1", "prod").expect("a name");
    let manifest = config_map("web", "m0", &deployment.to_string());
    let resource = NewResource {
        resource: ResourceName::new("m0", "ConfigMap").expect("a name"),
        manifest: manifest.to_string(),
    };
    let context = NewContext {
        meta: ContextMeta::of_dig(&name),
        apps: vec![NewApp {
            name: deployment.app.to_string(),
            clusters: vec![NewCluster {
                cluster: cluster_name(),
                group: None,
                resources: vec![resource],
            }],
        }],
    };
    let id = deployment.context.clone();
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
    pub(crate) fn watching(cluster: &Cluster, mode: ReportMode, deployment: &str) -> Self {
        let kubernetes =
            KubernetesCluster::from_kubeconfig(cluster_name(), cluster.kubeconfig(), None);
        let kubernetes = kubernetes.with_options(WatchOptions {
            mode,
            ..WatchOptions::default()
        });
        Self::start(ClusterSource::Kubernetes(Box::new(kubernetes)), deployment)
    }

    /// A server that the monitor pushes to.
    pub(crate) fn pushed(deployment: &str) -> Self {
        let source = ClusterSource::Pushed(PushedCluster::new(cluster_name()));
        Self::start(source, deployment)
    }

    fn start(source: ClusterSource, deployment: &str) -> Self {
        let folder = TempDir::new().expect("a folder");
        let settings = Settings {
            cache: Some(code_cache::folder()),
            clusters: vec![source],
            timeouts: Timeouts {
                gone_for: Duration::from_millis(1),
                ..Timeouts::default()
            },
            ..Settings::new(store(&deployment.parse().expect("a deployment")))
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
    pub(crate) fn resources(&self) -> Vec<Value> {
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
