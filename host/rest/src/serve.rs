//! Serves connections until the stop.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use kindsight_access::{TlsServer, VerifiedClient};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tower::ServiceExt as _;

use crate::answer::UntilSent;
use crate::connections::{Activity, Connections, Open, Stream, TcpMeter, Wait, handshake};
use crate::limits::HEAD_BYTES_MAX;
use crate::{Limits, Slots};

/// The pause after the system refused a connection, for example because of too many open files.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// The end of serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every request that had begun was answered.
    Drained,
    /// Some requests took longer than [`Limits::drain_max`], and their connections were closed.
    CutOff,
}

/// The connection of a request, in the extensions of the request.
#[derive(Debug)]
pub(crate) struct RequestConnection {
    pub(crate) activity: Arc<Activity>,
    /// The address at which the connection was accepted.
    pub(crate) local: Option<IpAddr>,
    /// Becomes true when the server stops. It ends streams, which have no end of their own.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// The address of the client of a request's connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// Serves `router` on `listener`, with the slots for its connections, until `shutdown` is done, then answers the requests
/// that have begun. With `tls`, every connection begins with a handshake, and the extensions of a request have the
/// verified certificate as an `Arc<ClientCertificate>`.
///
/// # Errors
/// When the listener becomes unusable. A failing connection is not an error.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Arc<TlsServer>>,
    router: Router,
    limits: Limits,
    slots: Slots,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<Ended> {
    let connections = Connections::new(limits, &slots);
    let (stopping_tx, stopping_rx) = watch::channel(false);
    let mut tasks = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let entered = async {
            let stream = accept(&listener, &connections).await;
            (stream, connections.enter().await)
        };
        let (stream, open) = tokio::select! {
            () = &mut shutdown => break,
            entered = entered => entered,
        };
        // Removes the tasks that have ended.
        while tasks.try_join_next().is_some() {}
        let connection = Connection {
            open,
            tls: tls.clone(),
            router: router.clone(),
            stopping: stopping_rx.clone(),
        };
        tasks.spawn(connection.serve(stream));
    }
    drop(listener);
    // The send fails only if there is no connection.
    let _ = stopping_tx.send(true);
    let drained = async { while tasks.join_next().await.is_some() {} };
    let drained = timeout(limits.drain_max, drained).await;
    Ok(drained.map_or(Ended::CutOff, |()| Ended::Drained))
}

/// Waits for a connection. Connections that break or that the system refuses are skipped.
async fn accept(listener: &TcpListener, connections: &Connections) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                if let Err(error) = stream.set_nodelay(true) {
                    tracing::trace!(%error, "failed to send without delay");
                }
                return stream;
            }
            Err(error) if is_of_connection(&error) => {}
            Err(error) => {
                let is_closed = connections.close_slowest(Wait::Any);
                tracing::debug!(%error, is_closed, "the machine refused a connection");
                sleep(REFUSED_PAUSE).await;
            }
        }
    }
}

/// Returns whether an error affects only one connection, before it was accepted.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}

/// Waits until the certificate of a client is no longer trusted. A client without a certificate remains.
async fn distrusted(client: Option<&mut VerifiedClient>) {
    match client {
        Some(client) => client.distrusted().await,
        None => pending().await,
    }
}

/// The addresses of a connection.
#[derive(Debug, Clone, Copy)]
struct Ends {
    local: Option<IpAddr>,
    peer: Option<PeerAddress>,
}

impl Ends {
    fn of(tcp: &TcpStream) -> Self {
        let (local, peer) = (tcp.local_addr().ok(), tcp.peer_addr().ok());
        Self {
            local: local.map(|address| address.ip()),
            peer: peer.map(|address| PeerAddress(address.ip())),
        }
    }
}

/// One connection, and the parts of the server that it uses.
struct Connection {
    open: Open,
    tls: Option<Arc<TlsServer>>,
    router: Router,
    stopping: watch::Receiver<bool>,
}

impl Connection {
    /// Performs the handshake if TLS is enabled, and answers requests, until the client closes the connection or is too
    /// slow.
    async fn serve(mut self, tcp: TcpStream) {
        let ends = Ends::of(&tcp);
        let tcp = TcpMeter::new(tcp, Arc::clone(&self.open.activity));
        let Some(tls) = self.tls.take() else {
            return self.answer(tcp, ends, None).await;
        };
        let accepted = tokio::select! {
            accepted = handshake(&tls, tcp, &self.open.activity) => accepted,
            () = self.open.activity.over() => None,
            _ = self.stopping.wait_for(|it| *it) => None,
        };
        if let Some((stream, client)) = accepted {
            self.answer(stream, ends, client).await;
        }
    }

    /// Answers requests, until the client closes the connection, is too slow, or has a certificate that is no longer
    /// trusted.
    async fn answer(
        mut self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        ends: Ends,
        mut client: Option<VerifiedClient>,
    ) {
        let activity = &self.open.activity;
        let of_requests = Arc::new(RequestConnection {
            activity: Arc::clone(activity),
            local: ends.local,
            stopping: self.stopping.clone(),
        });
        let certificate = client.as_ref().map(VerifiedClient::certificate).cloned();
        let service = service_fn(|request: Request<Incoming>| {
            let in_request = activity.begin_request();
            let mut request = request.map(Body::new);
            let extensions = request.extensions_mut();
            extensions.insert(Arc::clone(&of_requests));
            if let Some(peer) = ends.peer {
                extensions.insert(peer);
            }
            if let Some(certificate) = &certificate {
                extensions.insert(Arc::clone(certificate));
            }
            let answered = self.router.clone().oneshot(request);
            async move {
                let response = answered.await?;
                Ok::<_, Infallible>(response.map(|body| UntilSent::new(body, in_request)))
            }
        });
        let stream = TokioIo::new(Stream::new(stream, Arc::clone(activity)));
        let mut http = http1::Builder::new();
        // Without a timer, hyper does not limit the time of heads; see the module `connections`.
        http.max_buf_size(HEAD_BYTES_MAX);
        http.max_header_size(HEAD_BYTES_MAX);
        let mut connection = pin!(http.serve_connection(stream, service));
        let mut over = pin!(activity.over());
        let mut is_stopping = false;
        loop {
            tokio::select! {
                biased;
                result = &mut connection => {
                    if let Err(error) = result {
                        tracing::trace!(%error, "a connection failed");
                    }
                    break;
                }
                () = &mut over => break,
                () = distrusted(client.as_mut()) => break,
                _ = self.stopping.wait_for(|it| *it), if !is_stopping => {
                    if activity.is_idle() {
                        break;
                    }
                    is_stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}
