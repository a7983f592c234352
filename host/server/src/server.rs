//! A server: started, waited for, and stopped.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kindsight_pipeline::Unsynced;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::spawn_blocking;

use crate::error::Error;
use crate::loaded::Loaded;
use crate::mongodb;
use crate::open_files;
use crate::settings::Settings;
use crate::tasks::{Running, Tasks};

/// A server that answers, until it is stopped or one of its tasks ends.
pub struct Server {
    address: SocketAddr,
    tasks: Tasks,
    unsynced: Arc<Unsynced>,
    stop_max: Duration,
}

/// The longest that tasks are waited for after the requests in progress: they are told to stop at the
/// same time as these, and what they do at a time takes less.
const STOP_GRACE: Duration = Duration::from_secs(2);

/// The most bytes of answers that the system holds for each connection whose client does not read:
/// they are not in this process, but in its machine. The system doubles it for its own needs.
const SEND_BUFFER_BYTES: u32 = 128 * 1024;
/// The most connections that wait in the system to be accepted.
const BACKLOG: u32 = 1024;

/// Listens, with limited buffers for each connection.
fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A server that starts again must not wait for the connections of the one before.
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Server {
    /// Starts everything, and returns when requests are answered; from the stored state, until the clusters
    /// have reported.
    ///
    /// Takes milliseconds where the built-in interpreters are in the cache, and seconds otherwise.
    ///
    /// # Errors
    /// [`Error`]: the reason why it cannot start. Nothing keeps running then.
    pub async fn start(settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let mut settings = settings;
        open_files::make_room(&mut settings.rest_limits);
        let Settings { listen, .. } = settings;
        let stop_max = settings.rest_limits.drain_max.saturating_add(STOP_GRACE);
        let states = mongodb::open(settings.mongodb.take()).await?;
        let loaded = spawn_blocking(move || Loaded::from_settings(settings));
        let loaded = loaded.await.map_err(|_| Error::StartPanicked)??;
        let listener = listen_on(listen);
        let failed = |source| Error::Listen {
            address: listen,
            source,
        };
        let listener = listener.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let tasks = Tasks::default();
        let unsynced = loaded.run(&tasks, listener, states);
        Ok(Self {
            address,
            tasks,
            unsynced,
            stop_max,
        })
    }

    /// The address it answers on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until every cluster has reported what it has or cannot be reached, or the server has to stop.
    pub async fn synced(&self) {
        let mut unsynced = self.unsynced.subscribe();
        let synced = unsynced.wait_for(BTreeSet::is_empty);
        // An error would be a sender that is gone, and that is this value.
        let _ = self.tasks.shutdown().run_until_cancelled(synced).await;
    }

    /// Waits until one of its tasks ends early. [`Self::stop`] then says which and why.
    pub async fn failed(&self) {
        self.tasks.shutdown().cancelled().await;
    }

    /// Stops taking requests, answers those that have begun, and ends every task; waits no longer than
    /// the limit of requests in progress and two seconds.
    ///
    /// # Errors
    /// [`Error::Unfinished`] where a task does not end, [`Error::Task`] where one had ended before.
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
