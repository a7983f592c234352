//! Answers: made off the executor where they are large, and sent in chunks.

mod cache;
mod chunks;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::blocking::spawn_blocking;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use kindsight_status::Subject;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Limits;
use crate::answer::cache::AnswerCache;
use crate::answer::chunks::json_response;
use crate::connections::InRequest;
use crate::limits::{ANSWERS_MADE_MAX, CACHED_ANSWERS_BYTES_MAX, SMALL_ANSWER_BYTES_MAX};
use crate::problem::{INTERNAL, Problem};

pub(crate) use crate::answer::cache::RequestKey;
pub(crate) use crate::answer::chunks::Chunks;

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
