//! The parts of a server: loaded from the store, then run.

use std::convert::Infallible;
use std::sync::Arc;

use kindsight_access::AccessControl;
use kindsight_appcontext::{AppContexts, Records};
use kindsight_catalog::{Catalog, CatalogOptions, follow_hosts, run_breaker};
use kindsight_clusters::{Audits, Needs, RemoteInventories};
use kindsight_leases::Ownership;
use kindsight_notify::Notifier;
use kindsight_pipeline::{
    Pipeline, PipelineRun, QueuedEvent, RememberedFile, ReportedObjects, ReportedRequests,
    StoreReader, Stores, Unsynced, follow,
};
use kindsight_push::Intakes;
use kindsight_read_model::ReadModel;
use kindsight_replication::Upstream;
use kindsight_rest::{AppState, GroupLifecycle, RbInstances, Slots};
use kindsight_store::Connection;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::catalog_api::CatalogApi;
use crate::clock::now_ms;
use crate::cluster_changes;
use crate::confirm_api::ConfirmApi;
use crate::engine;
use crate::error::Error;
use crate::health_scopes::HealthScopeApi;
use crate::interpret_api::InterpretApi;
use crate::interpreter_sources::InterpreterSources;
use crate::k8splugin_api::K8spluginApi;
use crate::known_objects::ReportedReader;
use crate::lifecycle;
use crate::listeners::Listeners;
use crate::metrics::{MetricsSources, Recorded, ServerMetrics, metered};
use crate::mongodb::{self, StatesSource};
use crate::notifications;
use crate::other_systems::OtherSystems;
use crate::push_api::PushApi;
use crate::readiness;
use crate::registry::{self, Registry};
use crate::replica::{self, ReplicaState};
use crate::rsync;
use crate::settings::Settings;
use crate::sharing;
use crate::source_threads::SourceThreads;
use crate::sources::Sources;
use crate::status_notify;
use crate::sweeping::sweep;
use crate::tasks::{Tasks, infallible};
use crate::wait_api::WaitApi;

/// Maximum number of events that wait for the pipeline. A cluster that sends further events waits.
const EVENTS_MAX: usize = 64;
/// Maximum number of requests for all reported objects that wait for the pipeline.
const REPORTED_REQUESTS_MAX: usize = 4;

/// Everything that is loaded before the first task begins.
pub(crate) struct Loaded {
    settings: Settings,
    access: Option<Arc<AccessControl>>,
    catalog: Arc<Catalog>,
    swapped: Arc<Notify>,
    pipeline: Pipeline,
    recorded: Recorded,
    /// The reader of the stores, which loaded everything in them.
    reader: StoreReader,
    /// Requests for everything that the clusters reported, and their receiver in the pipeline.
    reported: ReportedRequests,
    reported_rx: mpsc::Receiver<oneshot::Sender<Vec<ReportedObjects>>>,
    /// Clusters that were not listed yet.
    unsynced: Arc<Unsynced>,
    /// Registered clusters, if clusters can be registered.
    registry: Option<Arc<Registry>>,
    interpreter_sources: InterpreterSources,
    notifier: Option<Notifier>,
    instances: Option<Arc<dyn RbInstances>>,
    /// The host whose state a replica shows.
    upstream: Option<Upstream>,
    /// The clusters that this host owns, if it shares clusters.
    ownership: Option<Ownership>,
    source_threads: SourceThreads,
}

impl Loaded {
    /// Loads the contents of the stores and the interpreters. Blocks.
    pub(crate) fn from_settings(mut settings: Settings) -> Result<Self, Error> {
        let interpreter_sources = InterpreterSources::of(&mut settings)?;
        let instances = K8spluginApi::of(settings.k8splugin.take())?;
        let access = settings.access.take().map(AccessControl::new).transpose()?;
        let recorded = Recorded::default();
        let upstream = replica::open(&mut settings)?;
        meter_stores(&mut settings, &recorded);
        let registry = registry::open(&mut settings)?;
        let swapped = Arc::new(Notify::new());
        let unsynced = Arc::new(watch::Sender::new(settings.cluster_names()));
        let (reported, reported_rx) = mpsc::channel(REPORTED_REQUESTS_MAX);
        let known = ReportedReader::new(reported.clone(), Arc::clone(&unsynced));
        let is_replica = upstream.is_some();
        let catalog = open_catalog(&settings, &swapped, known, is_replica)?;
        interpreter_sources.forget(&catalog);
        let mut pipeline = Pipeline::new(
            AppContexts::new(Arc::clone(&settings.contexts)),
            Records::new(Arc::clone(&settings.store)),
            Arc::clone(catalog.interpreters()),
        )
        .with_kind_grace(settings.kind_grace);
        pipeline.set_timeouts(settings.timeouts);
        if settings.rsync_listen.is_some() {
            pipeline.store_all_reports();
        }
        let ownership = settings.sharing.as_ref().map(sharing::ownership);
        if let Some(ownership) = &ownership {
            pipeline.share_clusters(ownership.clone());
        }
        for cluster in &settings.clusters {
            pipeline.expect_cluster(cluster.name(), now_ms());
        }
        if let Some(file) = &mut settings.remembered {
            pipeline.remember(file, now_ms());
        }
        let reader = pipeline.load(now_ms()).map_err(Error::Load)?;
        let notifier = notifications::open(&mut settings, pipeline.read_model(), &unsynced)?;
        Ok(Self {
            settings,
            access: access.map(Arc::new),
            catalog: Arc::new(catalog),
            swapped,
            pipeline,
            recorded,
            reader,
            reported,
            reported_rx,
            unsynced,
            registry,
            interpreter_sources,
            notifier,
            instances,
            upstream,
            ownership,
            source_threads: SourceThreads::start().map_err(Error::Runtime)?,
        })
    }

    /// The live interpreters, as `name@version`.
    pub(crate) fn interpreters(&self) -> Vec<String> {
        let set = self.catalog.interpreters().published();
        let by = set.interpreters().map(|(_, interpreter)| interpreter.by());
        by.map(|by| format!("{}@{}", by.name, by.version)).collect()
    }

    /// The metrics, with the parts that they read at a scrape.
    fn metrics(
        &self,
        events_tx: &mpsc::Sender<QueuedEvent>,
        slots: &Slots,
        others: &OtherSystems,
    ) -> ServerMetrics {
        let sources = MetricsSources {
            read_model: self.pipeline.read_model().clone(),
            interpreters: Arc::clone(self.catalog.interpreters()),
            bundles: self.pipeline.bundles().clone(),
            events_tx: events_tx.clone(),
            slots: slots.clone(),
            unsynced: Arc::clone(&self.unsynced),
            others: others.clone(),
            replica: self.upstream.as_ref().map(ReplicaState::of),
            names_applications: self.settings.metrics.names_applications,
            clock: now_ms,
        };
        ServerMetrics::new(self.recorded.clone(), sources)
    }

    /// The needs of the pipeline, with the pace of audits.
    fn needs(&self) -> Needs {
        Needs {
            audits: Audits::every(self.settings.audit_interval),
            ..self.pipeline.needs()
        }
    }

    /// The commands of the catalog, for the REST API.
    fn catalog_api(&self, tasks: &Tasks) -> CatalogApi {
        CatalogApi::new(
            Arc::clone(&self.catalog),
            self.settings.interpreter_limits.clone(),
            self.reported.clone(),
            self.pipeline.read_model().clone(),
            self.pipeline.progress(),
            tasks.shutdown(),
        )
    }

    /// Begins every task, in the order of the flow; answers with the clusters that are not listed yet.
    pub(crate) fn run(
        mut self,
        tasks: &Tasks,
        mut listeners: Listeners,
        states: Option<StatesSource>,
    ) -> Arc<Unsynced> {
        cluster_changes::begin(tasks, &mut self.settings);
        let read_model = self.pipeline.read_model().clone();
        let unsynced = Arc::clone(&self.unsynced);
        let (events_tx, events_rx) = mpsc::channel(EVENTS_MAX);
        let catalog_api = self.catalog_api(tasks);
        let needs = self.needs();
        let confirm_api = ConfirmApi::new(needs.confirmations.clone(), events_tx.clone());
        let waits = WaitApi(needs.awaited.clone());
        let inventories = needs.inventories.clone();
        let pushes = PushApi(Intakes::new(needs.pushed.clone()));
        let slots = Slots::new(&self.settings.rest_limits);
        let sender = lifecycle::sender(tasks, &self.settings, &needs);
        let groups = lifecycle::begin(tasks, &self.settings, &read_model, &sender);
        let access = self.access.as_ref();
        rsync::begin(tasks, listeners.rsync.take(), groups.as_ref(), access);
        status_notify::begin(tasks, listeners.status_notify.take(), &read_model, access);
        let others = OtherSystems::begin(
            tasks,
            &self.settings,
            self.notifier.take(),
            (&read_model, &unsynced),
            &sender,
            self.ownership.as_ref(),
        );
        let metrics = self.metrics(&events_tx, &slots, &others);
        let sources = Sources::new(tasks, events_tx.clone(), needs, self.source_threads);
        begin_to_sweep(tasks, &self.settings, self.pipeline.contexts());
        begin_sources(tasks, sources, &mut self.settings, self.ownership);
        let connection = self.settings.contexts.connection();
        mongodb::begin(states, tasks, events_tx.clone());
        let replica = replica::begin(tasks, self.upstream, events_tx.clone());
        begin_to_follow_stores(tasks, (self.reader, connection), events_tx);
        let run = PipelineRun {
            pipeline: self.pipeline,
            events_rx,
            swapped: self.swapped,
            reported_rx: self.reported_rx,
            unsynced: Arc::clone(&unsynced),
            handled: Arc::new(move |origin, delay| self.recorded.handled(origin, delay)),
            clock: now_ms,
        };
        tasks.spawn("pipeline", run.run(tasks.shutdown()));
        begin_to_remember(tasks, self.settings.remembered, &read_model, inventories);
        begin_catalog(tasks, &self.catalog, self.interpreter_sources);
        begin_to_follow(tasks, self.access.as_ref());
        let state = AppState {
            read_model: read_model.clone(),
            judge: Arc::new(InterpretApi::new(Arc::clone(self.catalog.interpreters()))),
            confirm: Arc::new(confirm_api),
            waits: Arc::new(waits),
            pushes: Arc::new(pushes),
            scopes: Arc::new(HealthScopeApi(others.scopes)),
            catalog: Arc::new(catalog_api),
            lifecycle: groups.map(|groups| groups as Arc<dyn GroupLifecycle>),
            clusters: self.registry.map(|opened| registry::begin(tasks, opened)),
            notifications: notifications::api(others.notifications),
            instances: self.instances,
            missing: readiness::missing(&unsynced, &read_model, replica.clone()),
            replica_of: replica.as_ref().map(|it| Arc::clone(&it.upstream)),
            notes: readiness::notes(self.catalog, read_model, others.aai, replica),
            clock: Arc::new(now_ms),
            access: self.access,
            allowed_names: Arc::new(self.settings.allowed_names),
            dialect: self.settings.dialect,
            limits: self.settings.rest_limits,
            slots,
            metrics: Arc::new(metrics),
        };
        listeners.answer(tasks, state);
        unsynced
    }
}

/// Opens the catalog. A replica evaluates no objects, so the built-in interpreters are not compiled.
fn open_catalog(
    settings: &Settings,
    swapped: &Arc<Notify>,
    known: ReportedReader,
    is_replica: bool,
) -> Result<Catalog, Error> {
    let limits = settings.interpreter_limits.clone();
    let interpreters = engine::start(limits, settings.cache.as_deref())?;
    let built_in = if is_replica {
        Vec::new()
    } else {
        engine::built_in(&interpreters, &settings.on_loaded)?
    };
    let swapped = Arc::clone(swapped);
    let options = CatalogOptions {
        interpreters: Arc::new(interpreters),
        store: Arc::clone(&settings.store),
        built_in,
        known_objects: Box::new(known),
        settings: settings.interpreter_settings.clone(),
        limits: settings.catalog_limits.clone(),
        clock: Arc::new(now_ms),
        on_swap: Box::new(move || swapped.notify_one()),
    };
    Ok(Catalog::open(options)?)
}

/// Begins to watch the clusters, and to follow their configuration. A host that shares clusters watches only the clusters
/// that it owns.
fn begin_sources(
    tasks: &Tasks,
    mut sources: Sources,
    settings: &mut Settings,
    ownership: Option<Ownership>,
) {
    if let Some(shared) = settings.sharing.take().zip(ownership) {
        sharing::begin(tasks, settings, sources, shared);
        return;
    }
    for cluster in std::mem::take(&mut settings.clusters) {
        sources.begin(cluster);
    }
    if let Some(changes) = settings.cluster_changes.take() {
        let following = sources.follow(changes);
        tasks.spawn("follower of the configuration", infallible(following));
    }
}

/// Begins to remove contexts that were never completed. The store of another orchestrator is only read, so its contexts
/// are not swept.
fn begin_to_sweep(tasks: &Tasks, settings: &Settings, contexts: &AppContexts) {
    if Arc::ptr_eq(&settings.contexts, &settings.store) {
        let sweeping = sweep(contexts.clone(), tasks.shutdown());
        tasks.spawn("sweeper of contexts", infallible(sweeping));
    }
}

/// Begins to follow other hosts that share the catalog and the sources of interpreters, and to check for faults of
/// interpreters.
fn begin_catalog(tasks: &Tasks, catalog: &Arc<Catalog>, sources: InterpreterSources) {
    let hosts = follow_hosts(Arc::clone(catalog), tasks.shutdown());
    tasks.spawn("follower of other hosts", hosts);
    let breaker = run_breaker(Arc::clone(catalog), tasks.shutdown());
    tasks.spawn("circuit breaker", breaker);
    sources.begin(tasks, catalog);
}

/// Begins to pass on changes of the stores.
fn begin_to_follow_stores(
    tasks: &Tasks,
    (reader, connection): (StoreReader, watch::Receiver<Connection>),
    events_tx: mpsc::Sender<QueuedEvent>,
) {
    let stores = Stores {
        reader,
        connection,
        clock: now_ms,
    };
    let stores = follow(stores, events_tx, tasks.shutdown());
    tasks.spawn("follower of the store", stores);
}

/// Begins to write the last-known state, if it has a file.
fn begin_to_remember(
    tasks: &Tasks,
    file: Option<RememberedFile>,
    read_model: &ReadModel,
    inventories: RemoteInventories,
) {
    if let Some(file) = file {
        let writing = file.follow(read_model.clone(), inventories, now_ms, tasks.shutdown());
        tasks.spawn("writer of the last-known state", writing);
    }
}

/// Begins to follow the files of access control.
fn begin_to_follow(tasks: &Tasks, access: Option<&Arc<AccessControl>>) {
    if let Some(access) = access.map(Arc::clone) {
        let following = async move { access.follow().await };
        let following = until(following, tasks.shutdown());
        tasks.spawn("follower of tokens and roles", following);
    }
}

/// Records the calls of the stores. Contexts and records stay in one store if they were.
fn meter_stores(settings: &mut Settings, recorded: &Recorded) {
    let is_one = Arc::ptr_eq(&settings.contexts, &settings.store);
    settings.store = metered(Arc::clone(&settings.store), "own", recorded);
    settings.contexts = if is_one {
        Arc::clone(&settings.store)
    } else {
        metered(Arc::clone(&settings.contexts), "contexts", recorded)
    };
}

/// Runs a task that does not end by itself until the stop.
async fn until(
    task: impl Future<Output = ()>,
    shutdown: CancellationToken,
) -> Result<(), Infallible> {
    // None at the stop.
    let _ = shutdown.run_until_cancelled(task).await;
    Ok(())
}
