//! Memory of reported objects in the pipeline, with their verdicts and views for queries.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kindsight_appcontext::{AppContexts, ContextMeta, NewApp, NewCluster, NewContext, Records};
use kindsight_clusters::ClusterEvent;
use kindsight_interpreter::{Interpreters, Limits};
use kindsight_model::{DeploymentId, DigName, Source, Subject, decode_bundle, decode_status};
use kindsight_pipeline::{Event, Pipeline};
use kindsight_store::{Batch, CACHE_BYTES, RedbStore, Store};
use serde_json::{Value, json};

use super::{LATER, resident_kb};

/// Number of apps. Each has a separate report.
const APPS: usize = 100;
/// Objects of each report.
const OBJECTS: usize = 500;
const CLUSTER: &str = "p+c";
const CONTEXT: &str = "1";

/// The report of a monitor. The benchmark repeats its objects under other names.
const RECORDED: &[u8] = include_bytes!(
    "../../../host/server/recording/clusters/vfw-cluster-provider+edge01/2755581958183303505-firewall.json"
);

/// Reports all objects, and prints the remaining memory and the size of the reports. Memory of interpreters, memo and
/// the store's cache is allocated before the measurement, by the same objects under other names. The size of the
/// store's cache does not depend on the number of objects.
pub(crate) fn print() {
    let limits = Limits {
        memo_bytes_max: 0,
        ..Limits::default()
    };
    let interpreters = Interpreters::start(limits, None).expect("an engine");
    let built_in = kindsight_plugins::BUILT_IN.iter();
    let built_in = built_in.map(|plugin| {
        let loaded = interpreters
            .load_built_in(plugin.wasm)
            .expect("a component");
        (Source::BuiltIn, loaded)
    });
    interpreters.publish(built_in.collect()).expect("a set");
    // The store is a file, as in production.
    let folder = tempfile::tempdir().expect("a folder");
    let store = RedbStore::open(&folder.path().join("store")).expect("a store");
    let store: Arc<dyn Store> = Arc::new(store);
    let contexts = AppContexts::new(Arc::clone(&store));
    fill_cache(&*store);
    let id = CONTEXT.parse().expect("an identity");
    contexts.create_as(&id, &context()).expect("a context");
    let mut pipeline = Pipeline::new(contexts, Records::new(store), Arc::new(interpreters));
    let _ = pipeline.load(0).expect("a store that can be read");
    let templates = templates();

    // One report of each shape, so that instances and buffers exist before the measurement.
    pipeline.handle(reported(0, 0, &templates).0, 0);
    let before = resident_kb();
    let (mut json_bytes, mut objects) = (0, 0);
    for app in 1..APPS {
        let (event, bytes, count) = reported(app, 1, &templates);
        json_bytes += bytes;
        objects += count;
        pipeline.handle(event, 0);
    }
    std::thread::sleep(LATER);
    pipeline.handle(reported(0, 2, &templates).0, 0);
    let held = usize::try_from(resident_kb().saturating_sub(before) * 1024).expect("memory");
    println!(
        "{objects} objects held: {} bytes each, of {} bytes of JSON: {} % of it",
        held / objects,
        json_bytes / objects,
        held * 100 / json_bytes,
    );
}

/// Fills the store's page cache with unused values.
fn fill_cache(store: &dyn Store) {
    const VALUE_BYTES: usize = 4 << 20;
    for number in 0..2 * CACHE_BYTES / VALUE_BYTES {
        let batch = Batch::new().put(format!("/bench/{number}"), vec![b'x'; VALUE_BYTES]);
        store.apply(&batch).expect("a write");
    }
}

fn context() -> NewContext {
    let apps = (0..APPS).map(|app| NewApp {
        name: format!("app{app}"),
        clusters: vec![NewCluster {
            cluster: CLUSTER.parse().expect("a name"),
            group: None,
            resources: Vec::new(),
        }],
    });
    NewContext {
        meta: ContextMeta::of_dig(&DigName::new("p", "ca", "v1", "dig").expect("a name")),
        apps: apps.collect(),
    }
}

fn templates() -> Vec<Value> {
    let objects = decode_bundle(RECORDED).expect("a bundle").report.objects;
    let read = objects.iter();
    let read = read.map(|object| serde_json::from_str(&object.json).expect("JSON"));
    read.collect()
}

/// The report on an app as an event, and the bytes of JSON and the number of its objects.
fn reported(app: usize, run: usize, templates: &[Value]) -> (Event, usize, usize) {
    let items = (0..OBJECTS).map(|at| {
        let mut object = templates[at % templates.len()].clone();
        object["metadata"]["name"] = json!(format!("object-{app}-{run}-{at}"));
        object["metadata"]["uid"] = json!(format!("{app}-{run}-{at}"));
        json!({"res": STANDARD.encode(object.to_string())})
    });
    let status = json!({"resourceStatuses": items.collect::<Vec<_>>()}).to_string();
    let deployment = DeploymentId {
        context: CONTEXT.parse().expect("an identity"),
        app: format!("app{app}").into(),
    };
    let bundle = decode_status(deployment, status.as_bytes()).expect("a bundle");
    let bytes = bundle
        .report
        .objects
        .iter()
        .map(|object| object.json.len())
        .sum();
    let count = bundle.report.objects.len();
    let cluster = CLUSTER.parse().expect("a name");
    let reports = vec![(Subject::Deployment(bundle.deployment), bundle.report)];
    let event = Event::Cluster(ClusterEvent::Reports {
        cluster,
        reports,
        missing: Vec::new(),
    });
    (event, bytes, count)
}
