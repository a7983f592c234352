//! The parts of a server: loaded from the store, then run.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use kindsight_appcontext::{AppContexts, Records};
use kindsight_catalog::{
    Catalog, CatalogOptions, ComponentDirectory, follow_hosts, run_breaker, watch_directory,
};
use kindsight_model::ClusterName;
use kindsight_pipeline::{Loaded as StoredUpTo, Pipeline, PipelineRun, Stores, Unsynced, follow};
use kindsight_rest::{AppState, Ended};
use kindsight_status::ReadModel;
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc, watch};

use crate::catalog_api::CatalogApi;
use crate::clock::now_ms;
use crate::engine;
use crate::error::Error;
use crate::interpret_api::InterpretApi;
use crate::mongodb::{self, StatesSource};
use crate::settings::Settings;
use crate::sources::Sources;
use crate::sweeping::sweep;
use crate::tasks::Tasks;

/// Events that wait for the pipeline: a cluster that reports more waits until there is a place.
const EVENTS_MAX: usize = 64;
/// Askers for everything the clusters reported that wait for the pipeline.
const INVENTORIES_MAX: usize = 4;

/// Everything that is loaded before the first task begins.
pub(crate) struct Loaded {
    settings: Settings,
    catalog: Arc<Catalog>,
    swapped: Arc<Notify>,
    read_model: Arc<ReadModel>,
    pipeline: Pipeline,
    /// The revisions up to which everything in the stores is loaded.
    up_to: StoredUpTo,
}

impl Loaded {
    /// Loads what the settings name. Blocks.
    pub(crate) fn from_settings(mut settings: Settings) -> Result<Self, Error> {
        let swapped = Arc::new(Notify::new());
        let catalog = open_catalog(&settings, &swapped)?;
        let read_model = Arc::new(ReadModel::default());
        let mut pipeline = Pipeline::new(
            AppContexts::new(Arc::clone(&settings.contexts)),
            Records::new(Arc::clone(&settings.store)),
            Arc::clone(catalog.interpreters()),
            Arc::clone(&read_model),
        )
        .listing_gone_for(settings.gone_for);
        for cluster in &settings.clusters {
            pipeline.expect_cluster(cluster.name(), now_ms());
        }
        if let Some(file) = &mut settings.remembered {
            pipeline.remember(file, now_ms());
        }
        let up_to = pipeline.load(now_ms()).map_err(Error::Load)?;
        Ok(Self {
            settings,
            catalog: Arc::new(catalog),
            swapped,
            read_model,
            pipeline,
            up_to,
        })
    }

    /// Begins every task, in the order of the flow; answers with the clusters that are not listed yet.
    pub(crate) fn run(
        self,
        tasks: &Tasks,
        listener: TcpListener,
        states: Option<StatesSource>,
    ) -> Arc<Unsynced> {
        let clusters = self.settings.clusters.iter();
        let unsynced: BTreeSet<ClusterName> = clusters.map(|it| it.name().clone()).collect();
        let unsynced = Arc::new(watch::Sender::new(unsynced));
        let (events_tx, events_rx) = mpsc::channel(EVENTS_MAX);
        let (inventory, inventory_rx) = mpsc::channel(INVENTORIES_MAX);
        let catalog_api = CatalogApi::new(
            Arc::clone(&self.catalog),
            self.settings.interpreter_limits.clone(),
            inventory,
            self.pipeline.progress(),
            tasks.shutdown(),
        );
        let mut sources = Sources::new(tasks, events_tx.clone(), self.pipeline.needs());
        for cluster in self.settings.clusters {
            sources.begin(cluster);
        }
        if let Some(changes) = self.settings.cluster_changes {
            let following = sources.follow(changes);
            tasks.spawn("follower of the configuration", infallible(following));
        }
        let stores = Stores {
            contexts: self.pipeline.contexts().clone(),
            connection: self.settings.contexts.connection(),
            records: self.pipeline.records().clone(),
        };
        // What another orchestrator keeps is only read.
        if Arc::ptr_eq(&self.settings.contexts, &self.settings.store) {
            begin_to_sweep(tasks, stores.contexts.clone());
        }
        mongodb::begin(states, tasks, events_tx.clone());
        let following = follow(stores, self.up_to, events_tx, tasks.shutdown());
        tasks.spawn("follower of the store", infallible(following));
        let run = PipelineRun {
            pipeline: self.pipeline,
            events_rx,
            swapped: self.swapped,
            inventory_rx,
            unsynced: Arc::clone(&unsynced),
            clock: now_ms,
        };
        tasks.spawn("pipeline", run.run(tasks.shutdown()));
        if let Some(file) = self.settings.remembered {
            let read_model = Arc::clone(&self.read_model);
            let writing = file.follow(read_model, now_ms, tasks.shutdown());
            tasks.spawn("writer of what is known", writing);
        }
        let hosts = follow_hosts(Arc::clone(&self.catalog), tasks.shutdown());
        tasks.spawn("follower of other hosts", hosts);
        let breaker = run_breaker(Arc::clone(&self.catalog), tasks.shutdown());
        tasks.spawn("circuit breaker", breaker);
        if let Some(directory) = self.settings.interpreters {
            let directory = ComponentDirectory {
                path: directory,
                component_bytes_max: self.settings.interpreter_limits.component_bytes_max,
                replaces_built_in: self.settings.replace_built_in,
            };
            begin_to_watch(tasks, Arc::clone(&self.catalog), directory);
        }
        let state = AppState {
            read_model: Arc::clone(&self.read_model),
            judge: Arc::new(InterpretApi::new(Arc::clone(self.catalog.interpreters()))),
            catalog: Arc::new(catalog_api),
            missing: missing(&unsynced),
            notes: notes(self.catalog, self.read_model),
            clock: Arc::new(now_ms),
            access: Arc::new(self.settings.access),
            dialect: self.settings.dialect,
            limits: self.settings.rest_limits,
        };
        answer(tasks, listener, state);
        unsynced
    }
}

fn open_catalog(settings: &Settings, swapped: &Arc<Notify>) -> Result<Catalog, Error> {
    let limits = settings.interpreter_limits.clone();
    let interpreters = engine::start(limits, settings.cache.as_deref())?;
    let built_in = engine::built_in(&interpreters)?;
    let swapped = Arc::clone(swapped);
    let options = CatalogOptions {
        interpreters: Arc::new(interpreters),
        store: Arc::clone(&settings.store),
        built_in,
        limits: settings.catalog_limits.clone(),
        clock: Arc::new(now_ms),
        on_swap: Box::new(move || swapped.notify_one()),
    };
    Ok(Catalog::open(options)?)
}

/// Begins to remove contexts that were never completed.
fn begin_to_sweep(tasks: &Tasks, contexts: AppContexts) {
    let sweeping = sweep(contexts, tasks.shutdown());
    tasks.spawn("sweeper of contexts", infallible(sweeping));
}

/// Begins to watch the directory of interpreters.
fn begin_to_watch(tasks: &Tasks, catalog: Arc<Catalog>, directory: ComponentDirectory) {
    let watching = watch_directory(catalog, directory, tasks.shutdown());
    tasks.spawn("watcher of the directory of interpreters", watching);
}

/// Begins to answer requests.
fn answer(tasks: &Tasks, listener: TcpListener, state: AppState) {
    let (limits, shutdown) = (state.limits, tasks.shutdown());
    let router = kindsight_rest::router(state);
    let stopped = async move { shutdown.cancelled().await };
    let serving = kindsight_rest::serve(listener, router, limits, stopped);
    tasks.spawn("REST API", async move {
        if serving.await? == Ended::CutOff {
            let waited = limits.drain_max;
            tracing::warn!(?waited, "requests in progress were cut off at the stop");
        }
        Ok::<_, std::io::Error>(())
    });
}

/// Answers `GET /readyz`: the clusters that are not listed yet, in words.
fn missing(unsynced: &Arc<Unsynced>) -> Arc<dyn Fn() -> Vec<String> + Send + Sync> {
    let unsynced = Arc::clone(unsynced);
    Arc::new(move || {
        let clusters = unsynced.borrow();
        let clusters = clusters.iter();
        clusters
            .map(|cluster| format!("the first listing of cluster {cluster}"))
            .collect()
    })
}

/// Answers `GET /readyz`: what the circuit breaker found, what could not be loaded, and stores that are away,
/// in words.
fn notes(
    catalog: Arc<Catalog>,
    read_model: Arc<ReadModel>,
) -> Arc<dyn Fn() -> Vec<String> + Send + Sync> {
    Arc::new(move || {
        let stores = read_model.inspect(|it| {
            let contexts = it.store_away().map(|it| {
                let reason = &it.reason;
                format!("the store of AppContexts is away, and answers are what was last read from it: {reason}")
            });
            let states = it.state_store_away().map(|it| {
                let reason = &it.reason;
                format!("MongoDB is away, and states and their history are what was last read from it: {reason}")
            });
            contexts.into_iter().chain(states).collect()
        });
        [stores, catalog.breaker_notes(), catalog.unavailable_notes()].concat()
    })
}

async fn infallible(task: impl Future<Output = ()>) -> Result<(), Infallible> {
    task.await;
    Ok(())
}
