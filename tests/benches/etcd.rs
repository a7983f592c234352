//! Time from a report, and from a change in an etcd, to the answer, beside one bare put of the same size.
//!
//! `cargo bench -p kindsight-tests --bench etcd`. The etcd is a real one with one member that syncs its log to
//! the disk at each write, on the same machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, DigRecord, NewApp, NewCluster, NewContext, NewResource,
    Records, ResourceName,
};
use kindsight_cluster::{Binaries, Binary, Etcd};
use kindsight_clusters::ClusterEvent;
use kindsight_interpreter::{Interpreters, Limits};
use kindsight_model::{ContextId, ContextStatus, DeploymentId, DigName, Source, decode_status};
use kindsight_pipeline::{Event, Pipeline, PipelineRun, Stores, Unsynced, follow};
use kindsight_status::{ReadModel, Subscription};
use kindsight_store::{Batch, EtcdOptions, Store, StoreAddress};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const APP: &str = "app";
const CLUSTER: &str = "p+c";
/// Resources of each context.
const RESOURCES: usize = 16;
/// Reports, and changes by another writer.
const TIMES: usize = 500;
/// Time between two of them.
const PAUSE: Duration = Duration::from_millis(5);

fn main() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let etcd = Etcd::start_with(&binaries, &[]);
    let host = Host::start(&connect(&etcd));
    let ours = host.create("1", true);
    let others = host.create("2", false);
    host.wait_for("status", |_| host.is_shown(&ours) && host.is_shown(&others));

    let bare = connect(&etcd);
    let mut puts = Vec::new();
    for number in 0..TIMES {
        let value = status(number);
        let began = Instant::now();
        bare.apply(&Batch::new().put("/bench/", value))
            .expect("a put");
        puts.push(began.elapsed());
        std::thread::sleep(PAUSE);
    }
    let mut reported = Vec::new();
    for number in 1..=TIMES {
        let began = Instant::now();
        host.report(&ours, number);
        host.wait_for("a report", |host| host.shows(&ours, number));
        reported.push(began.elapsed());
        std::thread::sleep(PAUSE);
    }
    let other_writer = AppContexts::new(bare);
    let mut written = Vec::new();
    for number in 1..=TIMES {
        let began = Instant::now();
        let cluster = CLUSTER.parse().expect("a name");
        let _ = other_writer
            .record_bundle(&others, APP, &cluster, &status(number))
            .expect("a write");
        host.wait_for("a change", |host| host.shows(&others, number));
        written.push(began.elapsed());
        std::thread::sleep(PAUSE);
    }
    println!("{TIMES} times, {} bytes each, in ms:", status(1).len());
    print("one bare put", &mut puts);
    print("a report, until it is queryable", &mut reported);
    print(
        "another writer's report, from before its write",
        &mut written,
    );
}

fn connect(etcd: &Etcd) -> Arc<dyn Store> {
    let address = etcd.url().replace("http://", "etcd://");
    let address: StoreAddress = address.parse().expect("an address");
    kindsight_store::open(&address, &EtcdOptions::default()).expect("a store")
}

fn print(what: &str, times: &mut [Duration]) {
    times.sort();
    let at = |percent: usize| {
        let position = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times[position].as_secs_f64() * 1000.0
    };
    println!("  {what:<48} p50 {:>6.2}  p99 {:>6.2}", at(50), at(99));
}

/// A host without a server: the pipeline over a store.
struct Host {
    store: Arc<dyn Store>,
    read_model: Arc<ReadModel>,
    events: mpsc::Sender<Event>,
    runtime: Runtime,
    shutdown: CancellationToken,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

impl Host {
    fn start(store: &Arc<dyn Store>) -> Self {
        let interpreters = Interpreters::start(Limits::default(), None).expect("an engine");
        let built_in = kindsight_plugins::BUILT_IN.iter();
        let built_in = built_in.map(|it| {
            let loaded = interpreters.load_built_in(it.wasm).expect("a component");
            (Source::BuiltIn, loaded)
        });
        interpreters.publish(built_in.collect()).expect("a set");
        let read_model = Arc::new(ReadModel::default());
        let contexts = AppContexts::new(Arc::clone(store));
        let mut pipeline = Pipeline::new(
            contexts.clone(),
            Records::new(Arc::clone(store)),
            Arc::new(interpreters),
            Arc::clone(&read_model),
        );
        let loaded = pipeline.load(0).expect("a store that can be read");
        let (events, events_rx) = mpsc::channel(64);
        let (_, inventory_rx) = mpsc::channel(1);
        let shutdown = CancellationToken::new();
        let stores = Stores {
            contexts,
            connection: store.connection(),
            records: pipeline.records().clone(),
        };
        let run = PipelineRun {
            pipeline,
            events_rx,
            swapped: Arc::new(Notify::new()),
            inventory_rx,
            unsynced: Arc::new(Unsynced::default()),
            clock: || 0,
        };
        let runtime = Runtime::new().expect("an executor");
        runtime.spawn(run.run(shutdown.clone()));
        runtime.spawn(follow(stores, loaded, events.clone(), shutdown.clone()));
        Self {
            store: Arc::clone(store),
            read_model,
            events,
            runtime,
            shutdown,
        }
    }

    /// Creates a context; one that is ours has a record.
    fn create(&self, id: &str, is_ours: bool) -> ContextId {
        let id: ContextId = id.parse().expect("an id");
        let dig = DigName::new("p", "ca", "v1", &format!("dig{id}")).expect("a name");
        let resource = |number: usize| NewResource {
            resource: ResourceName::new(&format!("d{number}"), "Deployment").expect("a name"),
            manifest: format!(
                "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d{number}\n"
            ),
        };
        let cluster = NewCluster {
            cluster: CLUSTER.parse().expect("a name"),
            group: None,
            resources: (0..RESOURCES).map(resource).collect(),
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
            let record = DigRecord {
                profile: None,
                actions: vec![action],
            };
            let records = Records::new(Arc::clone(&self.store));
            records.create_dig(&dig, &record).expect("a record");
        }
        let _ = contexts
            .record_status(&id, ContextStatus::Instantiated)
            .expect("a status");
        id
    }

    fn report(&self, id: &ContextId, number: usize) {
        let deployment = DeploymentId {
            context: id.clone(),
            app: APP.into(),
        };
        let bundle = decode_status(deployment, status(number).as_bytes()).expect("a bundle");
        let cluster = CLUSTER.parse().expect("a name");
        let event = Event::Cluster(ClusterEvent::Bundle { cluster, bundle });
        self.events.blocking_send(event).expect("a pipeline");
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
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

    fn is_shown(&self, id: &ContextId) -> bool {
        self.read_model.inspect(|it| it.context(id).is_some())
    }

    /// Returns whether the Deployments of a report are shown.
    fn shows(&self, id: &ContextId, number: usize) -> bool {
        let text = format!("{number} of {number} ");
        self.read_model.inspect(|it| {
            let view = it.context(id);
            let clusters = view
                .iter()
                .flat_map(|it| &it.apps)
                .flat_map(|it| &it.clusters);
            let mut resources = clusters.flat_map(|it| it.resources().iter());
            resources.any(|it| format!("{:?}", it.verdict).contains(&text))
        })
    }
}

/// The report of a monitor: Deployments with so many replicas.
fn status(number: usize) -> String {
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
