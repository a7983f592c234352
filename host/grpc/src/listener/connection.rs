//! An open connection, with the certificate of its client.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use kindsight_access::{TlsServer, TlsStream, VerifiedClient};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Sleep, sleep};
use tonic::transport::server::Connected;

use crate::client::Client;
use crate::limits::HANDSHAKE_SECONDS_MAX;

/// The first bytes of each client of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection after its handshake. Holds a slot for connections.
pub(crate) struct Connection {
    stream: Stream,
    client: Client,
    /// Done once the certificate of the client is no longer trusted. The connection then ends.
    distrusted: Pin<Box<dyn Future<Output = ()> + Send>>,
    /// `None` once the client has sent the preface.
    preface: Option<Preface>,
    _slot: OwnedSemaphorePermit,
}

/// The wait for the preface. The server checks connections only after it, so a silent client would keep its slot.
struct Preface {
    /// Number of bytes that the client has not sent.
    missing: usize,
    /// Done when the connection ends.
    late: Pin<Box<Sleep>>,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Connection {
    /// Performs the handshake if TLS is enabled. The caller limits the time.
    ///
    /// # Errors
    /// If the handshake fails, or the client has no certificate.
    pub(super) async fn open(
        tcp: TcpStream,
        peer: SocketAddr,
        tls: Option<Arc<TlsServer>>,
        slot: OwnedSemaphorePermit,
    ) -> io::Result<Self> {
        let Some(tls) = tls else {
            return Ok(Self::new(Stream::Plain(tcp), peer, None, slot));
        };
        let (stream, client) = tls.accept_http2(tcp).await?;
        let client = client.ok_or_else(|| {
            io::Error::new(io::ErrorKind::PermissionDenied, "it sent no certificate")
        })?;
        let stream = Stream::Tls(Box::new(stream));
        Ok(Self::new(stream, peer, Some(client), slot))
    }

    fn new(
        stream: Stream,
        peer: SocketAddr,
        verified: Option<VerifiedClient>,
        slot: OwnedSemaphorePermit,
    ) -> Self {
        let certificate = verified.as_ref().map(VerifiedClient::certificate).cloned();
        Self {
            stream,
            client: Client {
                certificate,
                address: peer.ip().to_canonical(),
            },
            distrusted: Box::pin(async move {
                match verified {
                    Some(mut verified) => verified.distrusted().await,
                    None => std::future::pending().await,
                }
            }),
            preface: Some(Preface::new()),
            _slot: slot,
        }
    }

    /// Counts bytes of the preface.
    ///
    /// # Errors
    /// If the preface takes too long.
    fn await_preface(&mut self, context: &mut Context<'_>, received: usize) -> io::Result<()> {
        let Some(preface) = &mut self.preface else {
            return Ok(());
        };
        preface.missing = preface.missing.saturating_sub(received);
        if preface.missing == 0 {
            self.preface = None;
        } else if preface.late.as_mut().poll(context).is_ready() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl Preface {
    fn new() -> Self {
        Self {
            missing: PREFACE.len(),
            late: Box::pin(sleep(Duration::from_secs(HANDSHAKE_SECONDS_MAX))),
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = Client;

    fn connect_info(&self) -> Client {
        self.client.clone()
    }
}

impl Stream {
    fn pinned(&mut self) -> Pin<&mut dyn Io> {
        match self {
            Self::Plain(stream) => Pin::new(stream),
            Self::Tls(stream) => Pin::new(&mut **stream),
        }
    }
}

/// A stream in both directions.
trait Io: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Io for T {}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.distrusted.as_mut().poll(context).is_ready() {
            // It must not be polled again.
            self.distrusted = Box::pin(async {});
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        let before = to.filled().len();
        let read = self.stream.pinned().poll_read(context, to);
        let received = to.filled().len().saturating_sub(before);
        self.await_preface(context, received)?;
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.pinned().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.pinned().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.pinned().poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
