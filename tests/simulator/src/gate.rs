//! A connection that a test can stop: bytes then neither arrive nor leave, and the connection stays open.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::cluster::SimulatedCluster;

/// The state that all connections of a cluster share: whether they are stopped.
#[derive(Debug, Default)]
pub(crate) struct Stall {
    is_on: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Stall {
    pub(crate) fn begin(&self) {
        self.is_on.store(true, Ordering::SeqCst);
    }

    pub(crate) fn end(&self) {
        self.is_on.store(false, Ordering::SeqCst);
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.drain(..).for_each(Waker::wake);
    }

    /// Returns whether the connections are stopped. If they are, the task is woken at the end.
    fn holds(&self, cx: &Context<'_>) -> bool {
        if !self.is_on.load(Ordering::SeqCst) {
            return false;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        // The end may have come before the waker was entered.
        self.is_on.load(Ordering::SeqCst)
    }
}

/// The cluster of a connection, which is known from the first request on.
#[derive(Debug, Default)]
pub(crate) struct Binding {
    cluster: OnceLock<Arc<SimulatedCluster>>,
    /// Cancelled to close the connection.
    pub(crate) reset: CancellationToken,
}

impl Binding {
    /// Binds a connection to a cluster at its first request.
    pub(crate) fn bind(self: &Arc<Self>, cluster: &Arc<SimulatedCluster>) {
        if self.cluster.set(Arc::clone(cluster)).is_ok() {
            cluster.add_connection(self);
        }
    }

    fn is_stopped(&self, cx: &Context<'_>) -> bool {
        let cluster = self.cluster.get();
        cluster.is_some_and(|cluster| cluster.gate().holds(cx))
    }
}

/// A connection that its cluster can stop.
pub(crate) struct Gate<S> {
    stream: S,
    binding: Arc<Binding>,
}

impl<S> Gate<S> {
    pub(crate) fn new(stream: S, binding: Arc<Binding>) -> Self {
        Self { stream, binding }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.binding.is_stopped(cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.binding.is_stopped(cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.binding.is_stopped(cx) {
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
