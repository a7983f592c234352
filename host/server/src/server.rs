//! A server: started, waited for, and stopped.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kindsight_grpc::Listener;
use kindsight_pipeline::Unsynced;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::spawn_blocking;

use crate::error::Error;
use crate::listeners::Listeners;
use crate::loaded::Loaded;
use crate::mongodb;
use crate::open_files;
use crate::settings::Settings;
use crate::tasks::{Running, Tasks};
use crate::tls;

/// A server that answers, until it is stopped or one of its tasks ends.
pub struct Server {
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    rsync_address: Option<SocketAddr>,
    status_notify_address: Option<SocketAddr>,
    interpreters: Vec<String>,
    tasks: Tasks,
    unsynced: Arc<Unsynced>,
    stop_max: Duration,
}

/// Additional time for tasks after the limit for requests in progress. Tasks receive the stop signal together with the
/// requests, and each of their steps takes less than this time.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// Size of the send buffer of each connection, in bytes. The buffer is in the kernel, not in this process, and holds
/// answers of clients that do not read. The system doubles this value for its own needs.
const SEND_BUFFER_BYTES: u32 = 128 * 1024;
/// The most connections that wait in the system to be accepted.
const BACKLOG: u32 = 1024;

/// Listens on an address. Returns the listener with its address, which has the port that was taken for port 0.
fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let listening =
        listen_on(address).and_then(|listener| listener.local_addr().map(|at| (listener, at)));
    listening.map_err(|source| Error::Listen { address, source })
}

/// Listens, with limited buffers for each connection.
fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A restarted server must not wait for connections of its predecessor.
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Server {
    /// Starts all tasks, and returns when the server answers requests. Until the clusters have reported, the answers
    /// are based on the stored state.
    ///
    /// Takes milliseconds if the built-in interpreters are in the cache, and seconds otherwise.
    ///
    /// # Errors
    /// [`Error`] with the reason. No task continues to run.
    pub async fn start(settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        settings.warn_insecure();
        let mut settings = settings;
        let grpc_connections = settings.grpc_connections();
        open_files::make_room(&mut settings.rest_limits, grpc_connections);
        kindsight_model::set_tree_budget(settings.parsed_bytes_max);
        let (address, metrics_address) = (settings.listen, settings.metrics.listen);
        let grpc_addresses = [settings.rsync_listen, settings.status_notify_listen];
        let has_certificates = settings.grpc_has_certificates();
        let stop_max = settings.rest_limits.drain_max.saturating_add(STOP_GRACE);
        let tls = tls::open(settings.tls.take()).await?;
        let states = mongodb::open(settings.mongodb.take()).await?;
        let loaded = spawn_blocking(move || Loaded::from_settings(settings));
        let loaded = loaded.await.map_err(|_| Error::StartPanicked)??;
        let (rest, address) = listen(address)?;
        let metrics = metrics_address.map(listen).transpose()?;
        let (metrics, metrics_address) = metrics.unzip();
        let grpc_tls = tls.clone().filter(|_| has_certificates);
        let grpc = |address: Option<SocketAddr>| -> Result<_, Error> {
            let (tcp, address) = address.map(listen).transpose()?.unzip();
            Ok((tcp.map(|tcp| Listener::new(tcp, grpc_tls.clone())), address))
        };
        let [rsync, status_notify] = grpc_addresses.map(grpc);
        let ((rsync, rsync_address), (status_notify, status_notify_address)) =
            (rsync?, status_notify?);
        let interpreters = loaded.interpreters();
        let tasks = Tasks::default();
        tls::begin(tls.as_ref(), &tasks);
        let listeners = Listeners {
            rest,
            metrics,
            rsync,
            status_notify,
            tls,
        };
        let unsynced = loaded.run(&tasks, listeners, states);
        Ok(Self {
            address,
            metrics_address,
            rsync_address,
            status_notify_address,
            interpreters,
            tasks,
            unsynced,
            stop_max,
        })
    }

    /// The address it answers on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address that answers only `/metrics` and `/healthz`; `None` if it is not configured.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// The address of rsync's server; `None` if it is not configured.
    pub fn rsync_address(&self) -> Option<SocketAddr> {
        self.rsync_address
    }

    /// The address of the server of notifications; `None` if it is not configured.
    pub fn status_notify_address(&self) -> Option<SocketAddr> {
        self.status_notify_address
    }

    /// The interpreters that were live at the start, as `name@version`.
    pub fn interpreters(&self) -> &[String] {
        &self.interpreters
    }

    /// Waits until every cluster has sent its first complete report or cannot be reached, or the server must stop.
    pub async fn synced(&self) {
        self.synced_by(|_| ()).await;
    }

    /// Waits as [`Self::synced`] does. Calls `missing` with the number of the other clusters, first at once and then
    /// after each change.
    pub async fn synced_by(&self, mut missing: impl FnMut(usize)) {
        let mut unsynced = self.unsynced.subscribe();
        let synced = unsynced.wait_for(|unsynced| {
            missing(unsynced.len());
            unsynced.is_empty()
        });
        // An error would mean that the sender was dropped, but this value owns the sender.
        let _ = self.tasks.shutdown().run_until_cancelled(synced).await;
    }

    /// Waits until a task of the server ends early. [`Self::stop`] then returns the task and the reason.
    pub async fn failed(&self) {
        self.tasks.shutdown().cancelled().await;
    }

    /// Stops accepting requests, answers the requests in progress, and ends every task. Waits at most for the limit of
    /// requests in progress plus two seconds.
    ///
    /// # Errors
    /// [`Error::Unfinished`] if a task does not end, [`Error::Task`] if a task had ended early.
    pub async fn stop(self) -> Result<(), Error> {
        self.tasks.stop(self.stop_max).await
    }

    /// The longest that [`Self::stop`] waits.
    pub(crate) fn stop_max(&self) -> Duration {
        self.stop_max
    }

    /// Names of the tasks that have not ended.
    pub(crate) fn running(&self) -> Running {
        self.tasks.running()
    }
}
