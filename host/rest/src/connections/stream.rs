//! The stream of a connection: it counts transferred bytes, and completes answers without a body.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::Activity;
use super::bare_answer;

/// A stream that reports transferred bytes to its [`Activity`].
pub(crate) struct Stream {
    tcp: TcpStream,
    activity: Arc<Activity>,
    /// An answer that replaces a bare answer, and the number of its bytes that were written.
    instead: Option<(Vec<u8>, usize)>,
}

impl Stream {
    pub(crate) fn new(stream: TcpStream, activity: Arc<Activity>) -> Self {
        Self {
            tcp: stream,
            activity,
            instead: None,
        }
    }

    fn note(&self, progress: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &progress {
            Poll::Ready(Ok(bytes)) => self.activity.sent(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.activity.is_stuck(),
        }
        progress
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
            let progress = Pin::new(&mut self.tcp).poll_write(cx, rest);
            match self.note(progress) {
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

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.tcp).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            self.activity.received();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if let Some(progress) = self.write_instead(cx, bytes) {
            return progress;
        }
        let progress = Pin::new(&mut self.tcp).poll_write(cx, bytes);
        self.note(progress)
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
