//! An open connection, with the certificate of its client.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use kindsight_access::{TlsServer, TlsStream, VerifiedClient};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tonic::transport::server::Connected;

use crate::client::Client;

/// A connection after its handshake. Holds a slot for connections.
pub(crate) struct Connection {
    stream: Stream,
    client: Client,
    /// Done once the certificate of the client is no longer trusted. The connection then ends.
    distrusted: Pin<Box<dyn Future<Output = ()> + Send>>,
    _slot: OwnedSemaphorePermit,
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
            _slot: slot,
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
        ready!(self.stream.pinned().poll_read(context, to))?;
        Poll::Ready(Ok(()))
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
