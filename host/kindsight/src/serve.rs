//! `kindsight serve`: starts the rooms in the order of the flow, and stops them in reverse.

use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use kindsight_clusters::ClusterSource;
use kindsight_interpreter::Interpreters;
use kindsight_rest::{AppState, Limits};
use kindsight_status::Board;
use kindsight_store::{RedbStore, Store};
use tokio::net::TcpListener;
use tokio::sync::mpsc::channel;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::aside::Aside;
use crate::config::ServeArgs;
use crate::interpreters::{Library, Live, guard, watch};
use crate::judge::{Court, now_ms};
use crate::road::{Road, Unsynced, walk};
use crate::{interpreters, telemetry};

/// Reports that wait for the road: a cluster that says more waits until there is a place.
const EVENTS_MAX: usize = 64;
/// Askers for everything the road holds that wait for it.
const INVENTORIES_MAX: usize = 4;

/// Threads for steps that block: every request that judges, every command to an interpreter, and what
/// reads files. Further steps wait for one that ends.
const BLOCKING_THREADS_MAX: usize = 64;

/// What a server is made of.
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) live: Live,
    /// The watched directory of interpreters.
    pub(crate) directory: Option<PathBuf>,
    pub(crate) clusters: Vec<ClusterSource>,
    pub(crate) listen: SocketAddr,
    pub(crate) interpreter_limits: kindsight_interpreter::Limits,
    pub(crate) limits: Limits,
}

/// A server that answers.
pub(crate) struct Running {
    /// Where it answers.
    pub(crate) address: SocketAddr,
    shutdown: CancellationToken,
    tasks: TaskTracker,
    unsynced: Unsynced,
    failure: Arc<Mutex<Option<std::io::Error>>>,
}

/// Runs the command until it is told to stop.
///
/// # Errors
/// What keeps it from starting, or from serving.
pub(crate) fn run(args: Box<ServeArgs>) -> anyhow::Result<()> {
    telemetry::start(&args.log, args.log_format)?;
    let ServeArgs {
        config: _,
        data_dir,
        clusters,
        interpreters: directory,
        listen,
        log: _,
        log_format: _,
        interpreter_limits,
        rest_limits,
    } = *args;
    make_private(&data_dir)?;
    let store = RedbStore::open(&data_dir.join("store.redb")).context("open the store")?;
    let store: Arc<dyn Store> = Arc::new(store);
    let cache = data_dir.join("aot");
    tracing::info!(
        "loading interpreters; those not in {} are compiled first",
        cache.display()
    );
    let limits = interpreter_limits.limits();
    let catalog_limits = interpreter_limits.catalog_limits();
    let parts = Parts {
        live: interpreters::open(&store, limits.clone(), catalog_limits, Some(&cache))?,
        store,
        directory,
        clusters,
        listen,
        limits: rest_limits.limits(&limits),
        interpreter_limits: limits,
    };
    runtime()?.block_on(async {
        let running = start(parts).await?;
        tracing::info!(address = %running.address, "serving on http://{}", running.address);
        stop_asked().await?;
        tracing::info!("stopping");
        running.stop().await
    })
}

/// The executor that everything but the interpreters runs on.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .build()
        .context("start the async runtime")
}

/// Starts everything: the road with what the store knows, the clusters, the door.
pub(crate) async fn start(parts: Parts) -> anyhow::Result<Running> {
    let Parts {
        store,
        live: Live { catalog, swapped },
        directory,
        clusters,
        listen,
        interpreter_limits,
        limits,
    } = parts;
    let board = Arc::new(Board::default());
    let interpreters = Arc::clone(catalog.interpreters());
    let mut road = Road::new(store, Arc::clone(&interpreters), Arc::clone(&board));
    let road = tokio::task::spawn_blocking(move || road.load(now_ms()).map(|()| road))
        .await
        .context("load the store")??;
    let progress = road.progress();
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("listen on {listen}; `--listen 127.0.0.1:0` takes a free port"))?;
    let running = Running {
        address: listener.local_addr()?,
        shutdown: CancellationToken::new(),
        tasks: TaskTracker::new(),
        unsynced: Arc::new(Mutex::new(
            clusters.iter().map(|it| it.name().clone()).collect(),
        )),
        failure: Arc::default(),
    };
    let (events_tx, events_rx) = channel(EVENTS_MAX);
    for cluster in clusters {
        let events_tx = events_tx.clone();
        running
            .tasks
            .spawn(cluster.run(events_tx, running.shutdown.clone()));
    }
    let (inventories_tx, inventories_rx) = channel(INVENTORIES_MAX);
    running.tasks.spawn(walk(
        road,
        Aside::start("road").context("start the road's thread")?,
        events_rx,
        swapped,
        inventories_rx,
        Arc::clone(&running.unsynced),
        running.shutdown.clone(),
    ));
    let (tasks, shutdown) = (&running.tasks, &running.shutdown);
    tasks.spawn(guard(Arc::clone(&catalog), shutdown.clone()));
    if let Some(path) = directory {
        let bytes_max = interpreter_limits.component_bytes_max;
        tasks.spawn(watch(
            Arc::clone(&catalog),
            path,
            bytes_max,
            shutdown.clone(),
        ));
    }
    let library = Library::new(catalog, interpreter_limits, inventories_tx, progress);
    running.answer(listener, board, interpreters, library, limits);
    Ok(running)
}

impl Running {
    /// Opens the door.
    fn answer(
        &self,
        listener: TcpListener,
        board: Arc<Board>,
        interpreters: Arc<Interpreters>,
        library: Library,
        limits: Limits,
    ) {
        let unsynced = Arc::clone(&self.unsynced);
        let state = AppState {
            board,
            judge: Arc::new(Court(interpreters)),
            catalog: Arc::new(library),
            missing: Arc::new(move || missing(&unsynced)),
            clock: Arc::new(now_ms),
            limits,
        };
        let shutdown = self.shutdown.clone();
        let failure = Arc::clone(&self.failure);
        self.tasks.spawn(async move {
            let router = kindsight_rest::router(state);
            let told = shutdown.clone();
            let served =
                kindsight_rest::serve(
                    listener,
                    router,
                    limits,
                    async move { told.cancelled().await },
                );
            if let Err(error) = served.await {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                shutdown.cancel();
            }
        });
    }

    /// Waits until every cluster has said what it has to say.
    pub(crate) async fn synced(&self) {
        while !missing(&self.unsynced).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Stops taking requests, answers those that have begun, and ends every task.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        let failure = self
            .failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        failure.map_or(Ok(()), |error| Err(error).context("serve"))
    }
}

fn missing(unsynced: &Unsynced) -> Vec<String> {
    let unsynced = unsynced.lock().unwrap_or_else(PoisonError::into_inner);
    let clusters = unsynced.iter();
    clusters
        .map(|cluster| format!("the first listing of cluster {cluster}"))
        .collect()
}

/// Done when the process is asked to stop: SIGTERM, or Ctrl-C.
pub(crate) async fn stop_asked() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    tokio::select! {
        _ = terminate.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted.context("listen for Ctrl-C")?,
    }
    Ok(())
}

fn make_private(folder: &Path) -> anyhow::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder
        .create(folder)
        .with_context(|| format!("make the data folder {}", folder.display()))
}
