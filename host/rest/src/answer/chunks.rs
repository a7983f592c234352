//! Answers in chunks.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use kindsight_model::{RawJson, write_go_json};

use crate::answer::internal;
use crate::limits::SMALL_ANSWER_BYTES_MAX;
use crate::problem::Problem;

/// The size at which a chunk of an answer is complete, in bytes: a few packets, and small compared with a connection's
/// buffers in the system.
const CHUNK_BYTES: usize = 64 * 1024;
/// The bytes of an answer before its buffer grows for the first time: the status of some ten resources.
const FIRST_BYTES: usize = 4 * 1024;

/// An answer in chunks, of limited size.
#[derive(Debug)]
pub(crate) struct Chunks {
    complete: VecDeque<Bytes>,
    last: Vec<u8>,
    /// The bytes that the answer may still have.
    left: usize,
    is_too_large: bool,
}

impl Chunks {
    /// The bytes that `write` writes; `None` if it is more than `max` bytes.
    pub(super) fn written(
        max: usize,
        write: &impl Fn(&mut Self) -> Result<(), Problem>,
    ) -> Result<Option<Self>, Problem> {
        let mut chunks = Self {
            complete: VecDeque::new(),
            last: Vec::with_capacity(FIRST_BYTES),
            left: max,
            is_too_large: false,
        };
        let written = write(&mut chunks);
        if chunks.is_too_large {
            return Ok(None);
        }
        written.map(|()| Some(chunks))
    }

    /// Writes a value as JSON.
    ///
    /// # Errors
    /// An answer that becomes too large, which is found here.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Result<(), Problem> {
        serde_json::to_writer(self, value).map_err(|_| internal())
    }

    /// Writes a value as JSON without line breaks, also where raw JSON in it has some.
    ///
    /// # Errors
    /// As for [`Chunks::json`].
    pub(crate) fn json_in_one_line(
        &mut self,
        value: &impl serde::Serialize,
    ) -> Result<(), Problem> {
        serde_json::to_writer(OneLine(self), value).map_err(|_| internal())
    }

    /// Writes a value as JSON in one line with a line break at its end, as EMCO's encoder does.
    ///
    /// # Errors
    /// As for [`Chunks::json`].
    pub(crate) fn go_json(&mut self, value: &impl serde::Serialize) -> Result<(), Problem> {
        write_go_json(&mut *self, value, RawJson::Compacted).map_err(|_| internal())?;
        self.write_all(b"\n").map_err(|_| internal())
    }

    /// The bytes of an answer of at most [`SMALL_ANSWER_BYTES_MAX`].
    ///
    /// # Errors
    /// Returns a larger answer unchanged.
    pub(super) fn small(self) -> Result<Bytes, Self> {
        if self.complete.is_empty() && self.last.len() <= SMALL_ANSWER_BYTES_MAX {
            Ok(self.last.into_boxed_slice().into())
        } else {
            Err(self)
        }
    }

    #[cold]
    fn complete_chunk(&mut self) {
        let next = Vec::with_capacity(CHUNK_BYTES);
        let complete = std::mem::replace(&mut self.last, next);
        self.complete.push_back(complete.into());
    }

    /// Returns the chunks and their total number of bytes.
    pub(crate) fn into_bytes(self) -> (VecDeque<Bytes>, usize) {
        let mut chunks = self.complete;
        chunks.extend((!self.last.is_empty()).then(|| self.last.into()));
        let bytes = chunks.iter().map(Bytes::len).sum();
        (chunks, bytes)
    }
}

impl Write for Chunks {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    // The serializer writes each bracket and each quotation mark by itself: some hundred writes for a small answer.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(left) = self.left.checked_sub(bytes.len()) else {
            self.is_too_large = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        self.left = left;
        self.last.extend_from_slice(bytes);
        if self.last.len() >= CHUNK_BYTES {
            self.complete_chunk();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes spaces in place of line breaks. In JSON, line breaks occur only between tokens.
struct OneLine<'c>(&'c mut Chunks);

impl Write for OneLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
        match bytes.iter().position(is_break) {
            None => self.0.write(bytes),
            Some(0) => self.0.write(b" "),
            Some(at) => self.0.write(bytes.get(..at).unwrap_or(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl IntoResponse for Chunks {
    fn into_response(self) -> Response {
        json_response(if self.complete.is_empty() {
            Body::from(self.last)
        } else {
            let (chunks, bytes) = self.into_bytes();
            let left = bytes as u64;
            Body::new(Chunked { chunks, left })
        })
    }
}

/// A successful response with this JSON.
pub(super) fn json_response(body: Body) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], body).into_response()
}

/// The body of an answer in chunks.
struct Chunked {
    chunks: VecDeque<Bytes>,
    left: u64,
}

impl HttpBody for Chunked {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = self.chunks.pop_front();
        if let Some(chunk) = &chunk {
            self.left = self.left.saturating_sub(chunk.len() as u64);
        }
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
