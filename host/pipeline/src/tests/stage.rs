//! A pipeline over a store of its own, with interpreters to swap and clusters that report as scripted.

mod last_known;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_appcontext::{
    Action, AppContextWatch, AppContexts, ContextMeta, NewApp, NewCluster, NewContext, Record,
    Records,
};
use kindsight_clusters::ClusterEvent;
use kindsight_interpreter::{CodeCache, Interpreter, Interpreters, Limits};
use kindsight_model::{
    Bundle, ContextId, DeploymentId, DigName, LifecycleState, Source, Subject, decode_status,
};
use kindsight_read_model::ReadModel;
use kindsight_status::{ContextView, ResourceView};
use kindsight_store::{Connection, RedbStore, Store};

use crate::{Event, Pipeline, StoreReader};

/// The one cluster of every app.
const CLUSTER: &str = "p+c";

/// Identity of every Deployment.
const DEPLOYMENT: &str = r#""apiVersion": "apps/v1", "kind": "Deployment""#;

pub(super) struct Stage {
    pub(super) pipeline: Pipeline,
    pub(super) reader: StoreReader,
    watches: [AppContextWatch; 2],
    pub(super) interpreters: Arc<Interpreters>,
    loaded: BTreeMap<&'static str, Arc<Interpreter>>,
    pub(super) store: Arc<dyn Store>,
    pub(super) read_model: ReadModel,
    pub(super) folder: tempfile::TempDir,
}

/// The watches of contexts and records.
fn watches(reader: &StoreReader) -> [AppContextWatch; 2] {
    [reader.watch_contexts(), reader.watch_records()].map(Result::unwrap)
}

impl Stage {
    /// Contexts with their apps. The wildcard interpreter is published, and nothing was reported.
    pub(super) fn new(contexts: &[(&str, &[&str])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> =
            Arc::new(RedbStore::open(&folder.path().join("store")).unwrap());
        for (id, apps) in contexts {
            let contexts = AppContexts::new(Arc::clone(&store));
            contexts
                .create_as(&id.parse().unwrap(), &context(apps))
                .unwrap();
        }
        let ids: Vec<&str> = contexts.iter().map(|(id, _)| *id).collect();
        if !ids.is_empty() {
            record(&store, &ids);
        }
        // Beside the tests' own binary: compiled once, not once a test.
        let cache = std::env::current_exe().unwrap().with_extension("aot");
        let cache = CodeCache::open(&cache).unwrap();
        let interpreters = Interpreters::start(Limits::default(), Some(cache)).unwrap();
        let load = |name: &'static str| {
            let built_in = kindsight_plugins::built_in(name).unwrap();
            (name, interpreters.load_built_in(built_in.wasm).unwrap())
        };
        let loaded = BTreeMap::from(["generic", "core", "apps"].map(load));
        let generic = (Source::BuiltIn, Arc::clone(&loaded["generic"]));
        interpreters.publish(vec![generic]).unwrap();
        let interpreters = Arc::new(interpreters);
        let mut pipeline = pipeline(&store, &interpreters);
        let reader = pipeline.load(0).unwrap();
        assert!(!pipeline.swap_pending());
        Self {
            interpreters,
            loaded,
            store,
            read_model: pipeline.read_model().clone(),
            pipeline,
            watches: watches(&reader),
            reader,
            folder,
        }
    }

    /// Follows all changes of the stores.
    pub(super) fn follow_stores(&mut self, now_ms: i64) {
        let [contexts, records] = &mut self.watches;
        while let Some(changes) = contexts.try_next().unwrap() {
            self.reader.take_contexts(&changes);
        }
        while let Some(changes) = records.try_next().unwrap() {
            self.reader.take_records(&changes, now_ms);
        }
        self.pass_on(now_ms);
    }

    /// Passes on the changes that the reader found.
    pub(super) fn pass_on(&mut self, now_ms: i64) {
        let changes = self.reader.changes(now_ms);
        self.pipeline.handle(Event::Stores(changes), now_ms);
    }

    /// Changes of contexts were missed.
    pub(super) fn resync(&mut self, now_ms: i64) {
        self.reader.resync_contexts(now_ms);
        self.pass_on(now_ms);
    }

    /// Changes of records were missed.
    pub(super) fn resync_records(&mut self, now_ms: i64) {
        self.reader.resync_records(now_ms);
        self.pass_on(now_ms);
    }

    /// The connection to the store changed.
    pub(super) fn connect(&mut self, connection: Connection, now_ms: i64) {
        self.reader.connect(connection, now_ms);
        self.pass_on(now_ms);
    }

    /// Handles the changes that time causes. Returns the time of the next one.
    pub(super) fn recheck(&mut self, now_ms: i64) -> Option<i64> {
        self.pass_on(now_ms);
        let next = self.pipeline.recheck(|| now_ms);
        next.into_iter().chain(self.reader.due_ms()).min()
    }

    /// Takes the pipeline out, leaving an empty one.
    pub(super) fn take_pipeline(&mut self) -> Pipeline {
        let pipeline = pipeline(&self.store, &self.interpreters);
        std::mem::replace(&mut self.pipeline, pipeline)
    }

    /// Swaps the published set.
    pub(super) fn publish(&self, names: &[&str]) {
        let live = names
            .iter()
            .map(|name| (Source::BuiltIn, Arc::clone(&self.loaded[name])));
        self.interpreters.publish(live.collect()).unwrap();
    }

    /// Slices until nothing is pending.
    pub(super) fn follow(&mut self, now_ms: i64) {
        while self.pipeline.swap_pending() {
            self.pipeline.follow_swap(now_ms);
        }
    }

    /// The cluster reports on an app.
    pub(super) fn hear(&mut self, context: &str, app: &str, heard: &Heard, now_ms: i64) {
        self.pipeline.handle(heard.event(context, app), now_ms);
        self.store_bundles();
    }

    /// Stores what waits to be stored.
    pub(super) fn store_bundles(&self) {
        let contexts = self.pipeline.contexts();
        assert!(self.pipeline.bundles().write_all(contexts));
    }

    /// The record of kindsight names further contexts.
    pub(super) fn own(&mut self, contexts: &[&str]) {
        record(&self.store, contexts);
        self.follow_stores(0);
    }

    pub(super) fn judged_again(&self) -> u64 {
        self.pipeline.progress().objects()
    }

    /// The published view of a context.
    pub(super) fn view(&self, id: &str) -> Arc<ContextView> {
        let id: ContextId = id.parse().unwrap();
        let view = self.read_model.inspect(|model| model.context(&id).cloned());
        view.unwrap()
    }

    /// Returns whether a view was not replaced.
    pub(super) fn shows_still(&self, view: &Arc<ContextView>) -> bool {
        let id = view.id.as_ref().unwrap().as_str();
        Arc::ptr_eq(view, &self.view(id))
    }

    /// Kind, interpreter, and the number of objects of that Kind it judged.
    pub(super) fn said_by(&self, id: &str) -> Vec<(String, String, usize)> {
        let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
        each(&self.view(id), |_, resource| {
            let by = resource.verdict.by.as_ref().map_or("nobody", |by| &by.name);
            let key = (resource.gvk.kind.to_string(), by.to_owned());
            *counts.entry(key).or_default() += 1;
        });
        let counts = counts.into_iter();
        counts.map(|((kind, by), n)| (kind, by, n)).collect()
    }

    /// The interpreter that judged all objects of a Kind in a context.
    pub(super) fn by_of(&self, id: &str, kind: &str) -> String {
        let said = self.said_by(id);
        let mut of_kind = said.into_iter().filter(|(of, ..)| of == kind);
        let (_, by, _) = of_kind.next().unwrap();
        assert_eq!(of_kind.next(), None, "more than one spoke for {kind}");
        by
    }

    /// The states of an app, and how many are in each.
    pub(super) fn states(&self, id: &str, app: &str) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        each(&self.view(id), |of, resource| {
            if of == app {
                let state = resource.verdict.state.to_string();
                *counts.entry(state).or_default() += 1;
            }
        });
        counts.into_iter().collect()
    }

    /// Since when the resources of a context are in their states.
    pub(super) fn since(&self, id: &str) -> Vec<i64> {
        let mut since = BTreeSet::new();
        each(&self.view(id), |_, resource| {
            since.extend(resource.since_ms);
        });
        since.into_iter().collect()
    }
}

fn pipeline(store: &Arc<dyn Store>, interpreters: &Arc<Interpreters>) -> Pipeline {
    Pipeline::new(
        AppContexts::new(Arc::clone(store)),
        Records::new(Arc::clone(store)),
        Arc::clone(interpreters),
    )
}

/// The group that names the contexts of tests.
pub(super) fn owner() -> DigName {
    DigName::new("p", "ca", "v1", "owner").unwrap()
}

/// Records that contexts were instantiated by us.
fn record(store: &Arc<dyn Store>, contexts: &[&str]) {
    let records = Records::new(Arc::clone(store));
    let mut seen = records.get(&owner()).unwrap().unwrap_or_else(|| {
        let none = Record::default();
        records.create(&owner(), &none).unwrap();
        none
    });
    for id in contexts {
        let action = Action {
            state: LifecycleState::Instantiated,
            instance: Some(id.parse().unwrap()),
            time: "2026-11-22T12:00:00Z".to_owned(),
            revision: 0,
        };
        seen = records.append(&owner(), &seen, action).unwrap();
    }
}

fn each(view: &ContextView, mut look: impl FnMut(&str, &ResourceView)) {
    for app in &view.apps {
        for cluster in app.clusters() {
            for resource in cluster.resources().iter() {
                look(app.name(), resource);
            }
        }
    }
}

pub(super) fn context(apps: &[&str]) -> NewContext {
    let apps = apps.iter().map(|app| NewApp {
        name: (*app).to_owned(),
        clusters: vec![NewCluster {
            cluster: CLUSTER.parse().unwrap(),
            group: None,
            resources: Vec::new(),
        }],
    });
    NewContext {
        meta: ContextMeta::of_dig(&DigName::new("p", "ca", "v1", "dig").unwrap()),
        apps: apps.collect(),
    }
}

/// The report of a cluster on an app.
#[derive(Default)]
pub(super) struct Heard {
    deployments: Vec<String>,
    config_maps: Vec<String>,
}

/// So many Deployments that are ready.
pub(super) fn deployments(count: usize) -> Heard {
    let status = r#"{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
        "readyReplicas": 1, "availableReplicas": 1,
        "conditions": [{"type": "Available", "status": "True"}]}"#;
    let rest = format!(r#"{DEPLOYMENT}, "spec": {{"replicas": 1}}, "status": {status}"#);
    Heard {
        deployments: named(count, &rest),
        config_maps: Vec::new(),
    }
}

impl Heard {
    /// And so many ConfigMaps.
    pub(super) fn config_maps(mut self, count: usize) -> Self {
        let rest = r#""apiVersion": "v1", "kind": "ConfigMap", "data": {}"#;
        self.config_maps = named(count, rest);
        self
    }

    /// And so many Deployments that were made at 0 and say nothing.
    pub(super) fn new_and_silent(mut self, count: usize) -> Self {
        let created = r#""generation": 1, "creationTimestamp": "1970-01-01T00:00:00Z""#;
        let rest = format!(r#"{DEPLOYMENT}, "spec": {{"replicas": 1}}"#);
        let silent = named(count, &rest);
        self.deployments = silent
            .iter()
            .map(|one| one.replace(r#""generation": 1"#, created))
            .collect();
        self
    }

    /// The Deployments wait for a replica.
    pub(super) fn replicas_missing(mut self) -> Self {
        for one in &mut self.deployments {
            *one = one
                .replace(r#"{"replicas": 1}"#, r#"{"replicas": 2}"#)
                .replace(r#""status": "True""#, r#""status": "False""#);
        }
        self
    }

    /// The report of the cluster.
    pub(super) fn bundle(&self, context: &str, app: &str) -> Bundle {
        let json = format!(
            r#"{{"deploymentStatuses": [{}], "configMapStatuses": [{}]}}"#,
            self.deployments.join(","),
            self.config_maps.join(",")
        );
        let deployment = DeploymentId {
            context: context.parse().unwrap(),
            app: app.into(),
        };
        decode_status(deployment, json.as_bytes()).unwrap()
    }

    /// The report as an event of its cluster.
    pub(super) fn event(&self, context: &str, app: &str) -> Event {
        reported(CLUSTER, self.bundle(context, app))
    }
}

/// The report of a monitor as an event of its cluster.
pub(super) fn reported(cluster: &str, bundle: Bundle) -> Event {
    Event::Cluster(ClusterEvent::Reports {
        cluster: cluster.parse().unwrap(),
        reports: vec![(Subject::Deployment(bundle.deployment), bundle.report)],
        missing: Vec::new(),
    })
}

fn named(count: usize, rest: &str) -> Vec<String> {
    let names = 0..count;
    let one = |name| {
        let metadata = format!(r#"{{"name": "n{name}", "namespace": "default", "generation": 1}}"#);
        format!(r#"{{"metadata": {metadata}, {rest}}}"#)
    };
    names.map(one).collect()
}
