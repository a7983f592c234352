//! A host without a server: the pipeline over a store.

use std::sync::Arc;
use std::time::Duration;

use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record, Records,
    ResourceName,
};
use kindsight_clusters::ClusterEvent;
use kindsight_interpreter::{Interpreters, Limits};
use kindsight_model::{
    ContextId, ContextStatus, DeploymentId, DigName, Source, Subject, decode_status,
};
use kindsight_pipeline::{Pipeline, PipelineRun, QueuedEvent, Stores, Unsynced, follow};
use kindsight_read_model::{ReadModel, Subscription};
use kindsight_status::ContextView;
use kindsight_store::{EtcdOptions, Store, StoreAddress};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

pub(crate) const APP: &str = "app";
pub(crate) const CLUSTER: &str = "p+c";
/// Number of resources of a context, unless a benchmark says otherwise.
pub(crate) const RESOURCES: usize = 16;

/// Opens a store in an etcd.
pub(crate) fn connect(etcd: &kindsight_cluster::Etcd) -> Arc<dyn Store> {
    let address = etcd.url().replace("http://", "etcd://");
    let address: StoreAddress = address.parse().expect("an address");
    kindsight_store::open(&address, &EtcdOptions::default()).expect("a store")
}

/// A host without a server: the pipeline over a store.
pub(crate) struct Host {
    store: Arc<dyn Store>,
    read_model: ReadModel,
    events: mpsc::Sender<QueuedEvent>,
    runtime: Runtime,
    shutdown: CancellationToken,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

impl Host {
    pub(crate) fn start(store: &Arc<dyn Store>) -> Self {
        let interpreters = Interpreters::start(Limits::default(), None).expect("an engine");
        let built_in = kindsight_plugins::BUILT_IN.iter();
        let built_in = built_in.map(|plugin| {
            let loaded = interpreters
                .load_built_in(plugin.wasm)
                .expect("a component");
            (Source::BuiltIn, loaded)
        });
        interpreters.publish(built_in.collect()).expect("a set");
        let mut pipeline = Pipeline::new(
            AppContexts::new(Arc::clone(store)),
            Records::new(Arc::clone(store)),
            Arc::new(interpreters),
        );
        let read_model = pipeline.read_model().clone();
        let reader = pipeline.load(0).expect("a store that can be read");
        let (events, events_rx) = mpsc::channel(64);
        let (_, reported_rx) = mpsc::channel(1);
        let shutdown = CancellationToken::new();
        let stores = Stores {
            reader,
            connection: store.connection(),
            clock: || 0,
        };
        let run = PipelineRun {
            pipeline,
            events_rx,
            swapped: Arc::new(Notify::new()),
            reported_rx,
            unsynced: Arc::new(Unsynced::default()),
            handled: Arc::new(|_, _| {}),
            clock: || 0,
        };
        let runtime = Runtime::new().expect("an executor");
        runtime.spawn(run.run(shutdown.clone()));
        runtime.spawn(follow(stores, events.clone(), shutdown.clone()));
        Self {
            store: Arc::clone(store),
            read_model,
            events,
            runtime,
            shutdown,
        }
    }

    /// Creates a context. A context of this host has a record.
    pub(crate) fn create(&self, id: &str, is_ours: bool) -> ContextId {
        self.create_in(CLUSTER, id, RESOURCES, is_ours)
    }

    /// Creates a context with so many resources in a cluster.
    pub(crate) fn create_in(
        &self,
        cluster: &str,
        id: &str,
        resources: usize,
        is_ours: bool,
    ) -> ContextId {
        let id: ContextId = id.parse().expect("an id");
        let dig = DigName::new("p", "ca", "v1", &format!("dig{id}")).expect("a name");
        let resource = |number: usize| NewResource {
            resource: ResourceName::new(&format!("d{number}"), "Deployment").expect("a name"),
            manifest: format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d{number}\n"
            ),
        };
        let cluster = NewCluster {
            cluster: cluster.parse().expect("a name"),
            group: None,
            resources: (0..resources).map(resource).collect(),
        };
        let new = NewContext {
            meta: ContextMeta::of_dig(&dig),
            apps: vec![NewApp {
                name: APP.to_owned(),
                clusters: vec![cluster],
            }],
        };
        let contexts = AppContexts::new(Arc::clone(&self.store));
        contexts.create_as(&id, &new).expect("a context");
        if is_ours {
            let action: Action = serde_json::from_value(
                json!({"state": "Instantiated", "instance": id.as_str(), "time": "2021-01-01T00:00:00Z"}),
            )
            .expect("an action");
            let record = Record {
                profile: None,
                actions: vec![action],
            };
            let records = Records::new(Arc::clone(&self.store));
            records.create(&dig, &record).expect("a record");
        }
        let _ = contexts
            .record_status(&id, ContextStatus::Instantiated)
            .expect("a status");
        id
    }

    pub(crate) fn report(&self, id: &ContextId, number: usize) {
        self.report_from(CLUSTER, id, number);
    }

    /// The cluster reports Deployments with `number` replicas.
    pub(crate) fn report_from(&self, cluster: &str, id: &ContextId, number: usize) {
        let deployment = DeploymentId {
            context: id.clone(),
            app: APP.into(),
        };
        let bundle = decode_status(deployment, status(number).as_bytes()).expect("a bundle");
        let cluster = cluster.parse().expect("a name");
        let reports = vec![(Subject::Deployment(bundle.deployment), bundle.report)];
        let event = QueuedEvent::from(ClusterEvent::Reports {
            cluster,
            reports,
            missing: Vec::new(),
        });
        self.events.blocking_send(event).expect("a pipeline");
    }

    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let ((), mut changes): ((), Subscription) = self.read_model.subscribe(|_| ());
        let waited = async {
            while !is_so(self) {
                let _ = tokio::time::timeout(Duration::from_millis(100), changes.next()).await;
            }
        };
        let waited = async { tokio::time::timeout(Duration::from_mins(1), waited).await };
        let done = self.runtime.block_on(waited);
        done.unwrap_or_else(|_| panic!("{what} is not shown"));
    }

    pub(crate) fn is_shown(&self, id: &ContextId) -> bool {
        self.read_model
            .inspect(|snapshot| snapshot.context(id).is_some())
    }

    /// Returns whether the Deployments of a report are shown.
    pub(crate) fn shows(&self, id: &ContextId, number: usize) -> bool {
        let text = format!("{number} of {number} ");
        self.view(id, |view| {
            let clusters = view.clusters();
            let mut resources = clusters.flat_map(|cluster| cluster.resources().iter());
            resources.any(|resource| format!("{:?}", resource.verdict).contains(&text))
        })
    }

    /// Reads the view of a context. False if it is not shown.
    pub(crate) fn view(&self, id: &ContextId, read: impl Fn(&ContextView) -> bool) -> bool {
        self.read_model
            .inspect(|model| model.context(id).is_some_and(|view| read(view)))
    }
}

/// The report of a monitor: Deployments with `number` replicas.
pub(crate) fn status(number: usize) -> String {
    let deployment = |at: usize| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": format!("d{at}"), "namespace": "default", "generation": 1},
            "spec": {"replicas": number},
            "status": {"observedGeneration": 1, "replicas": number, "updatedReplicas": number,
                "readyReplicas": number, "availableReplicas": number,
                "conditions": [{"type": "Available", "status": "True"}]},
        })
    };
    let all: Vec<_> = (0..RESOURCES).map(deployment).collect();
    json!({"ready": false, "resourceCount": 0, "deploymentStatuses": all}).to_string()
}
