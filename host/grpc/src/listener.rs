//! The listener: connections, TLS, and the end at the stop.

mod connection;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::unfold;
use kindsight_access::TlsServer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tonic::service::Routes;
use tonic::transport::Server;

use crate::limits::{
    CALL_SECONDS_MAX, CONNECTION_CALLS_MAX, CONNECTIONS_MAX, DRAIN_SECONDS_MAX,
    HANDSHAKE_SECONDS_MAX, HEADERS_BYTES_MAX, KEEPALIVE_ANSWER_SECONDS_MAX, KEEPALIVE_SECONDS,
};
use connection::Connection;

/// The pause after the system refused a connection, for example because of too many open files.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// The listener of a gRPC server.
pub struct Listener {
    tcp: TcpListener,
    tls: Option<Arc<TlsServer>>,
    limits: ListenerLimits,
}

/// Limits of a listener. The default is for an orchestrator, which has one connection and few calls at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenerLimits {
    /// Maximum number of open connections. Further connections wait in the system.
    pub connections_max: usize,
    /// Maximum number of calls at a time over one connection. Further calls wait for the client.
    pub connection_calls_max: u32,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            connections_max: CONNECTIONS_MAX,
            connection_calls_max: CONNECTION_CALLS_MAX,
        }
    }
}

impl Listener {
    /// Takes connections of `tcp`. With `tls`, each client must have a trusted certificate.
    pub fn new(tcp: TcpListener, tls: Option<Arc<TlsServer>>) -> Self {
        Self {
            tcp,
            tls,
            limits: ListenerLimits::default(),
        }
    }

    /// The same listener with other limits.
    #[must_use]
    pub fn with_limits(self, limits: ListenerLimits) -> Self {
        Self { limits, ..self }
    }

    /// Answers calls of these services until `shutdown` is done, then waits for the calls in progress, for some seconds
    /// at most. A call that answers with a stream must end its stream at the stop itself.
    ///
    /// # Errors
    /// If the server of tonic fails. A failing connection is not an error.
    pub async fn serve(
        self,
        services: Routes,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), tonic::transport::Error> {
        let (opened_tx, opened_rx) = mpsc::channel(1);
        let opened = unfold(opened_rx, |mut opened_rx| async move {
            let connection: Connection = opened_rx.recv().await?;
            Some((Ok::<_, io::Error>(connection), opened_rx))
        });
        let (stop_tx, mut stop_rx) = watch::channel(());
        let stopped = async move {
            // Fails when the sender is dropped, which is the signal.
            let _ = stop_rx.changed().await;
        };
        let serving = Server::builder()
            .max_concurrent_streams(self.limits.connection_calls_max)
            .http2_max_header_list_size(HEADERS_BYTES_MAX)
            .http2_keepalive_interval(Some(Duration::from_secs(KEEPALIVE_SECONDS)))
            .http2_keepalive_timeout(Some(Duration::from_secs(KEEPALIVE_ANSWER_SECONDS_MAX)))
            .timeout(Duration::from_secs(CALL_SECONDS_MAX))
            .add_routes(services)
            .serve_with_incoming_shutdown(opened, stopped);
        let mut serving = std::pin::pin!(serving);
        tokio::select! {
            served = &mut serving => return served,
            () = self.accept(opened_tx) => {}
            () = shutdown => {}
        }
        drop(stop_tx);
        let drained = timeout(Duration::from_secs(DRAIN_SECONDS_MAX), serving).await;
        drained.unwrap_or(Ok(()))
    }

    /// Accepts connections, and passes them on after their handshakes. Does not end.
    async fn accept(self, opened: mpsc::Sender<Connection>) {
        let slots = Arc::new(Semaphore::new(self.limits.connections_max));
        let mut handshakes = JoinSet::new();
        loop {
            // The semaphore is never closed.
            let Ok(slot) = Arc::clone(&slots).acquire_owned().await else {
                return;
            };
            let (tcp, peer) = accepted(&self.tcp).await;
            while handshakes.try_join_next().is_some() {}
            let (tls, opened) = (self.tls.clone(), opened.clone());
            handshakes.spawn(async move {
                let max = Duration::from_secs(HANDSHAKE_SECONDS_MAX);
                match timeout(max, Connection::open(tcp, peer, tls, slot)).await {
                    // Fails only at the stop.
                    Ok(Ok(connection)) => drop(opened.send(connection).await),
                    Ok(Err(error)) => {
                        tracing::debug!(%peer, %error, "a client of gRPC could not connect");
                    }
                    Err(_) => tracing::debug!(%peer, "a handshake of gRPC took too long"),
                }
            });
        }
    }
}

/// Waits for a connection. Connections that break or that the system refuses are skipped.
async fn accepted(tcp: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match tcp.accept().await {
            Ok((stream, peer)) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::trace!(%error, "failed to send without delay");
                }
                return (stream, peer);
            }
            Err(error) => {
                tracing::debug!(%error, "the machine refused a connection of gRPC");
                sleep(REFUSED_PAUSE).await;
            }
        }
    }
}
