//! Answers: made off the executor where they are large, and sent in chunks.

mod cache;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::blocking::spawn_blocking;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use kindsight_model::{RawJson, write_go_json};
use kindsight_status::Subject;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Limits;
use crate::answer::cache::AnswerCache;
use crate::connections::InRequest;
use crate::limits::{ANSWERS_MADE_MAX, CACHED_ANSWERS_BYTES_MAX, SMALL_ANSWER_BYTES_MAX};
use crate::problem::{INTERNAL, Problem};

pub(crate) use crate::answer::cache::RequestKey;

/// The size at which a chunk of an answer is complete, in bytes: a few packets, and small compared with a connection's
/// buffers in the system.
const CHUNK_BYTES: usize = 64 * 1024;
/// The bytes of an answer before its buffer grows for the first time: the status of some ten resources.
const FIRST_BYTES: usize = 4 * 1024;
/// Input size up to which work runs on the executor, in bytes. It then takes some hundred microseconds.
const SMALL_WORK_BYTES_MAX: usize = 64 * 1024;

/// Writes answers, a limited number at a time, and keeps small ones for equal requests.
#[derive(Debug)]
pub(crate) struct Answers {
    making: Arc<Semaphore>,
    cache: AnswerCache,
    bytes_max: usize,
}

impl Answers {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            making: Arc::new(Semaphore::new(ANSWERS_MADE_MAX)),
            cache: AnswerCache::new(CACHED_ANSWERS_BYTES_MAX),
            bytes_max: limits.answer_bytes_max.min(limits.answers_bytes_max),
        }
    }

    /// Answers with the JSON that `write` writes.
    ///
    /// An answer that is probably small is written at once on the executor, up to [`SMALL_ANSWER_BYTES_MAX`]. Any other
    /// answer is written completely on a blocking thread before it is sent. If it were written at the pace of its
    /// reader, a slow client would occupy the thread.
    ///
    /// # Errors
    /// An error of `write`, or an answer that is too large.
    pub(crate) async fn json<F>(
        &self,
        is_probably_small: bool,
        write: F,
    ) -> Result<Response, Problem>
    where
        F: Fn(&mut Chunks) -> Result<(), Problem> + Send + Sync + 'static,
    {
        let answer = self.written(is_probably_small, write).await?;
        Ok(answer.into_response())
    }

    /// Answers with the JSON that `write` writes about a subject. If an equal request was answered from this version of
    /// the subject, the answer is the same bytes.
    ///
    /// # Errors
    /// As for [`Answers::json`].
    pub(crate) async fn status<F>(
        &self,
        request: RequestKey<'_>,
        subject: Subject,
        is_probably_small: bool,
        write: F,
    ) -> Result<Response, Problem>
    where
        F: Fn(&Subject, &mut Chunks) -> Result<(), Problem> + Send + Sync + 'static,
    {
        if let Some(json) = self.cache.get(request, &subject) {
            return Ok(json_response(json.into()));
        }
        let version = subject.version();
        let write = move |to: &mut Chunks| write(&subject, to);
        let answer = self.written(is_probably_small, write).await?;
        Ok(match answer.small() {
            Ok(json) => {
                self.cache.insert(request, version, json.clone());
                json_response(json.into())
            }
            Err(chunks) => chunks.into_response(),
        })
    }

    /// The chunks that `write` writes; see [`Answers::json`].
    ///
    /// # Errors
    /// As for [`Answers::json`].
    pub(crate) async fn written<F>(
        &self,
        is_probably_small: bool,
        write: F,
    ) -> Result<Chunks, Problem>
    where
        F: Fn(&mut Chunks) -> Result<(), Problem> + Send + Sync + 'static,
    {
        if is_probably_small && let Some(answer) = Chunks::written(SMALL_ANSWER_BYTES_MAX, &write)?
        {
            return Ok(answer);
        }
        // The semaphore is never closed. If it were, the number of answers would not be limited.
        let turn = Arc::clone(&self.making).acquire_owned().await.ok();
        let max = self.bytes_max;
        let making = spawn_blocking(move || {
            // Held until the answer is written, even if its client has disconnected.
            let _turn = turn;
            Chunks::written(max, &write)
        });
        let answer = making.await.map_err(|_| internal())??;
        answer.ok_or_else(|| {
            let detail = format!(
                "the answer is larger than {max} bytes; ask for less with `app`, `cluster`, `resource` or `output`"
            );
            Problem::new(StatusCode::BAD_REQUEST, detail)
        })
    }
}

/// Does work on `bytes` bytes of input: on a blocking thread if there are many bytes.
///
/// # Errors
/// Work that panicked.
pub(crate) async fn off_executor<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    if bytes <= SMALL_WORK_BYTES_MAX {
        return Ok(work());
    }
    spawn_blocking(work).await.map_err(|_| internal())
}

pub(crate) fn internal() -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL)
}

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
    fn written(
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
    fn small(self) -> Result<Bytes, Self> {
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

fn json_response(body: Body) -> Response {
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

/// A body whose bytes are counted until they are sent.
pub(crate) struct Counted {
    body: Body,
    held: OwnedSemaphorePermit,
}

impl Counted {
    /// `held` is one permit for each byte of the body.
    pub(crate) fn new(body: Body, held: OwnedSemaphorePermit) -> Self {
        Self { body, held }
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let held = &mut self.held;
        let counted = |bytes: Bytes| counted(bytes, held);
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(counted))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes that take as many of the permits with them, until they are dropped.
pub(crate) fn counted(bytes: Bytes, held: &mut OwnedSemaphorePermit) -> Bytes {
    let held = held.split(bytes.len());
    Bytes::from_owner(Held { bytes, _held: held })
}

/// Bytes that count until the connection drops them.
struct Held {
    bytes: Bytes,
    _held: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body with its request. The request ends when the last chunk of the body was passed to the connection.
pub(crate) struct UntilSent {
    body: Body,
    _in_request: InRequest,
}

impl UntilSent {
    pub(crate) fn new(body: Body, in_request: InRequest) -> Self {
        Self {
            body,
            _in_request: in_request,
        }
    }
}

impl HttpBody for UntilSent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    fn answers(answer_bytes_max: usize) -> Answers {
        Answers::new(&Limits {
            answer_bytes_max,
            ..Limits::default()
        })
    }

    #[tokio::test]
    async fn an_answer_of_any_size_is_complete_and_has_its_length() {
        for (items, is_probably_small) in [(0, true), (3, true), (3, false), (90_000, true)] {
            let value: Vec<usize> = (0..items).collect();
            let expected = serde_json::to_vec(&value).unwrap();
            let write = move |to: &mut Chunks| to.json(&value);
            let answer = answers(1 << 20)
                .json(is_probably_small, write)
                .await
                .unwrap();
            let length = expected.len() as u64;
            assert_eq!(answer.body().size_hint().exact(), Some(length));
            let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            assert_eq!(body, expected);
        }
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_is_refused_with_advice() {
        let write = |to: &mut Chunks| to.json(&"x".repeat(1001));
        let problem = answers(1000).json(false, write).await.unwrap_err();
        let document = problem.document();
        assert_eq!(document.status, 400);
        assert!(document.detail.contains("larger than 1000 bytes"));
        assert!(document.detail.contains("`cluster`"));
    }

    #[tokio::test]
    async fn bytes_count_until_the_connection_drops_them() {
        let all = Arc::new(Semaphore::new(10));
        let held = Arc::clone(&all).try_acquire_many_owned(4).unwrap();
        let mut body = Counted::new(Body::from("abcd"), held);
        let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        let bytes = frame.unwrap().unwrap().into_data().unwrap();
        drop(body);
        assert_eq!((&*bytes, all.available_permits()), (&b"abcd"[..], 6));
        drop(bytes);
        assert_eq!(all.available_permits(), 10);
    }
}
