//! Connections: a limited number, and a limited time of silence for each.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};

use crate::Limits;

/// A listener that accepts a limited number of connections at a time. Further ones wait in the kernel.
pub(crate) struct LimitedListener {
    listener: TcpListener,
    slots: Arc<Semaphore>,
    idle_max: Duration,
}

impl LimitedListener {
    pub(crate) fn new(listener: TcpListener, limits: &Limits) -> Self {
        Self {
            listener,
            slots: Arc::new(Semaphore::new(limits.connections_max)),
            idle_max: limits.idle_max,
        }
    }
}

impl Listener for LimitedListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        // Nobody closes the semaphore; if somebody did, connections would not be counted.
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::trace!(%error, "failed to send without delay");
        }
        let connection = Connection {
            stream,
            idle: Box::pin(tokio::time::sleep(self.idle_max)),
            idle_max: self.idle_max,
            _slot: slot,
        };
        (connection, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that fails when no byte came or went for too long.
pub(crate) struct Connection {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    idle_max: Duration,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// Restarts the time of silence where a byte came or went; else fails if it is over.
    fn limit_silence<T>(
        &mut self,
        cx: &mut Context<'_>,
        progress: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            let deadline = Instant::now().checked_add(self.idle_max);
            if let Some(deadline) = deadline {
                self.idle.as_mut().reset(deadline);
            }
            return progress;
        }
        let idle = self.idle.as_mut().poll(cx);
        idle.map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.limit_silence(cx, progress)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.limit_silence(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.limit_silence(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
