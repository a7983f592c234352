//! The streams of a connection: the inner one counts sent bytes, the outer one notes requests and completes answers
//! without a body.
//!
//! ```text
//! TCP ─ TcpMeter ─ TLS, if it is enabled ─ Stream ─ hyper
//! ```
//!
//! Bytes are counted below TLS, which buffers answers: only bytes that the client accepts count. Requests are noted
//! above TLS: an incomplete record is no part of a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::Activity;
use super::bare_answer;

/// A TCP stream that reports sent bytes to the [`Activity`] of its connection.
pub(crate) struct TcpMeter {
    tcp: TcpStream,
    activity: Arc<Activity>,
}

impl TcpMeter {
    pub(crate) fn new(tcp: TcpStream, activity: Arc<Activity>) -> Self {
        Self { tcp, activity }
    }

    /// Waits for the first byte of the client, and leaves the byte in the stream. `None` at the end of the stream.
    pub(super) async fn first_byte(&self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        let read = self.tcp.peek(&mut byte).await?;
        Ok(byte.first().copied().filter(|_| read > 0))
    }

    fn note(&self, progress: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &progress {
            Poll::Ready(Ok(bytes)) => self.activity.sent(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.activity.is_stuck(),
        }
        progress
    }
}

impl AsyncRead for TcpMeter {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buffer)
    }
}

impl AsyncWrite for TcpMeter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.tcp).poll_write(cx, bytes);
        self.note(progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.tcp).poll_write_vectored(cx, slices);
        self.note(progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.tcp).poll_flush(cx))?;
        self.activity.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }
}

/// A stream of requests and answers, over TCP or TLS.
pub(crate) struct Stream<S> {
    inner: S,
    activity: Arc<Activity>,
    /// An answer that replaces a bare answer, and the number of its bytes that were written.
    instead: Option<(Vec<u8>, usize)>,
}

impl<S: AsyncWrite + Unpin> Stream<S> {
    pub(crate) fn new(inner: S, activity: Arc<Activity>) -> Self {
        Self {
            inner,
            activity,
            instead: None,
        }
    }

    /// Writes a problem document in place of a bare answer; `None` if the bytes are not a bare answer.
    fn write_instead(
        &mut self,
        cx: &mut Context<'_>,
        bare: &[u8],
    ) -> Option<Poll<io::Result<usize>>> {
        let (whole, mut written) = match self.instead.take() {
            Some(begun) => begun,
            None => (bare_answer::completed(bare)?, 0),
        };
        while let Some(rest) = whole.get(written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.inner).poll_write(cx, rest) {
                Poll::Ready(Ok(bytes)) => written = written.saturating_add(bytes.max(1)),
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Pending => {
                    self.instead = Some((whole, written));
                    return Some(Poll::Pending);
                }
            }
        }
        Some(Poll::Ready(Ok(bare.len())))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            self.activity.received();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(progress) = self.write_instead(cx, bytes) {
            return progress;
        }
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = slices.iter().find(|slice| !slice.is_empty())
            && let Some(progress) = self.write_instead(cx, first)
        {
            return progress;
        }
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
